#!/usr/bin/env bats
# The server and the recorder of doc/manual/containers.md: two mount namespaces with read-only
# roots, which share one directory.

load helpers

# contained COMMAND...: runs a command where the shared directory alone can be written to.
contained()
{
	unshare -m -- sh -c 'root=$1 shared=$2 && shift 2 && mount --make-rprivate / && mount --bind / "$root" &&
		mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --bind "$shared" "$root$shared" &&
		mount -o remount,bind,ro "$root" && exec chroot "$root" "$@"' \
		sh "$BATS_TEST_TMPDIR/root" "$shared" env XDG_RUNTIME_DIR="$shared" TMPDIR="$shared" "$@"
}

@test "a server with a read-only root, recorded from another container" {
	mkdir root shared
	shared=$PWD/shared
	export shared
	contained fxtrun --version >said 2>&1 || skip "no mount namespaces here: $(tail -n 1 said)"
	# The root is read-only there indeed.
	fails contained touch "$PWD/here" 2>said
	contained touch "$shared/here"
	cat >server.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		static void serve(void) { usleep(1000); }
		int main(void)
		{
			puts("ready");
			fflush(stdout);
			while (access("stop", F_OK) != 0 && access("server.c", F_OK) == 0) serve();
			return 0;
		}
	END
	gcc -g -finstrument-functions -o shared/server server.c
	touch shared/server.c
	contained sh -c 'cd "$XDG_RUNTIME_DIR" && exec fxtrun --start=idle --session=srv -- ./server' >out 2>err 3>&- &
	server=$!
	await ready out
	contained fxtctl --session=srv record -o "$shared/a.fxt" --duration=3s
	touch shared/stop
	wait $server
	[ "$(calls_of shared/a.fxt serve)" -gt 1 ]
	fxt check shared/a.fxt
}

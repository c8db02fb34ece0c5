#!/usr/bin/env bats
# The agent in a process that runs already: tests/programs/late/late.c loads it by dlopen(), attaches and detaches. The
# truth is what the program counts, and its code and slots as it sees them.

load helpers

# late COMPILER OPTION...: ./late and ./plugin.so
late()
{
	"$1" -g -O1 -w -D_GNU_SOURCE -pthread "${@:2}" -o late "$root/tests/programs/late/late.c" -ldl
	"$1" -g -O1 -w "${@:2}" -shared -fPIC -o plugin.so "$root/tests/programs/late/plugin.c"
}

# sessions N OPTION...: N managers with these options, whose program waits. The names of their sockets are in $sockets.
sessions()
{
	local i

	sockets=() managers=()
	for ((i = 1; i <= $1; i++)); do
		mkfifo "end.$i"
		# shellcheck disable=SC2016
		fxtrun "${@:2}" -o "$i.fxt" -- sh -c 'echo "$FXT_SOCKET"; read -r _ <"$0"' "end.$i" >"socket.$i" 2>"said.$i" 3>&- &
		managers+=($!)
		sockets+=("$(await . "socket.$i")")
	done
}

# end_sessions: their programs end, and the traces are finished.
end_sessions()
{
	local i

	for ((i = 1; i <= ${#managers[@]}; i++)); do
		echo >"end.$i"
		wait "${managers[i - 1]}"
		grep -q ' 0 lost' "said.$i"
	done
}

# attached N OPTION...: the program attaches N times. Each trace has the calls that were made meanwhile, and no others of
# these functions; nothing that the program compares differs. $but is a pattern of functions that are not recorded.
but=
attached()
{
	local i

	sessions "$@"
	./late "$build/libfxtagent.so" "$PWD/plugin.so" "${sockets[@]}" >printed 2>errors
	end_sessions
	[ ! -s errors ] || { cat errors && return 1; }
	awk 'NF != 3' printed | diff - <(echo over)
	for ((i = 1; i <= $1; i++)); do
		awk -v phase="$i" -v but="${but:-^$}" 'NF == 3 && $1 == phase && $2 !~ but { print $2 "\t" $3 }' printed |
			sort >made
		[ -s made ]
		calls_by_name "$i.fxt" | awk -F'\t' 'NR == FNR { is[$1]; next } $1 in is' made - | diff made -
		sound "$i.fxt"
	done
}

needs_x86_64()
{
	[ "$(uname -m)" = x86_64 ] || skip "only on x86-64"
}

@test "compiler hooks: two attaches record what is called meanwhile, and detaches leave no trace" {
	late cc -finstrument-functions
	attached 2
}

@test "the same with lazily bound slots, and with slots that are bound at the start and read by the code" {
	late cc -finstrument-functions -Wl,-z,lazy
	attached 1
	rm -f end.* socket.* said.*
	late cc -finstrument-functions -Wl,-z,now,-z,relro -fno-plt
	attached 2
}

@test "the same in a program at a fixed address" {
	late cc -finstrument-functions -no-pie -fno-pie
	attached 2
}

@test "prepared entries: the same, and the compiler's bytes are back" {
	needs_x86_64
	late cc -fpatchable-function-entry=5
	attached 2
}

@test "XRay sleds: the same" {
	needs_x86_64
	late clang -fxray-instrument -fxray-instruction-threshold=1 -fnoxray-link-deps
	attached 2
}

@test "--patch, library calls and the heap: the same with a program that nothing was prepared in" {
	needs_x86_64
	late cc
	but=plugged attached 2 --patch --heap=objects --library-calls=pthread_kill
	for i in 1 2; do
		[ "$(calls_of "$i.fxt" pthread_kill)" = "$(awk -v phase="$i" '$1 == phase && $2 == "handled" { print $3 }' printed)" ]
	done
}

@test "no manager, no socket, no settings: the program goes on as it was" {
	late cc -finstrument-functions
	fails ./late "$build/libfxtagent.so" "$PWD/plugin.so" "$PWD/nothing" >printed 2>errors
	grep -qx "late: Connection refused" errors
	fails ./late "$build/libfxtagent.so" "$PWD/plugin.so" "" >printed 2>errors
	grep -qx "late: Invalid argument" errors
}

/*
 * sandboxed HOW: confines itself so that nothing more can be opened (files), mapped (memory), or asked of the
 * kernel (filter, strict), makes 100 calls, and ends with status 4.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

UNTRACED static void confine(const char *how)
{
	struct rlimit none = {0, 0};
	struct sock_filter end_alone[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(end_alone) / sizeof(*end_alone), end_alone};

	if (strcmp(how, "files") == 0) {
		setrlimit(RLIMIT_NOFILE, &none);
	} else if (strcmp(how, "memory") == 0) {
		setrlimit(RLIMIT_AS, &none);
	} else if (strcmp(how, "strict") == 0) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	} else {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	}
}

int main(int count, char **arguments)
{
	const char *how = count > 1 ? arguments[1] : "";

	confine(how);
	for (int i = 0; i < 100; i++)
		work();
	if (strcmp(how, "strict") == 0) /* which has no other way out */
		syscall(SYS_exit, 4);
	return 4;
}

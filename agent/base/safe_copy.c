/* Copies memory of the program's by the kernel (safe_copy.h). */
#include "safe_copy.h"
#include <string.h>
#include <sys/uio.h>
#include "writer/shared/sys.h"

#define PAGE UINT64_C(4096)
#define MOST 17 /* pages */

size_t agent_copy(uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote[MOST];
	unsigned count = 0;
	long copied;

	if (load_relaxed(&sys_confinement) != SYS_FREE || address + bytes < address)
		return 0;
	/* A page each: the kernel reads whole parts only. */
	for (size_t done = 0; done < bytes && count < MOST; count++) {
		size_t part = PAGE - (address + done) % PAGE;

		if (part > bytes - done)
			part = bytes - done;
		remote[count] = (struct iovec){(void *)(uintptr_t)(address + done), part};
		done += part;
	}
	copied = sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&local, 1, (long)remote, count, 0);
	return copied > 0 ? (size_t)copied : 0;
}

long agent_copy_text(uint64_t address, char *to, size_t room)
{
	size_t copied = agent_copy(address, to, room);

	return copied ? (long)strnlen(to, copied) : -1;
}

/* Lets the kernel copy memory of the program (safe_copy.h), on the program's threads. It
 * must not fault at any address. */
#include "safe_copy.h"
#include <string.h>
#include <sys/uio.h>
#include "writer/format/escape.h"
#include "writer/shared/sys.h"

#define PAGE       UINT64_C(4096)
#define MARK       "..."
#define MARK_BYTES (sizeof(MARK) - 1)

size_t agent_copy(uint64_t address, void *to, size_t bytes)
{
	uint64_t first = PAGE - address % PAGE;
	struct iovec local = {to, bytes}, remote[2];
	long copied;

	if (load_relaxed(&sys_confinement) != SYS_FREE || address + bytes < address)
		return 0;
	if (first > bytes)
		first = bytes;
	/* A part for each page: the kernel copies whole parts only. */
	remote[0] = (struct iovec){(void *)(uintptr_t)address, first};
	remote[1] = (struct iovec){(void *)(uintptr_t)(address + first), bytes - first};
	copied = sys_call6(
	        SYS_process_vm_readv, sys_getpid(), (long)&local, 1, (long)remote, bytes > first ? 2 : 1, 0);
	return copied > 0 ? (size_t)copied : 0;
}

size_t agent_text_put(char *to, size_t room, const char *text, size_t bytes, bool is_cut)
{
	size_t written = 0, at = 0;

	room -= MARK_BYTES;
	while (at < bytes) {
		size_t size = fxt_character_bytes(text + at, bytes - at), grown;

		if (!size && is_cut && bytes - at < 4) /* part of a character, perhaps */
			break;
		size = size ? size : 1;
		grown = fxt_escape(to + written, room - written, text + at, size);
		if (!grown)
			break;
		written += grown;
		at += size;
	}
	if (is_cut || at < bytes) {
		memcpy(to + written, MARK, MARK_BYTES);
		written += MARK_BYTES;
	}
	return written;
}

long agent_copy_text(uint64_t address, size_t limit, char *to, size_t room)
{
	size_t most = room - MARK_BYTES, wanted = limit && limit <= most ? limit : most + 1, read, bytes;
	char text[wanted];

	read = agent_copy(address, text, wanted);
	bytes = strnlen(text, read);
	if (bytes < read || (limit && read == limit))
		return (long)agent_text_put(to, room, text, bytes, false);
	/* Nothing behind a shorter text can be read. */
	return read == wanted ? (long)agent_text_put(to, room, text, most, true) : -1;
}

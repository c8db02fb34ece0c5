#include "image.h"
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "agent/base/libc.h"
#include "writer/shared/sys.h"

/* Enough for the program headers and the loader's name, in the place where linkers put
 * them. */
#define HEAD_BYTES 1024

static enum agent_image image_judge(const uint8_t *head, size_t bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)head;

	if (bytes < sizeof(*header) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return AGENT_IMAGE_ORDINARY;
	if (head[EI_CLASS] != ELFCLASS64)
		return AGENT_IMAGE_FOREIGN;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % sizeof(uint64_t))
		return AGENT_IMAGE_ORDINARY;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t at = header->e_phoff + i * sizeof(Elf64_Phdr);
		const Elf64_Phdr *segment = (const Elf64_Phdr *)(head + at);

		if (at > bytes - sizeof(*segment))
			return AGENT_IMAGE_ORDINARY;
		if (segment->p_type != PT_INTERP)
			continue;
		if (segment->p_offset > bytes || segment->p_filesz > bytes - segment->p_offset)
			return AGENT_IMAGE_ORDINARY;
		return memmem(head + segment->p_offset, segment->p_filesz, "/ld-musl-", strlen("/ld-musl-"))
		               ? AGENT_IMAGE_FOREIGN
		               : AGENT_IMAGE_ORDINARY;
	}
	return AGENT_IMAGE_STATIC;
}

static enum agent_image image_look_at(const char *path)
{
	uint8_t head[HEAD_BYTES] __attribute__((aligned(8)));
	long fd = sys_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0),
	     bytes;

	if (fd < 0)
		return AGENT_IMAGE_ORDINARY;
	bytes = sys_call(SYS_read, fd, head, sizeof(head), 0);
	sys_close((int)fd);
	return bytes > 0 ? image_judge(head, (size_t)bytes) : AGENT_IMAGE_ORDINARY;
}

enum agent_image agent_image_look(const char *file, bool is_searched)
{
	const char *search;
	char path[PATH_MAX];

	if (!is_searched || strchr(file, '/'))
		return image_look_at(file);
	/* libc's own search also reads the environment, which need not be readable in other
	 * cases. */
	search = agent_getenv("PATH");
	for (search = search ? search : "/bin:/usr/bin"; *search; search += *search == ':') {
		size_t directory = strcspn(search, ":"), bytes = strlen(file);

		if (directory + bytes + 2 <= sizeof(path)) {
			memcpy(path, search, directory);
			path[directory] = '/';
			strcpy(path + directory + (directory > 0), file);
			if (sys_call(SYS_faccessat, AT_FDCWD, path, X_OK, 0) == 0)
				return image_look_at(path);
		}
		search += directory;
	}
	return AGENT_IMAGE_ORDINARY;
}

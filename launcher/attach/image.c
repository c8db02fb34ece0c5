/* Reads /proc/PID/maps, and the dynamic symbols of the files there (image.h). */
#include "image.h"
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* True if the last part of a path is that name. */
static bool image_is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t bytes = strlen(name);

	return slash && strncmp(slash + 1, name, bytes) == 0 &&
	       (!slash[1 + bytes] || strcmp(slash + 1 + bytes, DELETED) == 0);
}

/* A mapping of a file. */
struct mapping {
	uint64_t begin, end, offset;
	char path[PATH_MAX];
};

static FILE *image_open_maps(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fopen(path, "re");
}

/* Reads on to the next mapping of a file with that name. */
static bool image_next(FILE *maps, const char *name, struct mapping *mapping)
{
	char line[PATH_MAX + 128];

	while (maps && fgets(line, sizeof(line), maps)) {
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &mapping->begin,
		            &mapping->end, &mapping->offset, &at) < 3 ||
		        at == 0 || !image_is_called(line + at, name))
			continue;
		snprintf(mapping->path, sizeof(mapping->path), "%s", line + at);
		return true;
	}
	return false;
}

bool fxt_image_find(pid_t pid, const char *name, char path[PATH_MAX], uint64_t *base)
{
	FILE *maps = image_open_maps(pid);
	struct mapping mapping;
	bool found = image_next(maps, name, &mapping);

	if (found) {
		strcpy(path, mapping.path);
		*base = mapping.begin - mapping.offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

void fxt_image_range(pid_t pid, const char *name, uint64_t *begin, uint64_t *end)
{
	FILE *maps = image_open_maps(pid);
	struct mapping mapping;

	*begin = *end = 0;
	while (image_next(maps, name, &mapping)) {
		if (*begin == 0)
			*begin = mapping.begin;
		*end = mapping.end;
	}
	if (maps)
		fclose(maps);
}

static uint64_t image_find_symbol(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	uint64_t found = 0;
	GElf_Shdr header;
	GElf_Sym symbol;

	while (!found && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM || !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && !found && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (name && symbol.st_shndx != SHN_UNDEF &&
			        GELF_ST_TYPE(symbol.st_info) == STT_FUNC && strcmp(name, wanted) == 0)
				found = symbol.st_value;
		}
	}
	return found;
}

uint64_t fxt_image_symbol(const char *path, const char *symbol)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t found = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		found = image_find_symbol(elf, symbol);
	elf_end(elf);
	close(fd);
	return found;
}

const char *fxt_image_functions_find(pid_t pid, struct fxt_image_functions *f)
{
	char path[PATH_MAX], other[PATH_MAX];
	uint64_t base, other_base;
	size_t bytes;

	if (!fxt_image_find(pid, "libc.so.6", path, &base))
		return "has not loaded glibc (libc.so.6); it must be linked dynamically with glibc";
	bytes = strlen(path);
	if (bytes > strlen(DELETED) && strcmp(path + bytes - strlen(DELETED), DELETED) == 0)
		return "has a C library that was replaced since it started; restart it";
	*f = (struct fxt_image_functions){.map = fxt_image_symbol(path, "mmap"),
	        .unmap = fxt_image_symbol(path, "munmap"),
	        .open = fxt_image_symbol(path, "dlopen"),
	        .error = fxt_image_symbol(path, "dlerror"),
	        .iterate = fxt_image_symbol(path, "dl_iterate_phdr")};
	if (!f->map || !f->unmap || !f->iterate)
		return "has a C library that cannot be read";
	f->map += base;
	f->unmap += base;
	f->iterate += base;
	if (f->open) {
		f->open += base;
		f->error += f->error ? base : 0;
		return NULL;
	}
	/* Before glibc 2.34 the function of the same name is in libdl, which need not be
	 * loaded. */
	if (fxt_image_find(pid, "libdl.so.2", other, &other_base) &&
	        (f->open = fxt_image_symbol(other, "dlopen"))) {
		f->open += other_base;
		f->error = fxt_image_symbol(other, "dlerror");
		f->error += f->error ? other_base : 0;
		return NULL;
	}
	f->open = fxt_image_symbol(path, "__libc_dlopen_mode");
	f->open += f->open ? base : 0;
	f->open_flag = UINT64_C(0x80000000);
	return f->open ? NULL : "has a C library without dlopen()";
}

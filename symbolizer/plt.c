#include "plt.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "arch.h"

/* Linkers write .rela.dyn, .rela.plt and perhaps .rela.iplt, and each section of slots
 * once. A file with more sections was made to have the same bytes read again and again. */
#define SECTIONS_MAX 4

/* Slots have 8, 16 or 24 bytes. */
#define SLOT_ALIGNMENT 8

static int by_got(const void *a, const void *b)
{
	const struct fxt_plt_slot *x = a, *y = b;

	return x->got < y->got ? -1 : x->got > y->got;
}

/* Counts a section's relocations by a resolver, and writes them to `slots` unless that is
 * NULL. */
static size_t read_relocations(Elf_Data *data, size_t count, unsigned type, struct fxt_plt_slot *slots)
{
	size_t found = 0;
	GElf_Rela relocation;

	for (size_t i = 0; i < count && gelf_getrela(data, (int)i, &relocation); i++) {
		if (GELF_R_TYPE(relocation.r_info) != type)
			continue;
		if (slots)
			slots[found] = (struct fxt_plt_slot){
			        .got = relocation.r_offset, .resolver = (uint64_t)relocation.r_addend};
		found++;
	}
	return found;
}

static int read_all_relocations(struct fxt_plt *plt, Elf *elf, unsigned type)
{
	unsigned sections = 0;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; sections < SECTIONS_MAX && (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		        !(header.sh_flags & SHF_ALLOC))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);

		sections++;
		if (!data || !data->d_buf)
			continue;
		size_t count = data->d_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
		size_t found = read_relocations(data, count, type, NULL);

		if (found == 0)
			continue;
		struct fxt_plt_slot *larger = realloc(plt->slots, (plt->count + found) * sizeof(*larger));

		if (!larger)
			return ENOMEM;
		plt->slots = larger;
		plt->count += read_relocations(data, count, type, larger + plt->count);
	}
	if (plt->count)
		qsort(plt->slots, plt->count, sizeof(*plt->slots), by_got);
	return 0;
}

static void find_slots(struct fxt_plt *plt, const Elf_Data *data, uint64_t address, const struct arch *arch)
{
	for (size_t at = 0; at < data->d_size; at += SLOT_ALIGNMENT) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		struct fxt_plt_slot key, *slot;

		if (!arch->decode_slot(code, data->d_size - at, address + at, &key.got))
			continue;
		slot = bsearch(&key, plt->slots, plt->count, sizeof(key), by_got);
		if (slot && slot->address == 0)
			slot->address = address + at;
	}
}

static bool has_slots(Elf *elf, size_t names, const GElf_Shdr *header)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	const char *name = elf_strptr(elf, names, header->sh_name);

	if (!name || header->sh_type != SHT_PROGBITS || !(header->sh_flags & SHF_EXECINSTR))
		return false;
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(name, sections[i]) == 0)
			return true;
	return false;
}

int fxt_plt_read(struct fxt_plt *plt, Elf *elf)
{
	GElf_Ehdr file;
	GElf_Shdr header;
	unsigned sections = 0;
	const struct arch *arch;
	size_t names;
	int error;

	*plt = (struct fxt_plt){0};
	if (!elf || !gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	arch = arch_of(file.e_machine);
	if (!arch || file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	error = read_all_relocations(plt, elf, arch->relocation_by_resolver);
	if (error != 0)
		fxt_plt_free(plt);
	if (plt->count == 0)
		return error;
	for (Elf_Scn *section = NULL; sections < SECTIONS_MAX && (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &header) || !has_slots(elf, names, &header))
			continue;
		const Elf_Data *data = elf_getdata(section, NULL);

		sections++;
		if (data && data->d_buf)
			find_slots(plt, data, header.sh_addr, arch);
	}
	return 0;
}

void fxt_plt_free(struct fxt_plt *plt)
{
	free(plt->slots);
	*plt = (struct fxt_plt){0};
}

/* Lists the functions of a file (functions.h). A damaged file gives fewer functions, or
 * none. */
#include "functions.h"
#include "arch.h"
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS 64 /* with code, the most of a file */

struct collected {
	struct fxt_file_functions *of;
	size_t room;
	bool is_short_of_memory;
};

static void functions_add(struct collected *c, struct fxt_file_function function)
{
	struct fxt_file_functions *f = c->of;
	size_t bytes;

	if (!fxt_code_at(f, function.start, &bytes))
		return;
	if (function.end < function.start || function.end > function.start + bytes)
		function.end = function.start + bytes;
	if (f->count == c->room) {
		size_t room = c->room ? 2 * c->room : 1024;
		struct fxt_file_function *list = reallocarray(f->list, room, sizeof(*list));

		if (!list) {
			c->is_short_of_memory = true;
			return;
		}
		f->list = list;
		c->room = room;
	}
	f->list[f->count++] = function;
}

/* ---- segments ---- */

const uint8_t *fxt_file_at(Elf *elf, uint64_t address, size_t *bytes)
{
	size_t count, file_bytes;
	const char *file = elf_rawfile(elf, &file_bytes);

	if (!file || elf_getphdrnum(elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		        address - header.p_vaddr >= header.p_filesz || header.p_offset > file_bytes ||
		        header.p_filesz > file_bytes - header.p_offset)
			continue;
		*bytes = header.p_filesz - (address - header.p_vaddr);
		return (const uint8_t *)file + header.p_offset + (address - header.p_vaddr);
	}
	return NULL;
}

static const char *functions_read_code(struct fxt_file_functions *f, Elf *elf)
{
	size_t count, file_bytes;
	const char *file = elf_rawfile(elf, &file_bytes);
	uint64_t end = 0; /* they lie one behind the other */

	if (!file || elf_getphdrnum(elf, &count) != 0)
		return "it cannot be read";
	f->code = calloc(SEGMENTS, sizeof(*f->code));
	if (!f->code)
		return "memory is short";
	for (size_t i = 0; i < count && f->code_count < SEGMENTS; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		        !(header.p_flags & PF_X) || header.p_flags & PF_W || header.p_offset > file_bytes ||
		        header.p_filesz > file_bytes - header.p_offset || header.p_vaddr < end)
			continue;
		end = header.p_vaddr + header.p_filesz;
		f->code[f->code_count++] = (struct fxt_code){header.p_vaddr, header.p_vaddr + header.p_filesz,
		        (const uint8_t *)file + header.p_offset};
	}
	return NULL;
}

const uint8_t *fxt_code_at(const struct fxt_file_functions *f, uint64_t address, size_t *bytes)
{
	for (size_t i = 0; i < f->code_count; i++)
		if (address >= f->code[i].start && address < f->code[i].end) {
			*bytes = f->code[i].end - address;
			return f->code[i].bytes + (address - f->code[i].start);
		}
	return NULL;
}

/* ---- symbols ---- */

void fxt_file_symbols_each(
        Elf *elf, bool (*found)(void *context, const GElf_Sym *symbol, const char *name), void *context)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
		        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		        !header.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
			if (!gelf_getsym(data, (int)i, &symbol))
				break;
			if (symbol.st_shndx != SHN_UNDEF &&
			        !found(context, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name)))
				return;
		}
	}
}

static bool functions_add_symbol(void *collected, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		functions_add(collected, (struct fxt_file_function){.start = symbol->st_value,
		                                 .end = symbol->st_value + symbol->st_size,
		                                 .name = name,
		                                 .is_resolver = type == STT_GNU_IFUNC});
	return true;
}

/* ---- the unwind table ---- */

/* Whether the frame's address is rsp + 8, as it is behind a call. */
static bool functions_begins_as_called(Dwarf_Frame *frame)
{
	Dwarf_Op *operations;
	size_t count;

	return dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1 &&
	       operations[0].atom == DW_OP_bregx && operations[0].number == 7 && operations[0].number2 == 8;
}

/* The function's end, by its entry at `entry` of the unwind table, as compilers encode it:
 * its length and its owner, then the distance of the function's start, and its size. */
static uint64_t functions_end(Elf *elf, uint64_t entry, uint64_t start)
{
	struct {
		uint32_t length, owner;
		int32_t distance;
		uint32_t size;
	} head;
	size_t bytes;
	const uint8_t *at = fxt_file_at(elf, entry, &bytes);

	if (!at || bytes < sizeof(head))
		return start;
	memcpy(&head, at, sizeof(head));
	return entry + 8 + (uint64_t)(int64_t)head.distance == start ? start + head.size : start;
}

struct unwind_table {
	struct collected *collected;
	Elf *elf;
	Dwarf_CFI *cfi;
};

static void functions_read_entry(void *of, uint64_t start, uint64_t entry)
{
	const struct unwind_table *t = of;
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(t->cfi, start, &frame) != 0)
		return;
	functions_add(t->collected, (struct fxt_file_function){.start = start,
	                                    .end = functions_end(t->elf, entry, start),
	                                    .is_described = true,
	                                    .is_entry = functions_begins_as_called(frame)});
	free(frame);
}

/* The sorted table that linkers write (PT_GNU_EH_FRAME): pairs of 32-bit distances, of a
 * function and of its entry. */
void fxt_unwind_entries_each(
        Elf *elf, void (*found)(void *context, uint64_t start, uint64_t entry), void *context)
{
	static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};
	size_t headers;

	if (elf_getphdrnum(elf, &headers) != 0)
		return;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;
		const uint8_t *table;
		size_t bytes;
		uint32_t count;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
			continue;
		table = fxt_file_at(elf, header.p_vaddr, &bytes);
		if (!table || bytes < 12 || memcmp(table, usual, sizeof(usual)) != 0)
			return;
		memcpy(&count, table + 8, sizeof(count));
		for (size_t at = 12; count > 0 && at + 8 <= bytes; at += 8, count--) {
			int32_t distances[2];

			memcpy(distances, table + at, sizeof(distances));
			found(context, header.p_vaddr + (uint64_t)(int64_t)distances[0],
			        header.p_vaddr + (uint64_t)(int64_t)distances[1]);
		}
	}
}

/* ---- all ---- */

static int functions_compare(const void *a, const void *b)
{
	const struct fxt_file_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->is_described - y->is_described;
}

/* Makes one of all that begin at one address, and ends each where the next one begins. */
static void functions_merge(struct fxt_file_functions *f)
{
	size_t kept = 0;

	qsort(f->list, f->count, sizeof(*f->list), functions_compare);
	for (size_t i = 0; i < f->count; i++) {
		struct fxt_file_function *last = kept ? &f->list[kept - 1] : NULL;

		if (!last || last->start != f->list[i].start) {
			f->list[kept++] = f->list[i];
			continue;
		}
		last->end = f->list[i].end > last->end ? f->list[i].end : last->end;
		last->name = last->name ? last->name : f->list[i].name;
		last->is_resolver |= f->list[i].is_resolver;
		last->is_described |= f->list[i].is_described;
		last->is_entry |= f->list[i].is_entry;
	}
	f->count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (f->list[i].end > f->list[i + 1].start)
			f->list[i].end = f->list[i + 1].start;
}

const char *fxt_file_functions_read(struct fxt_file_functions *f, Elf *elf)
{
	struct collected collected = {.of = f};
	GElf_Ehdr header;
	const char *why;
	Dwarf_CFI *cfi;

	*f = (struct fxt_file_functions){0};
	if (!gelf_getehdr(elf, &header) || header.e_machine != ARCH_PLANNED_MACHINE ||
	        (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return "it is no program or library for x86-64";
	f->entry = header.e_entry;
	why = functions_read_code(f, elf);
	if (why)
		return why;
	fxt_file_symbols_each(elf, functions_add_symbol, &collected);
	cfi = dwarf_getcfi_elf(elf);
	if (cfi) {
		fxt_unwind_entries_each(
		        elf, functions_read_entry, &(struct unwind_table){&collected, elf, cfi});
		dwarf_cfi_end(cfi);
	}
	if (collected.is_short_of_memory)
		return "memory is short";
	functions_merge(f);
	return NULL;
}

void fxt_file_functions_free(struct fxt_file_functions *f)
{
	free(f->list);
	free(f->code);
	*f = (struct fxt_file_functions){0};
}

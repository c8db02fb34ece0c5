/*
 * Decodes all code of a file, to find where control leads (reached.h). A false target only
 * costs a recording. A missed target breaks the program.
 */
#include "reached.h"
#include "arch.h"
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "landing.h"
#include "returns.h"

#define TABLE_ENTRIES 8192 /* the most of a table of jumps */

static void reached_add(struct fxt_reached *r, uint64_t address, uint8_t how)
{
	const struct fxt_file_functions *f = &r->functions;

	for (size_t i = 0; i < f->code_count; i++)
		if (address >= f->code[i].start && address < f->code[i].end)
			r->how[i][address - f->code[i].start] |= how;
}

uint8_t fxt_reached(const struct fxt_reached *r, uint64_t address)
{
	const struct fxt_file_functions *f = &r->functions;

	for (size_t i = 0; i < f->code_count; i++)
		if (address >= f->code[i].start && address < f->code[i].end)
			return r->how[i][address - f->code[i].start];
	return 0;
}

/* ---- jumps ---- */

/* Reads a possible table of jumps within the function: distances of four bytes from the
 * table, or addresses. Ends at the first entry that leads to no code. Entries may lead to
 * parts of the function that lie elsewhere. */
static void reached_follow_table(
        struct fxt_reached *r, const struct fxt_file_function *f, uint64_t table, bool is_distances)
{
	size_t bytes, code_bytes, width = is_distances ? 4 : 8;
	const uint8_t *at = fxt_file_at(r->elf, table, &bytes);

	for (size_t i = 0; at && i < TABLE_ENTRIES && (i + 1) * width <= bytes; i++) {
		uint64_t target = 0;
		int32_t distance;

		if (is_distances) {
			memcpy(&distance, at + i * width, sizeof(distance));
			target = table + (uint64_t)(int64_t)distance;
		} else {
			memcpy(&target, at + i * width, sizeof(target));
		}
		if (!fxt_code_at(&r->functions, target, &code_bytes))
			return;
		if (target >= f->start && target < f->end)
			reached_add(r, target, FXT_REACHED_BY_JUMP);
	}
}

/* Every word of data that could be the address of code: pointers and labels in tables,
 * those in relocations too. */
static void reached_read_data(struct fxt_reached *r)
{
	size_t count, file_bytes;
	const char *file = elf_rawfile(r->elf, &file_bytes);

	if (!file || elf_getphdrnum(r->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(r->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		        header.p_flags & PF_X || header.p_offset > file_bytes ||
		        header.p_filesz > file_bytes - header.p_offset)
			continue;
		for (uint64_t at = -header.p_vaddr & 7; at + 8 <= header.p_filesz; at += 8) {
			uint64_t word;

			memcpy(&word, file + header.p_offset + at, sizeof(word));
			reached_add(r, word, FXT_REACHED_AS_DATA);
		}
	}
}

/* ---- functions of other modules ---- */

/* Functions that look at their return address, and the compiler's hooks. */
static bool reached_is_wary(const char *name, bool *is_hook)
{
	static const char *const names[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "dlopen",
	        "dlsym", "dlvsym", "dlmopen"};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*is_hook = i < 2;
			return true;
		}
	return false;
}

static void reached_read_relocations(
        struct fxt_reached *r, Elf_Scn *section, const GElf_Shdr *header, const GElf_Shdr *symbols)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *table = elf_getdata(elf_getscn(r->elf, header->sh_link), NULL);

	for (size_t i = 0; data && table && i < header->sh_size / header->sh_entsize; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;
		bool is_hook;

		if (!gelf_getrela(data, (int)i, &relocation))
			return;
		if (arch_is_import(GELF_R_TYPE(relocation.r_info)) && r->slot_count < FXT_REACHED_SLOTS &&
		        gelf_getsym(table, (int)GELF_R_SYM(relocation.r_info), &symbol) &&
		        reached_is_wary(elf_strptr(r->elf, symbols->sh_link, symbol.st_name), &is_hook))
			r->slots[r->slot_count++] = (struct fxt_reached_slot){relocation.r_offset, is_hook};
	}
}

static void reached_read_slots(struct fxt_reached *r)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(r->elf, section))) {
		GElf_Shdr header, symbols;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_entsize &&
		        gelf_getshdr(elf_getscn(r->elf, header.sh_link), &symbols) &&
		        symbols.sh_type == SHT_DYNSYM)
			reached_read_relocations(r, section, &header, &symbols);
	}
}

/* The slot of the linker's stub at that address; 0: there is no stub. */
static uint64_t reached_slot_of_stub(const struct fxt_reached *r, uint64_t address)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t bytes;
	const uint8_t *code = fxt_code_at(&r->functions, address, &bytes), *begin = code;
	int32_t distance;

	if (!code || bytes < sizeof(landing) + 7)
		return 0;
	if (memcmp(code, landing, sizeof(landing)) == 0)
		code += sizeof(landing);
	if (*code == 0xf2) /* bnd */
		code++;
	if (code[0] != 0xff || code[1] != 0x25)
		return 0;
	memcpy(&distance, code + 2, sizeof(distance));
	return address + (uint64_t)(code + 6 - begin) + (uint64_t)(int64_t)distance;
}

/* Whether a call or jump must stay as it is: a call of a hook, because the hooks record the
 * function, or a jump to a function that looks at its return address. */
static bool reached_is_wary_of(const struct fxt_reached *r, uint64_t next, const ZydisDecodedInstruction *i)
{
	uint64_t slot = 0;

	if (!r->slot_count)
		return false;
	if (i->raw.imm[0].is_relative)
		slot = reached_slot_of_stub(r, next + (uint64_t)i->raw.imm[0].value.s);
	else if (i->attributes & ZYDIS_ATTRIB_IS_RELATIVE &&
	         (i->meta.category == ZYDIS_CATEGORY_CALL || i->meta.category == ZYDIS_CATEGORY_UNCOND_BR))
		slot = next + (uint64_t)i->raw.disp.value;
	for (unsigned n = 0; slot && n < r->slot_count; n++)
		if (r->slots[n].address == slot)
			return r->slots[n].is_hook || i->meta.category != ZYDIS_CATEGORY_CALL;
	return false;
}

/* Notes where one instruction leads. */
static void reached_note(struct fxt_reached *r, const struct fxt_file_function *f, uint64_t address,
        struct fxt_stack *stack, const ZydisDecodedInstruction *i)
{
	uint64_t next = address + i->length;

	if (reached_is_wary_of(r, next, i) || fxt_stack_follow(stack, i))
		reached_add(r, f->start, FXT_REACHED_IS_SPECIAL);
	if (r->is_fixed && i->raw.imm[0].size >= 32 && !i->raw.imm[0].is_relative)
		reached_add(r, i->raw.imm[0].value.u, FXT_REACHED_AS_DATA);
	if (i->raw.imm[0].is_relative) {
		reached_add(r, next + (uint64_t)i->raw.imm[0].value.s,
		        i->meta.category == ZYDIS_CATEGORY_CALL ? FXT_REACHED_BY_CALL : FXT_REACHED_BY_JUMP);
	} else if (i->mnemonic == ZYDIS_MNEMONIC_LEA && i->attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		uint64_t target = next + (uint64_t)i->raw.disp.value;

		reached_add(r, target, FXT_REACHED_AS_DATA);
		reached_follow_table(r, f, target, true);
	} else if (i->meta.category == ZYDIS_CATEGORY_UNCOND_BR && i->raw.disp.size == 32 &&
	           !(i->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
		reached_follow_table(r, f, (uint64_t)i->raw.disp.value, false);
	}
}

static void reached_decode(struct fxt_reached *r, const struct fxt_file_function *f)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&r->functions, f->start, &bytes);
	ZydisDecodedInstruction instruction;
	struct fxt_stack stack = {0};

	for (uint64_t at = f->start; at < f->end; at += instruction.length, code += instruction.length) {
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		            &r->decoder, NULL, code, f->end - at, &instruction)))
			reached_note(r, f, at, &stack, &instruction);
		else
			instruction.length = 1; /* data within the code: goes on behind it */
	}
}

/* ---- all ---- */

static void reached_add_landing(void *r, uint64_t address)
{
	reached_add(r, address, FXT_REACHED_BY_JUMP);
}

const char *fxt_reached_read(struct fxt_reached *r, Elf *elf)
{
	const struct fxt_file_functions *f = &r->functions;
	GElf_Ehdr header;
	const char *why;

	*r = (struct fxt_reached){.elf = elf};
	why = fxt_file_functions_read(&r->functions, elf);
	if (why)
		return why;
	r->is_fixed = gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
	ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	r->how = calloc(f->code_count ? f->code_count : 1, sizeof(*r->how));
	if (!r->how)
		return "memory is short";
	for (size_t i = 0; i < f->code_count; i++)
		if (!(r->how[i] = calloc(1, f->code[i].end - f->code[i].start + 1)))
			return "memory is short";
	reached_read_data(r);
	reached_read_slots(r);
	for (size_t i = 0; i < f->count; i++)
		reached_decode(r, &f->list[i]);
	fxt_landing_each(elf, reached_add_landing, r);
	return NULL;
}

void fxt_reached_free(struct fxt_reached *r)
{
	for (size_t i = 0; r->how && i < r->functions.code_count; i++)
		free(r->how[i]);
	free(r->how);
	fxt_file_functions_free(&r->functions);
}

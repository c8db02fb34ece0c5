/* Makes plans (plan.h), on the manager's thread. It must leave a function out rather than
 * break it. */
#include "plan.h"
#include "arch.h"
#include <Zydis/Zydis.h>
#include <fnmatch.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "functions.h"
#include "moved.h"
#include "returns.h"

/* How control or an address comes to a byte of code. IS_SPECIAL, at a function's first byte:
 * it must stay as it is. */
enum { REACHED_BY_CALL = 1, REACHED_BY_JUMP = 2, IS_TAKEN = 4, IS_SPECIAL = 8 };

#define TABLE_ENTRIES 8192 /* the most of a table of jumps */
#define SLOTS         16

struct planning {
	struct fxt_file_functions functions;
	Elf *elf;
	uint8_t **reached; /* for each of functions.code: by byte of it */
	ZydisDecoder decoder;
	struct fxt_plan_entry *entries;
	uint8_t *code;
	size_t code_room;
	struct fxt_plan head;
	bool is_fixed; /* addresses in the file are those in memory */
	/* where the loader stores the addresses of certain functions of other modules */
	struct planning_slot {
		uint64_t address;
		bool is_hook;
	} slots[SLOTS];
	unsigned slot_count;
	fxt_plan_tell *tell;
	void *context;
};

static void planning_reach(struct planning *p, uint64_t address, uint8_t how)
{
	const struct fxt_file_functions *f = &p->functions;

	for (size_t i = 0; i < f->code_count; i++)
		if (address >= f->code[i].start && address < f->code[i].end)
			p->reached[i][address - f->code[i].start] |= how;
}

static uint8_t planning_reached(const struct planning *p, uint64_t address)
{
	const struct fxt_file_functions *f = &p->functions;

	for (size_t i = 0; i < f->code_count; i++)
		if (address >= f->code[i].start && address < f->code[i].end)
			return p->reached[i][address - f->code[i].start];
	return 0;
}

/* ---- jumps ---- */

/* What might be a table of jumps within the function: distances of four bytes from the
 * table, or addresses. Reads as far as they lead to code: some may lead to parts of the
 * function that lie elsewhere. */
static void planning_follow_table(
        struct planning *p, const struct fxt_file_function *f, uint64_t table, bool is_distances)
{
	size_t bytes, code_bytes, width = is_distances ? 4 : 8;
	const uint8_t *at = fxt_file_at(p->elf, table, &bytes);

	for (size_t i = 0; at && i < TABLE_ENTRIES && (i + 1) * width <= bytes; i++) {
		uint64_t target = 0;
		int32_t distance;

		if (is_distances) {
			memcpy(&distance, at + i * width, sizeof(distance));
			target = table + (uint64_t)(int64_t)distance;
		} else {
			memcpy(&target, at + i * width, sizeof(target));
		}
		if (!fxt_code_at(&p->functions, target, &code_bytes))
			return;
		if (target >= f->start && target < f->end)
			planning_reach(p, target, REACHED_BY_JUMP);
	}
}

/* Every word of data that could be the address of code: pointers and labels in tables, those
 * in relocations too. */
static void planning_read_data(struct planning *p)
{
	size_t count, file_bytes;
	const char *file = elf_rawfile(p->elf, &file_bytes);

	if (!file || elf_getphdrnum(p->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(p->elf, (int)i, &header) || header.p_type != PT_LOAD ||
		        header.p_flags & PF_X || header.p_offset > file_bytes ||
		        header.p_filesz > file_bytes - header.p_offset)
			continue;
		for (uint64_t at = -header.p_vaddr & 7; at + 8 <= header.p_filesz; at += 8) {
			uint64_t word;

			memcpy(&word, file + header.p_offset + at, sizeof(word));
			planning_reach(p, word, IS_TAKEN);
		}
	}
}

/* ---- functions of other modules ---- */

/* Those that look at their return address, and the compiler's hooks. */
static bool planning_is_wary(const char *name, bool *is_hook)
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

static void planning_read_relocations(
        struct planning *p, Elf_Scn *section, const GElf_Shdr *header, const GElf_Shdr *symbols)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *table = elf_getdata(elf_getscn(p->elf, header->sh_link), NULL);

	for (size_t i = 0; data && table && i < header->sh_size / header->sh_entsize; i++) {
		GElf_Rela relocation;
		GElf_Sym symbol;
		bool is_hook;

		if (!gelf_getrela(data, (int)i, &relocation))
			return;
		if (arch_is_import(GELF_R_TYPE(relocation.r_info)) && p->slot_count < SLOTS &&
		        gelf_getsym(table, (int)GELF_R_SYM(relocation.r_info), &symbol) &&
		        planning_is_wary(elf_strptr(p->elf, symbols->sh_link, symbol.st_name), &is_hook))
			p->slots[p->slot_count++] = (struct planning_slot){relocation.r_offset, is_hook};
	}
}

static void planning_read_slots(struct planning *p)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(p->elf, section))) {
		GElf_Shdr header, symbols;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_entsize &&
		        gelf_getshdr(elf_getscn(p->elf, header.sh_link), &symbols) &&
		        symbols.sh_type == SHT_DYNSYM)
			planning_read_relocations(p, section, &header, &symbols);
	}
}

/* The slot by which the linker's stub at that address jumps; 0: no stub is there. */
static uint64_t planning_slot_of_stub(const struct planning *p, uint64_t address)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, address, &bytes), *begin = code;
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

/* Whether a call or jump is one that its function must make as it is: of a hook, because
 * the hooks record the function, or a jump to a function that looks at its return address. */
static bool planning_is_wary_of(const struct planning *p, uint64_t next, const ZydisDecodedInstruction *i)
{
	uint64_t slot = 0;

	if (!p->slot_count)
		return false;
	if (i->raw.imm[0].is_relative)
		slot = planning_slot_of_stub(p, next + (uint64_t)i->raw.imm[0].value.s);
	else if (i->attributes & ZYDIS_ATTRIB_IS_RELATIVE &&
	         (i->meta.category == ZYDIS_CATEGORY_CALL || i->meta.category == ZYDIS_CATEGORY_UNCOND_BR))
		slot = next + (uint64_t)i->raw.disp.value;
	for (unsigned n = 0; slot && n < p->slot_count; n++)
		if (p->slots[n].address == slot)
			return p->slots[n].is_hook || i->meta.category != ZYDIS_CATEGORY_CALL;
	return false;
}

/* Notes where one instruction leads. */
static void planning_note(struct planning *p, const struct fxt_file_function *f, uint64_t address,
        struct fxt_stack *stack, const ZydisDecodedInstruction *i)
{
	uint64_t next = address + i->length;

	if (planning_is_wary_of(p, next, i) || fxt_stack_follow(stack, i))
		planning_reach(p, f->start, IS_SPECIAL);
	if (p->is_fixed && i->raw.imm[0].size >= 32 && !i->raw.imm[0].is_relative)
		planning_reach(p, i->raw.imm[0].value.u, IS_TAKEN);
	if (i->raw.imm[0].is_relative) {
		planning_reach(p, next + (uint64_t)i->raw.imm[0].value.s,
		        i->meta.category == ZYDIS_CATEGORY_CALL ? REACHED_BY_CALL : REACHED_BY_JUMP);
	} else if (i->mnemonic == ZYDIS_MNEMONIC_LEA && i->attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		uint64_t target = next + (uint64_t)i->raw.disp.value;

		planning_reach(p, target, IS_TAKEN);
		planning_follow_table(p, f, target, true);
	} else if (i->meta.category == ZYDIS_CATEGORY_UNCOND_BR && i->raw.disp.size == 32 &&
	           !(i->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
		planning_follow_table(p, f, (uint64_t)i->raw.disp.value, false);
	}
}

static void planning_decode(struct planning *p, const struct fxt_file_function *f)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, f->start, &bytes);
	ZydisDecodedInstruction instruction;
	struct fxt_stack stack = {0};

	for (uint64_t at = f->start; at < f->end; at += instruction.length, code += instruction.length) {
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		            &p->decoder, NULL, code, f->end - at, &instruction)))
			planning_note(p, f, at, &stack, &instruction);
		else
			instruction.length = 1; /* data within the code: goes on behind it */
	}
}

/* ---- one function ---- */

/* Functions that depend on who called them, or that run before the agent. */
static bool planning_is_special(const char *name)
{
	static const char *const special[] = {"_start", "_init", "_fini", "__libc_csu_*", "_dl_*", "*setjmp*",
	        "*longjmp*", "vfork", "__vfork", "clone", "__clone*", "*getcontext*", "*setcontext*",
	        "*makecontext*", "*swapcontext*", "__restore_rt", "_Unwind_*", "__libc_start_main*",
	        "__morestack*", "__tls_get_addr", "__asan_*", "__tsan_*", "__msan_*", "__ubsan_*",
	        "__sanitizer_*", "__interceptor_*",
	        /* compiled code of V8, which finds its frames by return addresses */
	        "Builtins_*"};

	for (size_t i = 0; name && i < sizeof(special) / sizeof(*special); i++)
		if (fnmatch(special[i], name, 0) == 0)
			return true;
	return false;
}

/* Whether it is a stub of the linker's: a jump to another module. */
static bool planning_is_stub(const struct planning *p, uint64_t address)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, address, &bytes);

	if (bytes > 1 && code[0] == 0xf2) /* bnd */
		code++, bytes--;
	return bytes > 6 && code[0] == 0xff && code[1] == 0x25;
}

static bool planning_is_part(const struct planning *p, const struct fxt_file_function *f, uint64_t address)
{
	if (f->name && (strstr(f->name, ".cold") || strstr(f->name, "_cold.")))
		return true;
	if (f->is_described && !f->is_entry)
		return true;
	if (!f->name && planning_is_stub(p, address))
		return true;
	return !f->name && (planning_reached(p, f->start) & (REACHED_BY_CALL | REACHED_BY_JUMP | IS_TAKEN)) ==
	                           REACHED_BY_JUMP;
}

/* Whether the function jumps to that address in itself. Loops are short: only then is it
 * decoded again. */
static bool planning_jumps_to(struct planning *p, const struct fxt_file_function *f, uint64_t target)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, f->start, &bytes);
	ZydisDecodedInstruction i;

	if (!(planning_reached(p, target) & REACHED_BY_JUMP))
		return false;
	for (uint64_t at = f->start; at < f->end; at += i.length, code += i.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&p->decoder, NULL, code, f->end - at, &i)))
			return true;
		if (i.raw.imm[0].is_relative && i.meta.category != ZYDIS_CATEGORY_CALL &&
		        at + i.length + (uint64_t)i.raw.imm[0].value.s == target)
			return true;
	}
	return false;
}

static enum fxt_plan_obstacle planning_obstacle(struct planning *p, const struct fxt_file_function *f,
        uint64_t address, uint64_t next, struct fxt_moved *moved)
{
	size_t readable;
	const uint8_t *code = fxt_code_at(&p->functions, address, &readable);

	if (f->start == p->functions.entry || planning_is_special(f->name) || f->is_resolver ||
	        planning_reached(p, f->start) & IS_SPECIAL)
		return FXT_PLAN_SPECIAL;
	if (planning_is_part(p, f, address))
		return FXT_PLAN_PART;
	/* Comes first: calls of the next function lead among the bytes of the jump too. */
	if (!code || readable < FXT_PLAN_JUMP_BYTES || next - address < FXT_PLAN_JUMP_BYTES)
		return FXT_PLAN_SHORT;
	for (uint64_t i = 1; i < FXT_PLAN_JUMP_BYTES; i++)
		if (planning_reached(p, address + i) & (REACHED_BY_CALL | REACHED_BY_JUMP | IS_TAKEN))
			return FXT_PLAN_JUMPED_INTO;
	if (planning_jumps_to(p, f, address))
		return FXT_PLAN_LOOP;
	return fxt_move(code, readable, address, next - address, moved);
}

static bool planning_add(
        struct planning *p, uint64_t function, uint64_t address, const struct fxt_moved *moved)
{
	struct fxt_plan_entry *entry = &p->entries[p->head.count++];
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, address, &bytes);

	if (p->head.code_bytes + (size_t)moved->code_bytes > p->code_room) {
		size_t room = 2 * p->code_room + 65536;
		uint8_t *larger = realloc(p->code, room);

		if (!larger)
			return false;
		p->code = larger;
		p->code_room = room;
	}
	*entry = (struct fxt_plan_entry){.address = address,
	        .function = function,
	        .code = p->head.code_bytes,
	        .code_bytes = moved->code_bytes,
	        .moved = moved->taken,
	        .original_bytes = moved->taken < FXT_PLAN_JUMP_BYTES ? FXT_PLAN_JUMP_BYTES : moved->taken,
	        .constant = moved->constant};
	memcpy(entry->fixups, moved->fixups, moved->fixup_count);
	memcpy(entry->original, code, entry->original_bytes);
	memcpy(p->code + p->head.code_bytes, moved->code, moved->code_bytes);
	p->head.code_bytes += moved->code_bytes;
	return true;
}

static bool planning_consider(struct planning *p, size_t number)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	const struct fxt_file_function *f = &p->functions.list[number];
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->functions, f->start, &bytes);
	uint64_t address = f->start;
	uint64_t next =
	        number + 1 < p->functions.count ? p->functions.list[number + 1].start : f->start + bytes;
	enum fxt_plan_obstacle obstacle;
	struct fxt_moved moved;

	if (next > f->start + bytes)
		next = f->start + bytes;
	if (f->end == f->start && !f->is_described) /* only a label */
		return true;
	if (bytes >= sizeof(landing) && memcmp(code, landing, sizeof(landing)) == 0)
		address += sizeof(landing);
	obstacle = planning_obstacle(p, f, address, next, &moved);
	if (obstacle == FXT_PLAN_NONE)
		return planning_add(p, f->start, address, &moved);
	p->head.left_out[obstacle]++;
	if (p->tell && obstacle != FXT_PLAN_PART)
		p->tell(p->context, f->name, f->start, obstacle);
	return true;
}

/* ---- the file ---- */

static const char *planning_run(struct planning *p)
{
	const struct fxt_file_functions *f = &p->functions;

	p->reached = calloc(f->code_count ? f->code_count : 1, sizeof(*p->reached));
	p->entries = calloc(f->count ? f->count : 1, sizeof(*p->entries));
	if (!p->reached || !p->entries)
		return "memory is short";
	for (size_t i = 0; i < f->code_count; i++)
		if (!(p->reached[i] = calloc(1, f->code[i].end - f->code[i].start + 1)))
			return "memory is short";
	planning_read_data(p);
	planning_read_slots(p);
	for (size_t i = 0; i < f->count; i++)
		planning_decode(p, &f->list[i]);
	for (size_t i = 0; i < f->count; i++)
		if (!planning_consider(p, i))
			return "memory is short";
	return p->head.count ? NULL : "it has no function that can be recorded";
}

static const char *planning_store(const struct planning *p, struct fxt_plan **plan, size_t *bytes)
{
	size_t entries = p->head.count * sizeof(*p->entries);

	*bytes = sizeof(**plan) + entries + p->head.code_bytes;
	*plan = malloc(*bytes);
	if (!*plan)
		return "memory is short";
	**plan = p->head;
	memcpy(*plan + 1, p->entries, entries);
	memcpy((uint8_t *)(*plan + 1) + entries, p->code, p->head.code_bytes);
	return NULL;
}

const char *fxt_plan_make(Elf *elf, struct fxt_plan **plan, size_t *bytes, fxt_plan_tell *tell, void *context)
{
	struct planning p = {.elf = elf, .head = {.magic = FXT_PLAN_MAGIC}, .tell = tell, .context = context};
	const char *why = fxt_file_functions_read(&p.functions, elf);
	GElf_Ehdr header;

	p.is_fixed = gelf_getehdr(elf, &header) && header.e_type == ET_EXEC;
	ZydisDecoderInit(&p.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!why)
		why = planning_run(&p);
	if (!why)
		why = planning_store(&p, plan, bytes);
	for (size_t i = 0; p.reached && i < p.functions.code_count; i++)
		free(p.reached[i]);
	free(p.reached);
	free(p.entries);
	free(p.code);
	fxt_file_functions_free(&p.functions);
	return why;
}

const char *fxt_plan_obstacle_text(enum fxt_plan_obstacle obstacle)
{
	static const char *const texts[FXT_PLAN_OBSTACLES] = {
	        [FXT_PLAN_NONE] = "recorded",
	        [FXT_PLAN_SHORT] = "too short for a jump",
	        [FXT_PLAN_JUMPED_INTO] = "jumped into at the first bytes",
	        [FXT_PLAN_LOOP] = "a loop begins at the first byte",
	        [FXT_PLAN_FIXED] = "the first instructions cannot be moved",
	        [FXT_PLAN_UNKNOWN] = "the first instructions are not known",
	        [FXT_PLAN_PART] = "part of another function",
	        [FXT_PLAN_SPECIAL] = "depends on the caller's frame",
	};

	return texts[obstacle];
}

/* Makes plans (plan.h), on the manager's thread. It must leave a function out rather than
 * break it. */
#include "plan.h"
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "moved.h"
#include "reached.h"

struct planning {
	struct fxt_reached reached;
	struct fxt_plan_entry *entries;
	uint8_t *code;
	size_t code_room;
	struct fxt_plan head;
	fxt_plan_tell *tell;
	void *context;
};

/* ---- one function ---- */

/* Functions that depend on who called them, or that run before the agent. */
static bool planning_is_special(const char *name)
{
	static const char *const special[] = {"_start", "_init", "_fini", "__libc_csu_*", "_dl_*", "*setjmp*",
	        "*longjmp*", "vfork", "__vfork", "clone", "__clone*", "*getcontext*", "*setcontext*",
	        "*makecontext*", "*swapcontext*", "__restore_rt", "_Unwind_*", "__libc_start_main*",
	        "__morestack*", "__tls_get_addr", "__asan_*", "__tsan_*", "__msan_*", "__ubsan_*",
	        "__sanitizer_*", "__interceptor_*",
	        /* of <fxt/trace.h> */
	        "fxt_trace_register_", "fxt_trace_category_*",
	        /* compiled code of V8, which finds its frames by return addresses */
	        "Builtins_*"};

	for (size_t i = 0; name && i < sizeof(special) / sizeof(*special); i++)
		if (fnmatch(special[i], name, 0) == 0)
			return true;
	return false;
}

/* Whether the function is a stub of the linker's, which jumps to another module. */
static bool planning_is_stub(const struct planning *p, uint64_t address)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->reached.functions, address, &bytes);

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
	return !f->name && (fxt_reached(&p->reached, f->start) & FXT_REACHED_AT_ALL) == FXT_REACHED_BY_JUMP;
}

/* Whether the function itself jumps to that address. Decodes the function again only if
 * some jump leads there. */
static bool planning_jumps_to(struct planning *p, const struct fxt_file_function *f, uint64_t target)
{
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->reached.functions, f->start, &bytes);
	ZydisDecodedInstruction i;

	if (!(fxt_reached(&p->reached, target) & FXT_REACHED_BY_JUMP))
		return false;
	for (uint64_t at = f->start; at < f->end; at += i.length, code += i.length) {
		if (!ZYAN_SUCCESS(
		            ZydisDecoderDecodeInstruction(&p->reached.decoder, NULL, code, f->end - at, &i)))
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
	const uint8_t *code = fxt_code_at(&p->reached.functions, address, &readable);

	if (f->start == p->reached.functions.entry || planning_is_special(f->name) || f->is_resolver ||
	        fxt_reached(&p->reached, f->start) & FXT_REACHED_IS_SPECIAL)
		return FXT_PLAN_SPECIAL;
	if (planning_is_part(p, f, address))
		return FXT_PLAN_PART;
	/* This test comes first: calls of the next function lead among the jump's bytes
	 * too. */
	if (!code || readable < FXT_PLAN_JUMP_BYTES || next - address < FXT_PLAN_JUMP_BYTES)
		return FXT_PLAN_SHORT;
	for (uint64_t i = 1; i < FXT_PLAN_JUMP_BYTES; i++)
		if (fxt_reached(&p->reached, address + i) & FXT_REACHED_AT_ALL)
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
	const uint8_t *code = fxt_code_at(&p->reached.functions, address, &bytes);

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
	const struct fxt_file_function *f = &p->reached.functions.list[number];
	size_t bytes;
	const uint8_t *code = fxt_code_at(&p->reached.functions, f->start, &bytes);
	uint64_t address = f->start;
	uint64_t next = number + 1 < p->reached.functions.count ? p->reached.functions.list[number + 1].start
	                                                        : f->start + bytes;
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
	const struct fxt_file_functions *f = &p->reached.functions;

	p->entries = calloc(f->count ? f->count : 1, sizeof(*p->entries));
	if (!p->entries)
		return "memory is short";
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
	struct planning p = {.head = {.magic = FXT_PLAN_MAGIC}, .tell = tell, .context = context};
	const char *why = fxt_reached_read(&p.reached, elf);

	if (!why)
		why = planning_run(&p);
	if (!why)
		why = planning_store(&p, plan, bytes);
	free(p.entries);
	free(p.code);
	fxt_reached_free(&p.reached);
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

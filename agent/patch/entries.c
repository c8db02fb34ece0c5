/*
 * Finds and writes prepared entries and sleds (entries.h). Runs on the starting thread, on
 * a thread that loads a module, and on the helper's thread, with the engine's lock held. It
 * must not write over code that another thread may execute, except the first byte of an
 * entry.
 */
#include "entries.h"
#include "entry_search.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/libc.h"
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "agent/hook/thunks.h"
#include "agent/process/modules.h"
#include "changes.h"
#include "code.h"
#include "near.h"
#include "planned.h"
#include "sleds.h"
#include "stopped.h"
#include "thunk_blocks.h"
#include "writer/shared/search.h"

#define MODULES    256
#define JUMP       0xe9 /* jmp rel32 */
#define TEST       0xa9 /* test $imm32, %eax */
#define STUB_BYTES 16   /* jmp *0(%rip) and an address */
#define PAGE       UINT64_C(4096)

/* An entry or a sled: which of its bytes changes. */
struct entry {
	uint64_t address;
	uint64_t function;
	uint8_t on, off;
	bool is_exit;
	bool is_excluded;
};

/* A module's list of entries, or of sleds. */
static struct entries {
	uint64_t low, high; /* of the module; 0: free */
	struct entry *entries;
	uint32_t count, used; /* those from `used` on could not be written */
	enum agent_entry_list_kind kind;
	struct agent_thunk_block *thunks; /* in the order of entries; sleds have none */
	uint8_t *stubs;                   /* NULL: the thunks are near. Thunks of sleds are behind */
} modules[MODULES];

static uint32_t total, excluded_count;
static bool is_on; /* the entries lead to their thunks; changes under the engine's lock */
static struct agent_sled_code sled_code;
static bool is_refused[AGENT_LISTS];
static const char *const names[AGENT_LISTS] = {
        "prepared entries (-fpatchable-function-entry)", "XRay sleds (-fxray-instrument)"};

static void entries_refuse(enum agent_entry_list_kind kind, const char *why)
{
	if (!is_refused[kind])
		agent_notice(names[kind], " are not recorded: ", why, NULL);
	is_refused[kind] = true;
}

static size_t entries_stub_bytes(enum agent_entry_list_kind kind, uint32_t count)
{
	size_t bytes = kind == AGENT_LIST_SLEDS
	                       ? AGENT_SLED_STUBS_BYTES + (size_t)count * AGENT_SLED_THUNK_BYTES
	                       : (size_t)count * STUB_BYTES;

	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void entries_give_back(const struct entries *m)
{
	if (m->thunks)
		agent_thunk_block_free(m->thunks);
	if (m->entries)
		sys_unmap(m->entries, m->count * sizeof(*m->entries));
	if (m->stubs)
		sys_unmap(m->stubs, entries_stub_bytes(m->kind, m->count));
}

#if ARCH_HAS_THUNKS

/* ---- stubs ---- */

/* Makes the stubs that lead to thunks. */
static void entries_make_stubs(const struct entries *m, uint8_t *stubs)
{
	static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};

	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t address = agent_thunk_of_block(m->thunks, i);

		memcpy(stubs + (size_t)i * STUB_BYTES, jump, sizeof(jump));
		memcpy(stubs + (size_t)i * STUB_BYTES + sizeof(jump), &address, sizeof(address));
	}
}

/* Makes the stubs and thunks of sleds. */
static void entries_make_sled_stubs(const struct entries *m, const struct agent_entry *found, uint8_t *stubs)
{
	agent_sled_make_stubs(stubs, &sled_code);
	for (uint32_t i = 0; i < m->count; i++)
		if (found[i].kind != AGENT_SLED_ENTRY) {
			struct agent_sled_thunk thunk = agent_sled_thunk_of(&found[i], &sled_code);

			memcpy(stubs + AGENT_SLED_STUBS_BYTES + (size_t)i * AGENT_SLED_THUNK_BYTES, &thunk,
			        sizeof(thunk));
		}
}

static bool entries_write_stubs(const struct entries *m, const struct agent_entry *found, size_t bytes)
{
	uint8_t *scratch = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	bool is_written;

	if (!scratch)
		return false;
	if (m->kind == AGENT_LIST_SLEDS)
		entries_make_sled_stubs(m, found, scratch);
	else
		entries_make_stubs(m, scratch);
	is_written = agent_code_write_bytes((uint64_t)(uintptr_t)m->stubs, scratch, bytes);
	sys_unmap(scratch, bytes);
	return is_written;
}

/* ---- entries ---- */

static struct agent_thunk_target entries_target(const void *of, uint32_t number)
{
	const struct agent_entry *found = of;

	return (struct agent_thunk_target){
	        found[number].function, found[number].address + found[number].bytes};
}

static void entries_make_entry(
        uint8_t *code, const struct entries *m, const struct agent_entry *found, uint32_t number)
{
	uint64_t target = m->stubs ? (uint64_t)(uintptr_t)m->stubs + number * STUB_BYTES
	                           : agent_thunk_of_block(m->thunks, number);
	int32_t distance = (int32_t)(target - (found->address + AGENT_ENTRY_BYTES));

	memset(code, 0x90, found->bytes);
	code[0] = TEST;
	memcpy(code + 1, &distance, sizeof(distance));
}

/* Writes the entry's bytes, in the form that is in use now. */
static bool entries_write_entry(struct entries *m, const struct agent_entry *found, uint32_t number)
{
	uint64_t stubs = (uint64_t)(uintptr_t)m->stubs;
	struct agent_sled_switch byte = {found->address, JUMP, TEST};
	uint8_t code[AGENT_ENTRY_BYTES_MAX];

	if (m->kind == AGENT_LIST_SLEDS) {
		byte = agent_sled_switch_of(found);
		agent_sled_make(code, found, stubs,
		        stubs + AGENT_SLED_STUBS_BYTES + (uint64_t)number * AGENT_SLED_THUNK_BYTES);
	} else {
		entries_make_entry(code, m, found, number);
	}
	if (is_on)
		code[byte.address - found->address] = byte.on;
	m->entries[number] = (struct entry){.address = byte.address,
	        .function = found->function,
	        .on = byte.on,
	        .off = byte.off,
	        .is_exit = found->kind == AGENT_SLED_EXIT || found->kind == AGENT_SLED_TAIL};
	return agent_change_code(found->address, code, found->bytes);
}

static struct entries *entries_free_module(void)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (!modules[i].high)
			return &modules[i];
	return NULL;
}

/* Prepares the entries that were found. False: there is no room or no memory. */
static bool entries_add(const struct agent_module_tables *module, enum agent_entry_list_kind kind,
        const struct agent_entry *found, uint32_t count)
{
	uint64_t low = module->low, high = module->high;
	struct entries *m = entries_free_module(),
	               next = {.low = low, .high = high, .count = count, .kind = kind};
	size_t stub_bytes = entries_stub_bytes(kind, count);
	bool has_thunks = kind == AGENT_LIST_ENTRIES,
	     needs_stubs = !has_thunks ||
	                   !agent_is_near(low, high, (uint64_t)(uintptr_t)agent_thunks, AGENT_THUNKS_BYTES);
	uint32_t written = 0;

	if (!m || (needs_stubs && !(next.stubs = agent_map_near(low, high, stub_bytes))))
		return false;
	if (has_thunks)
		next.thunks = agent_thunk_block_make(count, entries_target, found);
	next.entries = sys_map(
	        count * sizeof(*next.entries), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!next.entries || (has_thunks && !next.thunks) ||
	        (needs_stubs && !entries_write_stubs(&next, found, stub_bytes))) {
		entries_give_back(&next);
		return false;
	}
	while (written < count && entries_write_entry(&next, &found[written], written))
		written++;
	next.used = written; /* the others stay as they are */
	*m = next;
	total += written;
	return written == count;
}

/* ---- what cannot be recorded ---- */

static void entries_tell_other(
        const struct agent_module_tables *module, enum agent_entry_list_kind kind, size_t count)
{
	static const char *const what[AGENT_LISTS] = {" prepared entries of ", " XRay sleds of "};
	static const char *const why[AGENT_LISTS] = {"less than 5 bytes (-fpatchable-function-entry=5)",
	        "they are not as clang 12 or later made them"};
	char number[24];

	agent_notice(agent_number(number, count), what[kind], module->path[0] ? module->path : "the program",
	        " are not recorded: ", why[kind], NULL);
}

/* Whether clang's runtime is going to write the sleds, which it does after our constructor
 * and before the program's. */
static bool entries_are_clangs(void)
{
	static const char option[] = "patch_premain=";
	const char *options = agent_getenv("XRAY_OPTIONS"), *at = options ? strstr(options, option) : NULL;

	/* 1, true, yes: as the runtime reads it */
	return at && strchr("1ty", at[sizeof(option) - 1]) && at[sizeof(option) - 1];
}

static const char *entries_obstacle(enum agent_entry_list_kind kind)
{
	if (kind == AGENT_LIST_SLEDS && entries_are_clangs())
		return "XRAY_OPTIONS lets clang's own runtime write them (patch_premain)";
	if (!agent_is_standalone && !agent_engine.control->erases)
		return "--no-patch leaves the program's code as it is";
	if (arch_is_emulated())
		return "an emulator runs the program";
	return NULL;
}

static size_t entries_search(const struct agent_module_tables *module, enum agent_entry_list_kind kind,
        const struct agent_entry_list *list, struct agent_entry *found, size_t *left_out)
{
	bool without_ends = false;
	size_t used = kind == AGENT_LIST_SLEDS
	                      ? agent_sled_search(module, list, found, left_out, &without_ends)
	                      : agent_entry_search(module, list, found, left_out);

	if (!without_ends)
		return used;
	agent_notice(names[kind], " of ", module->path[0] ? module->path : "the program",
	        " are not recorded: no function has one at its end "
	        "(-fxray-instrumentation-bundle=function)",
	        NULL);
	*left_out = list->count;
	return 0;
}

/* Leaves out entries that a stopped thread is in the middle of. Returns how many remain. */
static size_t entries_drop_entered(struct agent_entry *found, size_t count, size_t *left_out)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!agent_stopped_in(found[i].address, found[i].address + found[i].bytes))
			found[kept++] = found[i];
	*left_out += count - kept;
	return kept;
}

static void entries_take(const struct agent_module_tables *module, enum agent_entry_list_kind kind,
        const struct agent_entry_list *list)
{
	size_t bytes = list->count * sizeof(struct agent_entry), used = 0, left_out = 0;
	struct agent_entry *found = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	const char *why = entries_obstacle(kind);
	int kept;

	if (!why && !found)
		why = "there is no memory for it";
	if (!why)
		used = entries_drop_entered(
		        found, entries_search(module, kind, list, found, &left_out), &left_out);
	if (!why && used && !agent_code_open_for_now(&kept)) {
		why = "/proc/self/mem cannot be opened";
	} else if (!why && used) {
		if (!entries_add(module, kind, found, (uint32_t)used))
			why = "there is no room or no permission for code near the program's";
		agent_code_close_again(kept);
	}
	if (found)
		sys_unmap(found, bytes);
	if (why)
		entries_refuse(kind, why);
	else if (used + left_out < list->count)
		entries_tell_other(module, kind, list->count - used - left_out);
}

#else

static void entries_take(const struct agent_module_tables *module, enum agent_entry_list_kind kind,
        const struct agent_entry_list *list)
{
	(void)module;
	(void)list;
	entries_refuse(kind, "the processor is not an x86-64");
}

#endif

/* ---- modules ---- */

/* The unwinder itself, and what it and this library need to work. */
static const char *const foreign[] = {
        "ld-linux", "libc.so", "libpthread.so", "libgcc_s.so", "libfxtagent.so", NULL};

void agent_entries_prepare(struct agent_thunk_code thunks, struct agent_sled_code sleds)
{
	agent_thunk_blocks_prepare(&thunks);
	sled_code = sleds;
}

/* Whether the module was examined before a detach. */
static bool entries_are_known(const struct agent_module_tables *module, enum agent_entry_list_kind kind)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && modules[i].low == module->low && modules[i].kind == kind)
			return true;
	return false;
}

void agent_entries_examine(const struct agent_module_tables *module)
{
	struct agent_entry_list lists[AGENT_LISTS];

	if (agent_path_is_of(module->path, foreign))
		return;
	if (agent_entry_lists(module, lists))
		for (unsigned kind = 0; kind < AGENT_LISTS; kind++)
			if (lists[kind].count && !is_refused[kind] &&
			        !entries_are_known(module, (enum agent_entry_list_kind)kind))
				entries_take(module, (enum agent_entry_list_kind)kind, &lists[kind]);
	agent_planned_take(module, is_on);
}

/* The index of a function's first entry, or where it would be. Entries and sleds are in the
 * order of their functions. */
static uint32_t entries_first_of(const struct entries *m, uint64_t function)
{
	return partition_point(i, m->used, m->entries[i].function < function);
}

static bool entries_have(const struct entries *m, uint64_t function)
{
	uint32_t first = entries_first_of(m, function);

	return first < m->used && m->entries[first].function == function;
}

bool agent_entries_has(uint64_t function)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && function >= modules[i].low && function < modules[i].high &&
		        entries_have(&modules[i], function))
			return true;
	return agent_planned_has(function);
}

/* ---- on and off ---- */

uint32_t agent_entries_count(void)
{
	return total + agent_planned_count();
}

uint32_t agent_entries_excluded(void)
{
	return load_relaxed(&excluded_count) + agent_planned_excluded();
}

/* Changes an entry's byte, unless something else is there, such as a debugger's
 * breakpoint. */
static bool entry_set(const struct entry *entry, bool to_on)
{
	uint8_t now, wanted = to_on ? entry->on : entry->off;

	return agent_code_read(entry->address, &now, 1) && (now == entry->on || now == entry->off) &&
	       (now == wanted || agent_code_write(entry->address, wanted));
}

static void entries_set_each(bool are_excluded, bool are_exits, bool to_on)
{
	for (unsigned i = 0; i < MODULES; i++)
		for (uint32_t n = 0; n < modules[i].used; n++) {
			const struct entry *entry = &modules[i].entries[n];

			if (entry->is_excluded == are_excluded && entry->is_exit == are_exits)
				entry_set(entry, to_on);
		}
}

/* A call that is entered by a sled is left by one: exits come on first. */
static void entries_set_all(bool to_on)
{
	entries_set_each(false, true, to_on);
	sys_membarrier();
	entries_set_each(false, false, to_on);
}

void agent_entries_follow_recording(bool is_helper)
{
	bool to_on = agent_records_calls();
	uint64_t mask;
	int kept;

	if (to_on == is_on)
		return;
	/* A library's entries may be written at this moment, as is_on says. */
	mask = fxt_lock(&agent_engine.lock);
	agent_planned_follow_recording(to_on);
	if (!total) {
		is_on = to_on;
	} else if (is_helper ? agent_code_open() : agent_code_open_for_now(&kept)) {
		is_on = to_on;
		entries_set_all(to_on);
		if (!is_helper)
			agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

/* A function's entries: one, or its sleds. */
struct entry_group {
	struct entry *first;
	uint32_t count;
};

/* The sleds of the function with a call that returns there. */
static struct entry_group entries_of_sled(uint64_t from)
{
	for (unsigned i = 0; i < MODULES; i++) {
		const struct entries *m = &modules[i];
		uint32_t first, end;
		uint64_t function;

		if (m->kind != AGENT_LIST_SLEDS || from - m->low >= m->high - m->low)
			continue;
		function = agent_sled_function(from);
		first = entries_first_of(m, function);
		for (end = first; end < m->used && m->entries[end].function == function;)
			end++;
		return (struct entry_group){m->entries + first, end - first};
	}
	return (struct entry_group){0};
}

static struct entry_group entries_of_thunk(uint64_t entered)
{
	uint32_t number;
	const struct agent_thunk_block *block = agent_thunk_find_block(entered, &number);

	for (unsigned i = 0; block && i < MODULES; i++)
		if (modules[i].thunks == block && number < modules[i].used)
			return (struct entry_group){&modules[i].entries[number], 1};
	return (struct entry_group){0};
}

static struct entry_group entries_of(uint64_t from)
{
	return agent_is_thunk(from) ? entries_of_thunk(from) : entries_of_sled(from);
}

bool agent_entries_call(uint64_t from, uint64_t function)
{
	struct entry_group group = entries_of(from);

	/* Other code may have been loaded there since. */
	return (group.count && group.first->function == function) || agent_planned_call(from, function);
}

bool agent_entries_exclude(uint64_t from)
{
	struct entry_group group = entries_of(from);
	bool is_out = true;

	if (!group.count)
		return agent_planned_exclude(from);
	for (uint32_t i = 0; i < group.count; i++) {
		store_release(&excluded_count, excluded_count + !group.first[i].is_excluded);
		group.first[i].is_excluded = true;
		is_out = entry_set(&group.first[i], false) && is_out;
	}
	return is_out;
}

void agent_entries_include_all(bool are_exits)
{
	if (!are_exits)
		agent_planned_include_all(is_on);
	if (!excluded_count)
		return;
	entries_set_each(true, are_exits, is_on);
	if (are_exits)
		return;
	for (unsigned i = 0; i < MODULES; i++)
		for (uint32_t n = 0; n < modules[i].used; n++)
			modules[i].entries[n].is_excluded = false;
	store_release(&excluded_count, 0);
}

void agent_entries_retire(uint64_t start, uint64_t end)
{
	agent_planned_retire(start, end);
	for (unsigned i = 0; i < MODULES; i++) {
		struct entries *m = &modules[i];

		if (m->low >= end || m->high <= start)
			continue;
		for (uint32_t n = 0; n < m->used; n++)
			excluded_count -= m->entries[n].is_excluded;
		total -= m->used;
		entries_give_back(m);
		*m = (struct entries){0};
	}
}

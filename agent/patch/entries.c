/*
 * Finds and writes prepared entries (entries.h). Runs on the starting thread, on a thread
 * that loads a module, and on the helper's thread, with the engine's lock held. It must not
 * write over code that another thread may execute, except the first byte of an entry.
 */
#include "entries.h"
#include "entry_search.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "agent/hook/thunks.h"
#include "agent/process/modules.h"
#include "code.h"
#include "thunk_blocks.h"

#define MODULES    256
#define JUMP       0xe9 /* jmp rel32 */
#define TEST       0xa9 /* test $imm32, %eax */
#define STUB_BYTES 16   /* jmp *0(%rip) and an address */
#define PAGE       UINT64_C(4096)
#define NEAR       (UINT64_C(0x7fffffff) - (1 << 20)) /* what a jump reaches, less a margin */
#define NEAR_STEP  (UINT64_C(64) << 10)
#define LOWEST     (UINT64_C(64) << 10) /* no program maps memory below */

/* An entry: where its five bytes are. */
struct entry {
	uint64_t address;
	bool is_excluded;
};

/* A module with entries. */
static struct entries {
	uint64_t low, high; /* of the module; 0: free */
	struct entry *entries;
	uint32_t count, used;             /* those from `used` on could not be written */
	struct agent_thunk_block *thunks; /* in the order of entries */
	uint8_t *stubs;                   /* NULL: the thunks are near */
} modules[MODULES];

static uint32_t total, excluded_count;
static bool is_on; /* the entries lead to their thunks; changes under the engine's lock */
static bool is_refused;
static uint8_t examined[AGENT_MODULES / 8 + 1]; /* a bit for each module id */

static void entries_refuse(const char *why)
{
	if (!is_refused)
		agent_notice("prepared entries (-fpatchable-function-entry) are not recorded: ", why, NULL);
	is_refused = true;
}

static size_t entries_stub_bytes(uint32_t count)
{
	return (count * STUB_BYTES + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void entries_give_back(const struct entries *m)
{
	if (m->thunks)
		agent_thunk_block_free(m->thunks);
	if (m->entries)
		sys_unmap(m->entries, m->count * sizeof(*m->entries));
	if (m->stubs)
		sys_unmap(m->stubs, entries_stub_bytes(m->count));
}

#if ARCH_HAS_THUNKS

/* ---- stubs ---- */

/* Maps memory for code at a free place. */
static uint8_t *entries_map_at(uint64_t address, size_t bytes, int flags)
{
	long result = sys_call6(SYS_mmap, (long)address, (long)bytes, PROT_READ | PROT_EXEC,
	        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (sys_is_error(result))
		return NULL;
	if ((uint64_t)result == address)
		return (uint8_t *)result;
	sys_unmap((void *)result, bytes); /* a kernel older than Linux 4.17 */
	return NULL;
}

/* Maps stubs below the module: above a program is the memory that grows by brk(). */
static uint8_t *entries_map_stubs(uint64_t low, uint64_t high, size_t bytes)
{
	uint64_t step = NEAR_STEP, end = low & ~(NEAR_STEP - 1);

	while (end > LOWEST + bytes && high - (end - bytes) < NEAR) {
		uint8_t *stubs = entries_map_at(end - bytes, bytes, MAP_FIXED_NOREPLACE);

		if (stubs)
			return stubs;
		end -= step;
		if (step < NEAR_STEP << 8)
			step += NEAR_STEP;
	}
	return NULL;
}

static bool entries_are_near(uint64_t low, uint64_t high)
{
	uint64_t first = (uint64_t)(uintptr_t)agent_thunks, end = first + AGENT_THUNKS_BYTES;

	return (high < end ? end : high) - (low < first ? low : first) < NEAR;
}

static bool entries_write_stubs(const struct entries *m, size_t bytes)
{
	static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};
	uint8_t *scratch = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	bool is_written;

	if (!scratch)
		return false;
	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t address = agent_thunk_of_block(m->thunks, i);

		memcpy(scratch + (size_t)i * STUB_BYTES, jump, sizeof(jump));
		memcpy(scratch + (size_t)i * STUB_BYTES + sizeof(jump), &address, sizeof(address));
	}
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

/* Writes the entry's bytes, in the form that is in use now. */
static bool entries_write_entry(const struct entries *m, const struct agent_entry *found, uint32_t number)
{
	uint64_t target = m->stubs ? (uint64_t)(uintptr_t)m->stubs + number * STUB_BYTES
	                           : agent_thunk_of_block(m->thunks, number);
	int32_t distance = (int32_t)(target - (found->address + AGENT_ENTRY_BYTES));
	uint8_t code[AGENT_ENTRY_BYTES_MAX];

	memset(code, 0x90, sizeof(code));
	code[0] = is_on ? JUMP : TEST;
	memcpy(code + 1, &distance, sizeof(distance));
	return agent_code_write_bytes(found->address, code, found->bytes);
}

static struct entries *entries_free_module(void)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (!modules[i].high)
			return &modules[i];
	return NULL;
}

/* Prepares the entries that were found. False: there is no room or no memory. */
static bool entries_add(uint64_t low, uint64_t high, const struct agent_entry *found, uint32_t count)
{
	struct entries *m = entries_free_module(), next = {.low = low, .high = high, .count = count};
	size_t stub_bytes = entries_stub_bytes(count);
	uint32_t written = 0;

	if (!m || (!entries_are_near(low, high) && !(next.stubs = entries_map_stubs(low, high, stub_bytes))))
		return false;
	next.thunks = agent_thunk_block_make(count, entries_target, found);
	next.entries = sys_map(
	        count * sizeof(*next.entries), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!next.thunks || !next.entries || (next.stubs && !entries_write_stubs(&next, stub_bytes))) {
		entries_give_back(&next);
		return false;
	}
	for (; written < count; written++) {
		next.entries[written].address = found[written].address;
		if (!entries_write_entry(&next, &found[written], written))
			break; /* the others stay as they are */
	}
	next.used = written;
	*m = next;
	total += written;
	return written == count;
}

/* ---- what cannot be recorded ---- */

static void entries_tell_short(const struct agent_module_tables *module, size_t count)
{
	char number[24];

	agent_notice(agent_number(number, count), " prepared entries of ",
	        module->path[0] ? module->path : "the program",
	        " are not recorded: less than 5 bytes (-fpatchable-function-entry=5)", NULL);
}

static const char *entries_obstacle(void)
{
	if (!agent_is_standalone && !agent_engine.control->erases)
		return "--no-patch leaves the program's code as it is";
	if (arch_is_emulated())
		return "an emulator runs the program";
	return NULL;
}

static void entries_take(const struct agent_module_tables *module, const uint64_t *list, size_t count)
{
	struct agent_entry *found =
	        sys_map(count * sizeof(*found), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	const char *why = entries_obstacle();
	size_t used = 0, left_out = 0;
	int kept;

	if (!why && !found)
		why = "there is no memory for it";
	if (!why)
		used = agent_entry_search(module, list, count, found, &left_out);
	if (!why && used && !agent_code_open_for_now(&kept)) {
		why = "/proc/self/mem cannot be opened";
	} else if (!why && used) {
		if (!entries_add(module->low, module->high, found, (uint32_t)used))
			why = "there is no room or no permission for code near the program's";
		agent_code_close_again(kept);
	}
	if (found)
		sys_unmap(found, count * sizeof(*found));
	if (why)
		entries_refuse(why);
	else if (used + left_out < count)
		entries_tell_short(module, count - used - left_out);
}

#else

static void entries_take(const struct agent_module_tables *module, const uint64_t *list, size_t count)
{
	(void)module;
	(void)list;
	(void)count;
	entries_refuse("the processor is not an x86-64");
}

#endif

/* ---- modules ---- */

/* The unwinder itself, and what it and this library need to work. */
static bool entries_is_foreign(const char *path)
{
	static const char *const names[] = {
	        "ld-linux", "libc.so", "libpthread.so", "libgcc_s.so", "libfxtagent.so"};
	const char *name = path;

	for (const char *at = path; *at; at++)
		if (*at == '/')
			name = at + 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool entries_were_examined(uint32_t id)
{
	return load_relaxed(&examined[id / 8]) & 1 << id % 8;
}

/* Finds the entries of a module whose code no thread executes yet. */
static void entries_examine(const struct agent_module_tables *module)
{
	uint8_t *bits = &examined[module->id / 8];
	const uint64_t *list;
	size_t count;

	if (entries_were_examined(module->id))
		return;
	store_relaxed(bits, (uint8_t)(*bits | 1 << module->id % 8));
	if (is_refused || entries_is_foreign(module->path))
		return;
	list = agent_entry_list(module, &count);
	if (list)
		entries_take(module, list, count);
}

void agent_entries_prepare(const uint8_t *enter, const uint8_t *leave)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);

	agent_thunk_blocks_prepare(enter, leave);
	agent_modules_each(entries_examine);
	agent_entry_list_end();
	fxt_unlock(&agent_engine.lock, mask);
}

/*
 * The start-up code of every module that a linker of the GNU system has made (crti.o) calls
 * this before the module's constructors, if it exists: that is when a library's code is
 * there and no thread executes it. Profilers define it for their own purposes, then theirs
 * is found first, which is not ours to change.
 */
EXPORT void __gmon_start__(void)
{
	uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0), mask;
	struct agent_module_tables module;
	uint32_t id;

	if (!load_relaxed(&agent_has_begun) || agent_engine.state == FXT_ENGINE_NONE ||
	        fxt_engine_was_forked(&agent_engine) || load_relaxed(&sys_confinement) != SYS_FREE)
		return;
	/* Without the lock: at a program's start all its modules come here once more. */
	id = agent_module_known_around(address);
	if (id && entries_were_examined(id))
		return;
	mask = fxt_lock(&agent_engine.lock);
	id = agent_module_around(address);
	if (id) {
		agent_module_describe(id, &module);
		entries_examine(&module);
		agent_entry_list_end();
	}
	fxt_unlock(&agent_engine.lock, mask);
}

/* ---- on and off ---- */

uint32_t agent_entries_count(void)
{
	return total;
}

uint32_t agent_entries_excluded(void)
{
	return load_relaxed(&excluded_count);
}

/* Changes an entry's first byte, unless something else is there, such as a debugger's
 * breakpoint. */
static bool entry_set(const struct entry *entry, bool to_jump)
{
	uint8_t now, wanted = to_jump ? JUMP : TEST;

	return agent_code_read(entry->address, &now, 1) && (now == JUMP || now == TEST) &&
	       (now == wanted || agent_code_write(entry->address, wanted));
}

static void entries_set_all(bool to_jump)
{
	for (unsigned i = 0; i < MODULES; i++)
		for (uint32_t n = 0; modules[i].high && n < modules[i].used; n++)
			entry_set(&modules[i].entries[n], to_jump && !modules[i].entries[n].is_excluded);
}

void agent_entries_follow_recording(bool is_helper)
{
	bool to_jump = agent_records_calls();
	uint64_t mask;
	int kept;

	if (to_jump == is_on)
		return;
	/* A library's entries may be written at this moment, as is_on says. */
	mask = fxt_lock(&agent_engine.lock);
	if (!total) {
		is_on = to_jump;
	} else if (is_helper ? agent_code_open() : agent_code_open_for_now(&kept)) {
		is_on = to_jump;
		entries_set_all(to_jump);
		if (!is_helper)
			agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

static struct entry *entries_of_thunk(uint64_t entered)
{
	uint32_t number;
	const struct agent_thunk_block *block = agent_thunk_find_block(entered, &number);

	for (unsigned i = 0; block && i < MODULES; i++)
		if (modules[i].high && modules[i].thunks == block)
			return number < modules[i].used ? &modules[i].entries[number] : NULL;
	return NULL;
}

bool agent_entries_exclude(uint64_t entered, uint64_t function)
{
	struct entry *entry = entries_of_thunk(entered);

	/* Other code may have been loaded there since. */
	if (!entry || ((const struct agent_thunk *)(uintptr_t)(entered & ~(uint64_t)(AGENT_THUNK_BYTES - 1)))
	                              ->function != function)
		return false;
	if (!entry->is_excluded) {
		entry->is_excluded = true;
		store_release(&excluded_count, excluded_count + 1);
	}
	return entry_set(entry, false);
}

void agent_entries_include_all(void)
{
	if (!excluded_count)
		return;
	for (unsigned i = 0; i < MODULES; i++)
		for (uint32_t n = 0; modules[i].high && n < modules[i].used; n++)
			if (modules[i].entries[n].is_excluded) {
				modules[i].entries[n].is_excluded = false;
				entry_set(&modules[i].entries[n], is_on);
			}
	store_release(&excluded_count, 0);
}

void agent_entries_retire(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MODULES; i++) {
		struct entries *m = &modules[i];

		if (!m->high || m->low >= end || m->high <= start)
			continue;
		for (uint32_t n = 0; n < m->used; n++)
			excluded_count -= m->entries[n].is_excluded;
		total -= m->used;
		entries_give_back(m);
		m->high = 0;
	}
}

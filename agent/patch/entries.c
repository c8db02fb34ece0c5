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
#include "agent/hook/returns.h"
#include "agent/hook/thunks.h"
#include "agent/process/modules.h"
#include "code.h"

#define MODULES    256
#define JUMP       0xe9 /* jmp rel32 */
#define TEST       0xa9 /* test $imm32, %eax */
#define STUB_BYTES 16   /* jmp *0(%rip) and an address */
#define PAGE       AGENT_THUNK_PAGE_BYTES
#define PER_PAGE   (PAGE / AGENT_THUNK_BYTES - 1)
#define PAGES      (AGENT_THUNKS_BYTES / PAGE)
#define NEAR       (UINT64_C(0x7fffffff) - (1 << 20)) /* what a jump reaches, less a margin */
#define NEAR_STEP  (UINT64_C(64) << 10)
#define LOWEST     (UINT64_C(64) << 10) /* no program maps memory below */

/* An entry: where its five bytes are. */
struct entry {
	uint64_t address;
	bool is_excluded;
};

/* A module with entries. Its thunks are in consecutive pages, in the order of entries. */
static struct entries {
	uint64_t low, high; /* of the module; 0: free */
	struct entry *entries;
	uint32_t count;
	uint32_t first_page, pages; /* of thunks */
	uint8_t *stubs;             /* NULL: the thunks are near */
} modules[MODULES];

static uint32_t total, excluded_count;
static bool is_on; /* the entries lead to their thunks; changes under the engine's lock */
static const uint8_t *thunks_enter, *thunks_leave; /* what thunks call */
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

#if ARCH_HAS_THUNKS

/* ---- thunks and stubs ---- */

/* Consecutive free pages for thunks; PAGES: there are none. */
static uint32_t entries_find_pages(uint32_t pages)
{
	uint32_t first = 0;

	for (unsigned i = 0; i < MODULES; i++) {
		if (modules[i].high && modules[i].first_page < first + pages &&
		        first < modules[i].first_page + modules[i].pages) {
			first = modules[i].first_page + modules[i].pages;
			i = (unsigned)-1; /* look at all again */
		}
	}
	return first + pages <= PAGES ? first : PAGES;
}

static uint64_t entries_thunk(const struct entries *m, uint32_t number)
{
	return (uint64_t)(uintptr_t)agent_thunks + (uint64_t)(m->first_page + number / PER_PAGE) * PAGE +
	       (number % PER_PAGE + 1) * AGENT_THUNK_BYTES;
}

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

/* Writes thunks and stubs. `scratch` has room for both. */
static bool entries_write_thunks(
        const struct entries *m, const struct agent_entry *found, uint8_t *scratch, size_t stub_bytes)
{
	uint64_t first = (uint64_t)(uintptr_t)agent_thunks + (uint64_t)m->first_page * PAGE;
	size_t bytes = (size_t)m->pages * PAGE;
	uint8_t *stubs = scratch + bytes;

	for (uint32_t page = 0; page < m->pages; page++) {
		struct agent_thunk_page head = agent_thunk_page_for(first + (uint64_t)page * PAGE);

		memcpy(scratch + (size_t)page * PAGE, &head, sizeof(head));
	}
	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t address = entries_thunk(m, i);
		struct agent_thunk thunk = agent_thunk_for(address, found[i].address + found[i].bytes,
		        found[i].function, thunks_enter, thunks_leave);

		memcpy(scratch + (address - first), &thunk, sizeof(thunk));
		if (m->stubs) {
			static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};

			memcpy(stubs + (size_t)i * STUB_BYTES, jump, sizeof(jump));
			memcpy(stubs + (size_t)i * STUB_BYTES + sizeof(jump), &address, sizeof(address));
		}
	}
	return entries_map_at(first, bytes, MAP_FIXED) && agent_code_write_bytes(first, scratch, bytes) &&
	       (!m->stubs || agent_code_write_bytes((uint64_t)(uintptr_t)m->stubs, stubs, stub_bytes));
}

/* Writes the entry's bytes, in the form that is in use now. */
static bool entries_write_entry(const struct entries *m, const struct agent_entry *found, uint32_t number)
{
	uint64_t target =
	        m->stubs ? (uint64_t)(uintptr_t)m->stubs + number * STUB_BYTES : entries_thunk(m, number);
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
	size_t scratch_bytes;
	uint8_t *scratch;
	bool is_done;

	next.pages = (count + PER_PAGE - 1) / PER_PAGE;
	next.first_page = entries_find_pages(next.pages);
	if (!m || next.first_page == PAGES || !agent_returns_prepare())
		return false;
	if (!entries_are_near(low, high) && !(next.stubs = entries_map_stubs(low, high, stub_bytes)))
		return false;
	scratch_bytes = (size_t)next.pages * PAGE + stub_bytes;
	scratch = sys_map(scratch_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	next.entries = sys_map(
	        count * sizeof(*next.entries), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	is_done = scratch && next.entries && entries_write_thunks(&next, found, scratch, stub_bytes);
	if (scratch)
		sys_unmap(scratch, scratch_bytes);
	if (!is_done) {
		if (next.entries)
			sys_unmap(next.entries, count * sizeof(*next.entries));
		if (next.stubs)
			sys_unmap(next.stubs, stub_bytes);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		next.entries[i].address = found[i].address;
		if (!entries_write_entry(&next, &found[i], i)) {
			next.count = i; /* the others stay as they are */
			break;
		}
	}
	*m = next;
	total += next.count;
	return next.count == count;
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

	thunks_enter = enter;
	thunks_leave = leave;
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
		for (uint32_t n = 0; modules[i].high && n < modules[i].count; n++)
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
	uint64_t offset = entered - (uint64_t)(uintptr_t)agent_thunks;
	uint32_t page = (uint32_t)(offset / PAGE), number = (uint32_t)(offset % PAGE / AGENT_THUNK_BYTES);

	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && page - modules[i].first_page < modules[i].pages && number) {
			uint32_t n = (page - modules[i].first_page) * PER_PAGE + number - 1;

			return n < modules[i].count ? &modules[i].entries[n] : NULL;
		}
	return NULL;
}

bool agent_entries_exclude(uint64_t entered, uint64_t function)
{
	struct entry *entry = agent_is_thunk(entered) ? entries_of_thunk(entered) : NULL;

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
		for (uint32_t n = 0; modules[i].high && n < modules[i].count; n++)
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
		for (uint32_t n = 0; n < m->count; n++)
			excluded_count -= m->entries[n].is_excluded;
		total -= m->count;
		sys_unmap(m->entries, m->count * sizeof(*m->entries));
		if (m->stubs)
			sys_unmap(m->stubs, entries_stub_bytes(m->count));
		m->high = 0;
	}
}

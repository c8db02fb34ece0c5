/*
 * Writes the slots of imports (imports.h). Runs on the starting thread, on a thread that
 * loads a module, and on the helper's thread, with the engine's lock held. It must write a
 * slot as a whole, and no thunk that a slot leads to.
 */
#include "imports.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "agent/hook/thunks.h"
#include "code.h"
#include "import_search.h"
#include "thunk_blocks.h"

static bool is_refused;

static void imports_refuse(const char *why)
{
	if (!is_refused)
		agent_notice("library calls (--library-calls) are not recorded: ", why, NULL);
	is_refused = true;
}

#if ARCH_HAS_THUNKS

#define BLOCKS    256
#define PER_BLOCK 252 /* four pages of thunks */
#define FUNCTIONS (BLOCKS * PER_BLOCK)
#define BUCKETS   (1 << 14)
#define MODULES   AGENT_MODULES

/* A function with a thunk. Its number, from 1, tells where the thunk is. */
struct import_function {
	uint64_t function; /* 0: free */
	uint64_t body;
	uint32_t next; /* in its bucket */
	bool is_excluded;
};

struct import_slot {
	uint64_t address;
	uint32_t function; /* its number; 0: the function is unloaded */
};

/* A module with slots. */
struct import_module {
	uint64_t low, high; /* of the module; 0: free */
	struct import_slot *slots;
	uint32_t count;
};

/* Mapped when the first module is examined: memory of this library's own would count
 * towards every program's limit of data. */
static struct imports {
	struct import_module modules[MODULES];
	uint32_t module_count;
	uint32_t buckets[BUCKETS];
	struct agent_thunk_block *blocks[BLOCKS]; /* where the thunks are */
	uint32_t block_count;
	uint32_t first_free; /* no function with a smaller number is free */
	struct import_function functions[FUNCTIONS];
} * imports;

static uint32_t total, excluded_count;
static bool is_on; /* the slots lead to thunks; changes under the engine's lock */

/* ---- functions ---- */

static struct import_function *function_at(uint32_t number)
{
	return &imports->functions[number - 1];
}

/* The number of functions that have a thunk or can get one. */
static uint32_t function_count(void)
{
	return imports->block_count * PER_BLOCK;
}

static uint64_t function_thunk(uint32_t number)
{
	return agent_thunk_of_block(imports->blocks[(number - 1) / PER_BLOCK], (number - 1) % PER_BLOCK);
}

/* The number of the function with the thunk that has this address; 0: none of ours. */
static uint32_t function_of_thunk(uint64_t address)
{
	uint32_t number;
	const struct agent_thunk_block *block = agent_thunk_find_block(address, &number);

	for (uint32_t i = 0; block && imports && i < imports->block_count; i++)
		if (imports->blocks[i] == block)
			return i * PER_BLOCK + number + 1;
	return 0;
}

static uint32_t *function_bucket(uint64_t function, uint64_t body)
{
	uint64_t mixed = (function ^ body << 1) * UINT64_C(0x9e3779b97f4a7c15);

	return &imports->buckets[mixed >> 50];
}

static struct agent_thunk_target no_target(const void *of, uint32_t number)
{
	(void)of;
	(void)number;
	return (struct agent_thunk_target){0, 0};
}

/* More room for thunks. False: there is none. */
static bool imports_add_block(void)
{
	struct agent_thunk_block *block =
	        imports->block_count < BLOCKS ? agent_thunk_block_make(PER_BLOCK, no_target, NULL) : NULL;

	if (block)
		imports->blocks[imports->block_count++] = block;
	return block;
}

/* The number of a free function; 0: there is no room. */
static uint32_t imports_free_function(void)
{
	uint32_t number = imports->first_free ? imports->first_free : 1;

	while (number <= function_count() && function_at(number)->function)
		number++;
	imports->first_free = number;
	return number <= function_count() || imports_add_block() ? number : 0;
}

/* The number of the function, with a thunk; 0: there is no room. */
static uint32_t imports_function(uint64_t function, uint64_t body)
{
	uint32_t *bucket = function_bucket(function, body), number;

	for (number = *bucket; number; number = function_at(number)->next)
		if (function_at(number)->function == function && function_at(number)->body == body)
			return number;
	number = imports_free_function();
	if (!number || !agent_thunk_remake(imports->blocks[(number - 1) / PER_BLOCK],
	                       (number - 1) % PER_BLOCK, (struct agent_thunk_target){function, body}))
		return 0;
	*function_at(number) = (struct import_function){.function = function, .body = body, .next = *bucket};
	*bucket = number;
	total++;
	return number;
}

/* Forgets a function that is unloaded. Slots that lead to it stay as they are. */
static void imports_forget_function(uint32_t number)
{
	struct import_function *gone = function_at(number);
	uint32_t *at = function_bucket(gone->function, gone->body);

	while (*at != number)
		at = &function_at(*at)->next;
	*at = gone->next;
	excluded_count -= gone->is_excluded;
	total--;
	*gone = (struct import_function){0};
	if (number < imports->first_free)
		imports->first_free = number;
}

/* ---- slots ---- */

/* Writes the address that the slot is to have now, unless the program has written another
 * one. */
static bool slot_set(const struct import_slot *slot, bool is_bound)
{
	const struct import_function *function = function_at(slot->function);
	uint64_t thunk = function_thunk(slot->function), now;
	uint64_t wanted = is_on && !function->is_excluded ? thunk : function->body;

	if (!agent_code_read(slot->address, &now, sizeof(now)) ||
	        (is_bound && now != thunk && now != function->body))
		return false;
	return now == wanted || agent_code_write_bytes(slot->address, &wanted, sizeof(wanted));
}

static void slots_set(uint32_t of_function)
{
	for (uint32_t i = 0; i < imports->module_count; i++)
		for (uint32_t n = 0; n < imports->modules[i].count; n++)
			if (imports->modules[i].slots[n].function &&
			        (!of_function || imports->modules[i].slots[n].function == of_function))
				slot_set(&imports->modules[i].slots[n], true);
}

/* Lets go of a slot once its function is forgotten. */
static void imports_clear_slot(struct import_slot *slot)
{
	if (slot->function && !function_at(slot->function)->function)
		slot->function = 0;
}

static struct import_module *imports_free_module(void)
{
	for (uint32_t i = 0; i < imports->module_count; i++)
		if (!imports->modules[i].high)
			return &imports->modules[i];
	return imports->module_count < MODULES ? &imports->modules[imports->module_count++] : NULL;
}

/* Leads the slots that were found to thunks. Returns NULL, or why not all are led there. */
static const char *imports_add(
        const struct agent_module_tables *module, const struct agent_import_target *targets, uint32_t count)
{
	struct import_module *m = imports_free_module();
	struct import_slot *slots =
	        sys_map(count * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uint32_t used = 0;

	if (!m || !slots)
		return "there is no memory for it";
	*m = (struct import_module){module->low, module->high, slots, 0};
	for (; used < count; used++) {
		slots[used] = (struct import_slot){
		        targets[used].slot, imports_function(targets[used].function, targets[used].body)};
		if (!slots[used].function)
			return "there is no room for more functions, or no permission for code";
		if (!slot_set(&slots[used], false))
			return "the system does not allow it to be written";
		m->count = used + 1;
	}
	return NULL;
}

static const char *imports_examine(
        const struct agent_module_tables *module, const void *dynamic, uint32_t count, uint8_t *scratch)
{
	struct agent_import *found = (struct agent_import *)scratch;
	struct agent_import_target *targets = (struct agent_import_target *)(found + count);
	struct fxt_control *control = agent_engine.control;
	const char *why = NULL;
	uint64_t matched = 0;
	int kept;

	count = agent_imports_find(module->base, dynamic, false, found, count);
	count = agent_import_search(module, found, count, control->library_calls, &matched, targets);
	store_relaxed(&control->library_calls_matched, control->library_calls_matched | matched);
	if (!count)
		return NULL;
	if (!agent_code_open_for_now(&kept))
		return "/proc/self/mem cannot be opened";
	why = imports_add(module, targets, count);
	agent_code_close_again(kept);
	return why;
}

/* The C library and this one, what these need, and runtimes that take the place of the C
 * library's functions. */
static const char *const foreign[] = {"ld-linux", "libc.so", "libpthread.so", "libgcc_s.so", "libfxtagent.so",
        "libm.so", "libmvec.so", "libdl.so", "librt.so", "libresolv.so", "libutil.so", "libanl.so", "libnss_",
        "libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libubsan.so", NULL};

void agent_imports_examine(const struct agent_module_tables *module)
{
	const void *dynamic = agent_module_dynamic(module);
	uint32_t count;
	size_t bytes;
	uint8_t *scratch;
	const char *why;

	if (agent_is_standalone || !agent_engine.control->records_library_calls || is_refused || !dynamic ||
	        agent_path_is_of(module->path, foreign))
		return;
	count = agent_imports_find(module->base, dynamic, false, NULL, 0);
	if (!count)
		return;
	if (!imports)
		imports = sys_map(sizeof(*imports), PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	bytes = count * (sizeof(struct agent_import) + sizeof(struct agent_import_target));
	scratch = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (arch_is_emulated())
		why = "an emulator runs the program";
	else if (!imports || !scratch)
		why = "there is no memory for it";
	else
		why = imports_examine(module, dynamic, count, scratch);
	if (scratch)
		sys_unmap(scratch, bytes);
	if (why)
		imports_refuse(why);
}

/* ---- on and off ---- */

uint32_t agent_imports_count(void)
{
	return total;
}

uint32_t agent_imports_excluded(void)
{
	return load_relaxed(&excluded_count);
}

void agent_imports_follow_recording(bool is_helper)
{
	bool to_thunks = agent_records_calls();
	uint64_t mask;
	int kept;

	if (to_thunks == is_on)
		return;
	/* A library's slots may be written at this moment, as is_on says. */
	mask = fxt_lock(&agent_engine.lock);
	if (!imports) {
		is_on = to_thunks;
	} else if (is_helper ? agent_code_open() : agent_code_open_for_now(&kept)) {
		is_on = to_thunks;
		slots_set(0);
		if (!is_helper)
			agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

bool agent_imports_call(uint64_t from, uint64_t function)
{
	uint32_t number = function_of_thunk(from);

	/* Other code may have been loaded there since. */
	return number && function_at(number)->function == function;
}

void agent_imports_exclude(uint64_t from)
{
	uint32_t number = function_of_thunk(from);

	if (function_at(number)->is_excluded)
		return;
	function_at(number)->is_excluded = true;
	store_release(&excluded_count, excluded_count + 1);
	slots_set(number);
}

void agent_imports_include_all(void)
{
	if (!excluded_count)
		return;
	for (uint32_t n = 1; n <= function_count(); n++)
		function_at(n)->is_excluded = false;
	store_release(&excluded_count, 0);
	slots_set(0);
}

void agent_imports_retire(uint64_t start, uint64_t end)
{
	if (!imports)
		return;
	for (uint32_t i = 0; i < imports->module_count; i++) {
		struct import_module *m = &imports->modules[i];

		if (!m->high || m->low >= end || m->high <= start)
			continue;
		sys_unmap(m->slots, m->count * sizeof(*m->slots));
		*m = (struct import_module){0};
	}
	for (uint32_t n = 1; n <= function_count(); n++)
		if (function_at(n)->function - start < end - start ||
		        function_at(n)->body - start < end - start)
			imports_forget_function(n);
	for (uint32_t i = 0; i < imports->module_count; i++)
		for (uint32_t n = 0; n < imports->modules[i].count; n++)
			imports_clear_slot(&imports->modules[i].slots[n]);
}

#else

void agent_imports_examine(const struct agent_module_tables *module)
{
	(void)module;
	if (!agent_is_standalone && agent_engine.control->records_library_calls)
		imports_refuse("the processor is not an x86-64");
}

uint32_t agent_imports_count(void)
{
	return 0;
}

uint32_t agent_imports_excluded(void)
{
	return 0;
}

void agent_imports_follow_recording(bool is_helper)
{
	(void)is_helper;
}

bool agent_imports_call(uint64_t from, uint64_t function)
{
	(void)from;
	(void)function;
	return false;
}

void agent_imports_exclude(uint64_t from)
{
	(void)from;
}

void agent_imports_include_all(void)
{
}

void agent_imports_retire(uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
}

#endif

/* Carries out plans (planned.h), on the thread that starts or loads a module. A plan comes
 * from a file; what it says is checked against the code in memory. */
#include "planned.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "agent/hook/thunks.h"
#include "agent/process/handshake.h"
#include "code.h"
#include "entry_search.h"
#include "moved.h"
#include "near.h"
#include "thunk_blocks.h"
#include "writer/shared/plan.h"
#include "writer/shared/search.h"

#define MODULES    256
#define PAGE       UINT64_C(4096)
#define STUB_BYTES 6 /* jmp *way(%rip) */
#define PLACE_STEP 16u

/* A function: where its stub is, from the beginning of `code`. */
struct planned_function {
	uint32_t stub;
	bool is_excluded;
};

static struct planned {
	uint64_t low, high; /* of the module; 0: free */
	uint32_t count;
	struct agent_thunk_block *thunks;
	uint8_t *code;
	size_t code_bytes, bytes;           /* of the code, and of all that is mapped there */
	uint64_t *ways;                     /* behind the code */
	struct planned_function *functions; /* behind those */
} modules[MODULES];

static uint32_t total, excluded_count;

static uint64_t planned_body(const struct planned *m, uint32_t number)
{
	return (uint64_t)(uintptr_t)m->code + m->functions[number].stub + STUB_BYTES;
}

static void planned_set(const struct planned *m, uint32_t number, bool is_recorded)
{
	store_release(&m->ways[number],
	        is_recorded ? agent_thunk_of_block(m->thunks, number) : planned_body(m, number));
}

static void planned_notice(const struct agent_module_tables *module, const char *why)
{
	agent_notice("--patch: no functions of ", module->path[0] ? module->path : "the program",
	        " are recorded: ", why, NULL);
}

#if ARCH_HAS_THUNKS

/* ---- a plan ---- */

static const struct fxt_plan_entry *plan_entries(const struct fxt_plan *plan)
{
	return (const struct fxt_plan_entry *)(plan + 1);
}

static const uint8_t *plan_code(const struct fxt_plan *plan)
{
	return (const uint8_t *)(plan_entries(plan) + plan->count);
}

static bool plan_is_whole(const struct fxt_plan *plan, uint64_t bytes)
{
	return bytes >= sizeof(*plan) && plan->magic == FXT_PLAN_MAGIC &&
	       bytes == sizeof(*plan) + plan->count * sizeof(struct fxt_plan_entry) + plan->code_bytes;
}

/* ---- carrying it out ---- */

/* A plan while it is carried out: the entries that fit, and the code that is written for
 * them. */
struct planned_work {
	const struct agent_module_tables *module;
	const struct fxt_plan *plan;
	struct planned m;
	uint32_t *chosen; /* numbers of entries in the plan */
	uint8_t *scratch; /* the code before it is written */
};

static const struct fxt_plan_entry *work_entry(const struct planned_work *w, uint32_t number)
{
	return &plan_entries(w->plan)[w->chosen[number]];
}

/* Puts a function's stub and moved instructions into the scratch. False: something there is
 * too far. */
static bool work_put(const struct planned_work *w, uint32_t number)
{
	const struct planned *m = &w->m;
	const struct fxt_plan_entry *e = work_entry(w, number);
	uint32_t stub = m->functions[number].stub;
	uint8_t *at = w->scratch + stub;
	uint64_t place = (uint64_t)(uintptr_t)m->code + stub;
	int32_t to_way = (int32_t)((uint64_t)(uintptr_t)&m->ways[number] - (place + STUB_BYTES));

	at[0] = 0xff;
	at[1] = 0x25;
	memcpy(at + 2, &to_way, sizeof(to_way));
	return agent_moved_put(w->module, e, plan_code(w->plan), at + STUB_BYTES, place + STUB_BYTES);
}

static struct agent_thunk_target work_target(const void *of, uint32_t number)
{
	const struct planned_work *w = of;

	return (struct agent_thunk_target){
	        w->module->base + work_entry(w, number)->function, planned_body(&w->m, number)};
}

/* The bytes of code that a function takes. */
static uint32_t work_bytes(const struct planned_work *w, uint32_t number)
{
	uint32_t bytes = STUB_BYTES + work_entry(w, number)->code_bytes;

	return (bytes + PLACE_STEP - 1) & ~(PLACE_STEP - 1);
}

/* Maps what lies near the module, and places the functions in it. */
static bool work_map(struct planned_work *w)
{
	struct planned *m = &w->m;
	size_t data_bytes = m->count * (sizeof(*m->ways) + sizeof(*m->functions));

	for (uint32_t i = 0; i < m->count; i++)
		m->code_bytes += work_bytes(w, i);
	m->code_bytes = (m->code_bytes + PAGE - 1) & ~(PAGE - 1);
	m->bytes = (m->code_bytes + data_bytes + PAGE - 1) & ~(PAGE - 1);
	m->code = agent_map_near(m->low, m->high, m->bytes);
	if (!m->code || sys_is_error(sys_call6(SYS_mmap, (long)(m->code + m->code_bytes),
	                        (long)(m->bytes - m->code_bytes), PROT_READ | PROT_WRITE,
	                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		return false;
	m->ways = (uint64_t *)(void *)(m->code + m->code_bytes);
	m->functions = (struct planned_function *)(void *)(m->ways + m->count);
	for (uint32_t i = 0, at = 0; i < m->count; i++) {
		m->functions[i].stub = at;
		at += work_bytes(w, i);
	}
	return true;
}

static bool work_write_code(const struct planned_work *w)
{
	for (uint32_t i = 0; i < w->m.count; i++)
		if (!work_put(w, i))
			return false;
	return agent_code_write_bytes((uint64_t)(uintptr_t)w->m.code, w->scratch, w->m.code_bytes);
}

/* The last step: from here on calls go by the stubs. */
static bool work_write_jumps(const struct planned_work *w)
{
	for (uint32_t i = 0; i < w->m.count; i++) {
		if (!agent_moved_jump(w->module, work_entry(w, i),
		            (uint64_t)(uintptr_t)w->m.code + w->m.functions[i].stub))
			return false;
	}
	return true;
}

static void planned_give_back(const struct planned *m)
{
	if (m->thunks)
		agent_thunk_block_free(m->thunks);
	if (m->code)
		sys_unmap(m->code, m->bytes);
}

static struct planned *planned_free_module(void)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (!modules[i].high)
			return &modules[i];
	return NULL;
}

/* Returns NULL, or why nothing is recorded. */
static const char *work_do(struct planned_work *w, bool is_on)
{
	struct planned *m = planned_free_module();
	bool is_written;

	if (!m)
		return "there are too many modules";
	if (!work_map(w)) {
		planned_give_back(&w->m);
		return "there is no room or no permission for code near the program's";
	}
	w->m.thunks = agent_thunk_block_make(w->m.count, work_target, w);
	w->scratch = sys_map(w->m.code_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	is_written = w->m.thunks && w->scratch && work_write_code(w);
	if (w->scratch)
		sys_unmap(w->scratch, w->m.code_bytes);
	if (!is_written) {
		planned_give_back(&w->m);
		return w->m.thunks ? "the system does not allow new code" : "there are too many functions";
	}
	for (uint32_t i = 0; i < w->m.count; i++)
		planned_set(&w->m, i, is_on);
	*m = w->m; /* jumps that are written stay, even if others cannot be */
	total += m->count;
	return work_write_jumps(w) ? NULL : "the system does not let their code be changed";
}

static void planned_carry_out(
        const struct agent_module_tables *module, const struct fxt_plan *plan, bool is_on)
{
	struct planned_work w = {
	        .module = module, .plan = plan, .m = {.low = module->low, .high = module->high}};
	size_t chosen_bytes = (plan->count + 1) * sizeof(*w.chosen);
	const char *why = NULL;
	int kept;

	w.chosen = sys_map(chosen_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!w.chosen) {
		planned_notice(module, "there is no memory for it");
		return;
	}
	if (!agent_code_open_for_now(&kept)) {
		why = "/proc/self/mem cannot be opened";
	} else {
		agent_code_forget();
		for (uint32_t i = 0; i < plan->count; i++)
			if (agent_moved_is_valid(&plan_entries(plan)[i], plan->code_bytes) &&
			        agent_moved_fits(module, &plan_entries(plan)[i]))
				w.chosen[w.m.count++] = i;
		if (w.m.count)
			why = work_do(&w, is_on);
		agent_code_close_again(kept);
	}
	sys_unmap(w.chosen, chosen_bytes);
	if (why)
		planned_notice(module, why);
}

/* Whether the module's plan was carried out before a detach. */
static bool planned_is_known(const struct agent_module_tables *module)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && modules[i].low == module->low)
			return true;
	return false;
}

void agent_planned_take(const struct agent_module_tables *module, bool is_on)
{
	const struct fxt_plan *plan;
	uint64_t bytes;

	if (agent_is_standalone || agent_engine.control->patches == FXT_PATCH_NOTHING ||
	        planned_is_known(module) ||
	        (agent_engine.control->patches == FXT_PATCH_PROGRAM && module->id != AGENT_MODULE_PROGRAM))
		return;
	if (arch_is_emulated()) {
		planned_notice(module, "an emulator runs the program");
		return;
	}
	plan = agent_request_plan(FXT_PLAN_PATCHES, module->path, &bytes);
	if (!plan)
		return;
	if (plan_is_whole(plan, bytes))
		planned_carry_out(module, plan, is_on);
	sys_unmap((void *)plan, bytes);
}

#else

void agent_planned_take(const struct agent_module_tables *module, bool is_on)
{
	(void)is_on;
	if (!agent_is_standalone && agent_engine.control->patches != FXT_PATCH_NOTHING &&
	        module->id == AGENT_MODULE_PROGRAM)
		planned_notice(module, "the processor is not an x86-64");
}

static void planned_give_back(const struct planned *m)
{
	(void)m;
}

#endif

/* ---- on and off ---- */

uint32_t agent_planned_count(void)
{
	return total;
}

uint32_t agent_planned_excluded(void)
{
	return load_relaxed(&excluded_count);
}

void agent_planned_follow_recording(bool is_on)
{
	for (unsigned i = 0; i < MODULES; i++)
		for (uint32_t n = 0; modules[i].high && n < modules[i].count; n++)
			planned_set(&modules[i], n, is_on && !modules[i].functions[n].is_excluded);
}

/* The module and the number of the function whose thunk has an address; NULL: no planned
 * one. */
static struct planned *planned_find(uint64_t from, uint32_t *number)
{
	const struct agent_thunk_block *block = agent_thunk_find_block(from, number);

	for (unsigned i = 0; block && i < MODULES; i++)
		if (modules[i].high && modules[i].thunks == block)
			return &modules[i];
	return NULL;
}

/* The function of a thunk with that address. */
static uint64_t planned_function(uint64_t thunk)
{
	thunk &= ~(uint64_t)(AGENT_THUNK_BYTES - 1);
	return ((const struct agent_thunk *)(uintptr_t)thunk)->function;
}

bool agent_planned_call(uint64_t from, uint64_t function)
{
	uint32_t number;

	return planned_find(from, &number) && planned_function(from) == function;
}

/* A module's functions are in the order of their addresses. */
static bool planned_have(const struct planned *m, uint64_t function)
{
	uint64_t at =
	        partition_point(i, m->count, planned_function(agent_thunk_of_block(m->thunks, i)) < function);

	return at < m->count && planned_function(agent_thunk_of_block(m->thunks, at)) == function;
}

bool agent_planned_has(uint64_t function)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && function >= modules[i].low && function < modules[i].high &&
		        planned_have(&modules[i], function))
			return true;
	return false;
}

bool agent_planned_exclude(uint64_t from)
{
	uint32_t number;
	struct planned *m = planned_find(from, &number);

	if (!m)
		return false;
	if (!m->functions[number].is_excluded)
		store_release(&excluded_count, excluded_count + 1);
	m->functions[number].is_excluded = true;
	planned_set(m, number, false);
	return true;
}

void agent_planned_include_all(bool is_on)
{
	for (unsigned i = 0; excluded_count && i < MODULES; i++)
		for (uint32_t n = 0; modules[i].high && n < modules[i].count; n++)
			if (modules[i].functions[n].is_excluded) {
				modules[i].functions[n].is_excluded = false;
				planned_set(&modules[i], n, is_on);
			}
	store_release(&excluded_count, 0);
}

void agent_planned_retire(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MODULES; i++) {
		struct planned *m = &modules[i];

		if (!m->high || m->low >= end || m->high <= start)
			continue;
		for (uint32_t n = 0; n < m->count; n++)
			excluded_count -= m->functions[n].is_excluded;
		total -= m->count;
		planned_give_back(m);
		m->high = 0;
	}
}

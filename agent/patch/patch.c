/*
 * Patches call sites of excluded functions and puts them back (patch.h). Hooks only note
 * sites in a queue, without a lock or a system call. The helper's thread does the rest; a
 * forked child puts back the sites that it inherited, and a thread that unloads code drops
 * its patches. A byte is never changed before it is in the list of patches.
 */
#include "patch.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "code.h"
#include "entries.h"
#include "imports.h"
#include "agent/hook/frames.h"
#include "agent/process/modules.h"
#include "writer/engine/decisions.h"
#include "writer/format/encode.h"

#define SITES              32768u
#define PROBES             16
#define PATIENCE           4096 /* calls of a site until it is looked at again, at first */
#define TRIES              17   /* after this many it is not doubled any more */
#define PATIENCE_UNDECIDED 1024 /* the fixed number if a decision was missing */
#define LOOKS              1024

/* Code is not looked at again sooner than this: for long functions a look takes
 * milliseconds. */
#define LOOK_NS UINT64_C(250000000)
/* The shortest such time if a decision was missing. */
#define LOOK_UNDECIDED_NS UINT64_C(4000000)

/* After a site that stays, a thread skips this many excluded calls before it asks again. */
#define PAUSE_CALLS 64

/* Hooks do not wake the helper: they make no system call that a sandbox might forbid. The
 * helper looks at the queue itself, less and less often while it is empty. */
#define PAUSE_NS     UINT64_C(1000000)
#define PAUSE_MAX_NS UINT64_C(1000000000)
#define FOREVER_NS   (UINT64_C(1) << 62)

/* at most this many are reported, because they take room among the names */
#define SPANS 1000
#define SPAN  1 /* the id of all of them: no two exist at the same time */

enum site_state {
	SITE_UNSEEN = 0,
	SITE_KEPT,  /* not yet: something prevents it */
	SITE_NOTED, /* it is in the queue */
	/* hooks may still come from it: if they were on their way, or if an emulator runs
	 * its old translation */
	SITE_ERASED,
	SITE_REFUSED,
};

/* All tables are mapped before the first site is noted: most programs never have one. */

/* Call sites of hooks, by return address and kind of hook. A site's key never changes. */
static struct site {
	uint64_t key;      /* return address << 1 | is_exit; 0 = free. Set by hooks */
	uint64_t function; /* the latest function that the hook was called for */
	uint32_t state;    /* enum site_state */
	/* of a site that is KEPT: about this many calls until it is noted again */
	uint32_t wait;
} * sites;

/* The sites that the helper has looked at since all were put back, and how often. Each time
 * a site is KEPT, its wait doubles. Used by the helper. */
static uint32_t *looked_at, looked_at_count;
static uint8_t *tries;

/* 1 + the index of each site that is NOTED. Hooks add sites and the helper removes them.
 * Each site is in it at most once. */
static uint32_t *queue;
static uint32_t queue_end, queue_begin;

/* Patches that were written, or are about to be. Used by the helper; a forked child finds
 * the list as it was at the fork. */
static struct agent_patch_site *patches;
static uint32_t patch_count;

/* Code that was looked at, by its start. Its hook calls that may go are patched. */
static struct look {
	uint64_t start;
	uint64_t until;        /* it is not looked at again before this time */
	uint64_t undecided_ns; /* the length of that wait if a decision was missing; 0: none was */
} * looks;

static bool is_refused;   /* the system does not allow it */
static bool is_open;      /* the helper has opened the memory */
static bool is_undecided; /* the code just looked at awaits decisions */
static uint32_t spans;    /* the number that have ended */
static uint64_t pause_ns = PAUSE_NS;
static uint64_t hooks[2];

void agent_patch_prepare(void (*enter)(void *, void *), void (*leave)(void *, void *))
{
	hooks[0] = (uint64_t)(uintptr_t)enter;
	hooks[1] = (uint64_t)(uintptr_t)leave;
}

/* ---- in hooks ---- */

static struct site *patch_site(uint64_t key)
{
	/* neighbours share pages, since a touched page stays in memory */
	uint64_t home = key >> 3;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct site *site = &sites[(home + i) % SITES];
		uint64_t found = load_relaxed(&site->key);

		if (found == 0 && compare_exchange_acquire(&site->key, &found, key))
			return site;
		if (found == key)
			return site;
	}
	return NULL;
}

static void patch_note(struct site *site, uint64_t function)
{
	uint32_t at = add_relaxed(&queue_end, 1);

	store_relaxed(&site->function, function);
	/* Release: the function is there. Pairs with the helper's acquire. */
	store_release(&queue[at % SITES], (uint32_t)(site - sites) + 1);
}

void agent_patch_note(const void *function, uint64_t stack_pointer, bool is_exit)
{
	struct site *site = NULL;
	uint32_t state = SITE_REFUSED, wait;
	uint64_t address = arch_return_address(stack_pointer);

	/* No address: the exit of a prepared entry's call (agent/hook/prepared.c). */
	if (ARCH_CAN_ERASE && load_relaxed(&agent_notes) && address)
		site = patch_site(address << 1 | is_exit);
	if (site)
		state = load_relaxed(&site->state);
	if (state > SITE_KEPT) {
		agent_self.patch_pause = state == SITE_NOTED ? 0 : PAUSE_CALLS;
		return;
	}
	wait = load_relaxed(&site->wait);
	if (wait) {
		agent_self.patch_pause = PAUSE_CALLS;
		store_relaxed(&site->wait, wait > PAUSE_CALLS ? wait - PAUSE_CALLS : 0);
	} else if (compare_exchange_acquire(&site->state, &state, SITE_NOTED)) {
		patch_note(site, (uint64_t)(uintptr_t)function);
	}
}

/* ---- in the helper ---- */

/* Records in the trace that there are patched sites from now on, or none any more. The
 * engine's lock is held. */
static void patch_report(enum fxt_event_type type, uint32_t sites_patched)
{
	static const char category[] = "fxt", name[] = "fxt: call sites erased", count[] = "sites";
	struct fxt_engine *e = &agent_engine;
	uint64_t record[32];
	struct fxt_argument argument =
	        fxt_argument_uint32(fxt_string_inline(count, sizeof(count) - 1), sites_patched);
	size_t words = fxt_put_event(record, sizeof(record) / 8, type,
	        fxt_thread_inline(e->process_koid, (uint64_t)e->pid),
	        fxt_string_inline(category, sizeof(category) - 1), fxt_string_inline(name, sizeof(name) - 1),
	        fxt_clock_ticks(e->clock), &argument, type == FXT_EVENT_ASYNC_END, SPAN);

	if (e->state == FXT_ENGINE_STARTED && !fxt_engine_was_forked(e) && spans < SPANS)
		fxt_durable_write(e, record, words, false);
	spans += type == FXT_EVENT_ASYNC_END;
}

/* Whether a thread has a call of the function open, with a frame. */
static bool patch_is_open(uint64_t function)
{
	const struct fxt_engine *e = &agent_engine;
	uint32_t used = load_acquire(&e->control->slots_used);

	for (uint32_t i = 0; i < used; i++) {
		const struct fxt_thread_slot *slot = fxt_slot(e, i);
		const struct fxt_frame *frame = fxt_slot_frames(e, slot), *top;

		if (load_acquire(&slot->state) != FXT_SLOT_LIVE)
			continue;
		top = (const struct fxt_frame *)(uintptr_t)load_acquire(&slot->top);
		if ((uint64_t)(uintptr_t)top - (uint64_t)(uintptr_t)frame > slot->stack_bytes)
			return true; /* its stack is being moved */
		for (; frame < top; frame++)
			if (is_frame_of(frame, (const void *)(uintptr_t)function))
				return true;
	}
	return false;
}

/* Calls of a function may go if the function is excluded and none of them has a frame: the
 * exit would have to take that off. */
static enum agent_code_answer patch_answer(uint64_t function)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t word, index;

	if (!agent_records_calls())
		return AGENT_CODE_EXCLUDED;
	word = fxt_function_search(e, function);
	/* Asks the manager to decide on a function that was not called yet, unless the
	 * function's first call will wait for the decision. */
	if (!word && !e->control->awaits_decisions && agent_code_is_function(function))
		word = fxt_function_register(e, function, agent_module_known_around(function));
	if (word && !(word & FXT_FUNCTION_EXCLUDED)) { /* the decision may have come just now */
		fxt_decisions_carry_out_on(e, word);
		word = fxt_function_search(e, function);
	}
	if (word & FXT_FUNCTION_EXCLUDED)
		return e->filter_changes && patch_is_open(function) ? AGENT_CODE_RECORDED
		                                                    : AGENT_CODE_EXCLUDED;
	index = word & FXT_INDEX_LOCAL;
	return word && index < FXT_DECISIONS && !load_relaxed(fxt_decision(e->control, (uint32_t)index))
	               ? AGENT_CODE_UNDECIDED
	               : AGENT_CODE_RECORDED;
}

/* Writes a patch. It is in the list before it is in the code. */
static bool patch_write(struct agent_patch_site patch)
{
	uint8_t now;

	if (patch_count == SITES || !agent_code_read(patch.address, &now, 1) || now != patch.before)
		return false;
	patches[patch_count] = patch;
	/* Release: a child that is forked here has the patch. */
	store_release(&patch_count, patch_count + 1);
	if (agent_code_write(patch.address, patch.after)) {
		if (patch_count == 1)
			patch_report(FXT_EVENT_ASYNC_BEGIN, 1);
		return true;
	}
	store_release(&patch_count, patch_count - 1);
	is_refused = true;
	return false;
}

/* ---- sites shared by functions ---- */

static void patch_restore(uint64_t start, uint8_t *copy, uint64_t bytes)
{
	for (uint32_t i = 0; i < patch_count; i++)
		if (patches[i].address - start < bytes &&
		        copy[patches[i].address - start] == patches[i].after)
			copy[patches[i].address - start] = patches[i].before;
}

static enum agent_code_answer patch_answer_of_code(uint64_t function)
{
	enum agent_code_answer answer = patch_answer(function);

	is_undecided = is_undecided || answer == AGENT_CODE_UNDECIDED;
	return answer;
}

static void patch_one(uint64_t address, bool may_go)
{
	struct agent_patch_site patch;

	if (may_go && agent_code_is_of_file(address) && agent_code_find(address, hooks, &patch))
		patch_write(patch);
}

/* The next pause for code that still misses a decision, after a pause of `ns`. */
static uint64_t patch_pause_after(uint64_t ns)
{
	if (!ns)
		return LOOK_UNDECIDED_NS;
	return 2 * ns < LOOK_NS ? 2 * ns : LOOK_NS;
}

/* Patches the sites that may go in the code around an address, which has a hook call for
 * `function`, unless that was done recently. */
static void patch_around(uint64_t address, uint64_t function)
{
	const struct agent_code_questions questions = {
	        .hooks = {hooks[0], hooks[1]},
	        .ask = patch_answer_of_code,
	        .restore = patch_restore,
	        .tell = patch_one,
	};
	uint64_t start = agent_code_start(address);
	struct look *look = &looks[(start >> 4) % LOOKS];

	if (look->start != start)
		*look = (struct look){.start = start};
	if (fxt_monotonic_ns() >= look->until) {
		agent_code_look(address, function, &questions);
		look->undecided_ns = is_undecided ? patch_pause_after(look->undecided_ns) : 0;
		look->until = fxt_monotonic_ns() + (is_undecided ? look->undecided_ns : LOOK_NS);
	}
	is_undecided = look->undecided_ns != 0;
}

/* Handles an exit hook that is a tail jump. The hook appears to be called by its caller's
 * caller. Its site is therefore unknown, and so is whether it is patched. */
static enum site_state patch_tails(uint64_t function)
{
	if (!agent_module_is_code(function) || !agent_code_is_of_file(function) ||
	        agent_code_start(function) != function)
		return SITE_REFUSED;
	patch_around(function, function);
	return SITE_KEPT;
}

static enum site_state patch_site_now(const struct site *site, uint64_t function)
{
	struct agent_patch_site patch;
	uint64_t return_address = site->key >> 1;
	bool is_exit = site->key & 1;

	is_undecided = false;
	agent_code_begin();
	if (agent_entries_call(return_address, function)) {
		if (patch_answer(function) != AGENT_CODE_EXCLUDED)
			return SITE_KEPT;
		return agent_entries_exclude(return_address) ? SITE_ERASED : SITE_REFUSED;
	}
	if (agent_imports_call(return_address, function)) {
		if (patch_answer(function) != AGENT_CODE_EXCLUDED)
			return SITE_KEPT;
		agent_imports_exclude(return_address);
		return SITE_ERASED;
	}
	if (!agent_module_known_around(return_address) || patch_answer(function) != AGENT_CODE_EXCLUDED)
		return SITE_KEPT;
	if (!agent_code_find_call(return_address, hooks, is_exit, &patch))
		return is_exit ? patch_tails(function) : SITE_REFUSED;
	if (!agent_module_is_code(patch.address) || !agent_code_is_of_file(patch.address))
		return SITE_REFUSED;
	if (!agent_records_calls())
		return patch_write(patch) ? SITE_ERASED : SITE_REFUSED;
	patch_around(patch.address, function);
	return agent_code_find(patch.address, hooks, &patch) ? SITE_KEPT : SITE_ERASED;
}

static struct site *patch_take(void)
{
	uint32_t *at = &queue[queue_begin % SITES];
	/* Acquire: pairs with the release of hooks. */
	uint32_t number = load_acquire(at);

	if (!number)
		return NULL;
	store_relaxed(at, 0);
	store_relaxed(&queue_begin, queue_begin + 1);
	return &sites[number - 1];
}

static void patch_settle(struct site *site, enum site_state state)
{
	uint32_t index = (uint32_t)(site - sites);

	if (!tries[index])
		looked_at[looked_at_count++] = index;
	if (!tries[index] || (tries[index] < TRIES && !is_undecided))
		tries[index]++;
	if (state == SITE_KEPT)
		store_relaxed(&site->wait,
		        is_undecided ? PATIENCE_UNDECIDED : (uint32_t)PATIENCE << (tries[index] - 1));
	store_relaxed(&site->state, state);
}

/* Until a change is reported as carried out, threads may be inside hooks that use the
 * previous filter. */
static bool patch_is_changing(void)
{
	const struct fxt_control *control = agent_engine.control;

	return load_relaxed(&control->filter_changes) != load_relaxed(&control->filter_carried_out);
}

/* Carries out new decisions, then handles the next site in the queue. False: the queue is
 * empty. */
static bool patch_next(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	uint32_t decided = agent_engine.decided;
	struct site *site;

	fxt_decisions_carry_out(&agent_engine);
	site = patch_take();
	if (site)
		patch_settle(site, patch_site_now(site, load_relaxed(&site->function)));
	/* new excluded functions: calls are noted soon */
	if (site || agent_engine.decided != decided)
		pause_ns = PAUSE_NS;
	fxt_unlock(&agent_engine.lock, mask);
	return site != NULL;
}

/* False: there is no memory. */
static bool patch_map_tables(void)
{
	struct {
		struct site sites[SITES];
		struct agent_patch_site patches[SITES];
		struct look looks[LOOKS];
		uint32_t looked_at[SITES], queue[SITES];
		uint8_t tries[SITES];
	} * tables;

	if (sites)
		return true;
	tables = sys_map(sizeof(*tables), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!tables)
		return false;
	patches = tables->patches;
	looks = tables->looks;
	looked_at = tables->looked_at;
	queue = tables->queue;
	tries = tables->tries;
	sites = tables->sites;
	return true;
}

uint64_t agent_patch_work(void)
{
	const struct fxt_control *control = agent_engine.control;

	if (!ARCH_CAN_ERASE || !control->erases || is_refused ||
	        (agent_records_calls() && !load_relaxed(&control->has_filter)))
		return FOREVER_NS;
	/* An emulator may run its old translation, and miss writes to memory. */
	if (!is_open && (arch_is_emulated() || !patch_map_tables() || !agent_code_open())) {
		is_refused = true;
		return FOREVER_NS;
	}
	is_open = true;
	agent_set_noting(true);
	pause_ns = pause_ns < PAUSE_MAX_NS ? pause_ns * 2 : pause_ns;
	while (!is_refused && !patch_is_changing() && patch_next())
		;
	if (is_refused)
		agent_set_noting(false);
	return is_refused ? FOREVER_NS : pause_ns;
}

/* ---- putting back ---- */

/* Puts one byte back if the page cannot be written in another way. */
static bool patch_put_back_by_mapping(const struct agent_patch_site *patch)
{
	const uint64_t page_bytes = 4096;
	long page = (long)(patch->address & ~(page_bytes - 1));

	if (sys_call(SYS_mprotect, page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, 0) != 0)
		return false;
	store_relaxed((uint8_t *)(uintptr_t)patch->address, patch->before);
	sys_call(SYS_mprotect, page, page_bytes, PROT_READ | PROT_EXEC, 0);
	return true;
}

/* Only if nothing else was written there since, such as a debugger's breakpoint, or mapped
 * there. */
static bool patch_put_back(const struct agent_patch_site *patch)
{
	uint8_t now, rest[AGENT_CODE_REST];

	if (agent_code_read(patch->address + 1, rest, sizeof(rest)) &&
	        memcmp(rest, patch->rest, sizeof(rest)) != 0)
		return true; /* it is other code */
	if (!agent_code_read(patch->address, &now, 1))
		return now = *(const volatile uint8_t *)(uintptr_t)patch->address,
		       now == patch->before || (now == patch->after && patch_put_back_by_mapping(patch));
	return now == patch->before ||
	       (now == patch->after &&
	               (agent_code_write(patch->address, patch->before) || patch_put_back_by_mapping(patch)));
}

/* Puts back all exit hooks, or all entry hooks. Patches that cannot be put back stay in the
 * list. */
static void patch_put_all_back(bool is_exit)
{
	uint32_t kept = 0, count = patch_count;

	for (uint32_t i = 0; i < count; i++) {
		if (patches[i].is_exit == is_exit && patch_put_back(&patches[i]))
			continue;
		patches[kept++] = patches[i];
	}
	store_release(&patch_count, kept);
}

static void patch_forget_code(void)
{
	if (looks)
		memset(looks, 0, LOOKS * sizeof(*looks));
	agent_code_forget();
}

static void patch_forget_sites(void)
{
	for (uint32_t i = 0; i < looked_at_count; i++) {
		struct site *site = &sites[looked_at[i]];

		tries[looked_at[i]] = 0;
		store_relaxed(&site->wait, 0);
		if (load_relaxed(&site->state) > SITE_NOTED)
			store_relaxed(&site->state, SITE_UNSEEN);
	}
	looked_at_count = 0;
	patch_forget_code();
}

void agent_patch_undo(void)
{
	uint32_t before;
	uint64_t mask;

	if (!is_open)
		return;
	mask = fxt_lock(&agent_engine.lock);
	before = patch_count;
	patch_put_all_back(true);
	agent_entries_include_all(true);
	sys_membarrier(); /* a thread that sees a restored entry hook sees its exit hook */
	patch_put_all_back(false);
	agent_entries_include_all(false);
	agent_imports_include_all();
	sys_membarrier();
	patch_forget_sites();
	pause_ns = PAUSE_NS;
	if (before && !patch_count)
		patch_report(FXT_EVENT_ASYNC_END, before);
	if (patch_count)
		store_relaxed(&agent_engine.control->sites_stuck, patch_count);
	fxt_unlock(&agent_engine.lock, mask);
}

void agent_patch_end(void)
{
	agent_patch_undo();
	agent_set_noting(false);
	agent_code_close();
	is_open = is_refused = false;
}

uint32_t agent_patch_sites(void)
{
	return load_relaxed(&patch_count) + agent_entries_excluded() + agent_imports_excluded();
}

bool agent_patch_undo_inherited(void)
{
	bool is_done = true;

	agent_set_noting(false);
	is_open = is_refused = false;
	if (!queue_end) /* no site was ever noted */
		return true;
	if (agent_patch_sites()) {
		agent_code_open_shared();
		for (uint32_t i = 0; i < patch_count; i++)
			is_done = patch_put_back(&patches[i]) && is_done;
		agent_entries_include_all(true);
		agent_entries_include_all(false);
		agent_imports_include_all();
		agent_code_close();
	}
	for (uint32_t i = 0; i < SITES; i++) {
		if (sites[i].key)
			sites[i] = (struct site){0};
		if (queue[i])
			queue[i] = 0;
		if (tries[i])
			tries[i] = 0;
	}
	queue_begin = queue_end = patch_count = spans = looked_at_count = 0;
	patch_forget_code();
	return is_done;
}

void agent_patch_retire(uint64_t start, uint64_t end)
{
	uint32_t kept = 0, count = patch_count;

	if (is_open)
		patch_forget_code(); /* other code may be loaded there */
	for (uint32_t i = 0; i < count; i++)
		if (patches[i].address - start >= end - start)
			patches[kept++] = patches[i];
	if (kept == count)
		return;
	store_release(&patch_count, kept);
	if (!kept)
		patch_report(FXT_EVENT_ASYNC_END, count);
	patch_forget_sites();
}

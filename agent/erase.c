#include "erase.h"
#include <string.h>
#include <sys/mman.h>
#include "arch.h"
#include "code.h"
#include "frames.h"
#include "modules.h"
#include "writer/decisions.h"
#include "writer/encode.h"

#define SITES         32768u
#define PROBES        16
#define PATIENCE      4096 /* so many calls of a site until it is looked at again, at first */
#define TRIES         16   /* how often that is doubled */
#define VERDICTS      1024
#define CALL_VERDICTS 16384

/* What stays is looked at again no sooner: looking at long functions takes milliseconds. */
#define VERDICT_NS UINT64_C(250000000)

/* So many calls of a thread that are left out are not looked at behind one whose site stays. */
#define PAUSE_CALLS 64

/* Hooks wake nobody: they make no system call that a sandbox might forbid. So the helper looks at the queue,
 * more and more rarely while it is empty. */
#define PAUSE_NS     UINT64_C(1000000)
#define PAUSE_MAX_NS UINT64_C(1000000000)
#define FOREVER_NS   (UINT64_C(1) << 62)

#define SPANS 1000 /* so many are told, for the room that they take among the names */
#define SPAN  1    /* the id of all of them: no two at a time */

enum site_state {
	SITE_UNSEEN = 0,
	SITE_KEPT,   /* not yet: something is in the way */
	SITE_NOTED,  /* it is in the queue */
	SITE_ERASED, /* hooks come from it still if they were on their way, or an emulator goes by what it has
	                translated */
	SITE_REFUSED,
};

/* Where hooks were called from, by that address and by which hook. What a site is named by stays. */
static struct site {
	uint64_t key;      /* return address << 1 | is_exit; 0 = free. Taken by hooks */
	uint64_t function; /* for which the hook was called last */
	uint32_t state;    /* enum site_state */
	uint32_t wait;     /* of a site that is KEPT: for so many calls, about, it is not noted again */
} sites[SITES];

/* How often a site was KEPT: each time it is left alone for twice as long. By the helper. */
static uint8_t tries[SITES];

/* Sites that are NOTED, 1 + their index: put in by hooks, taken out by the helper. Each is in it once. */
static uint32_t queue[SITES];
static uint32_t queue_end, queue_begin;

/* What was written, or is about to be. By the helper; a forked child finds it as it was at the fork. */
static struct agent_patch patches[SITES];
static uint32_t patch_count;

/* What was found out of code. That something may go holds until all is put back, as long as the code is
 * there; that it stays, for VERDICT_NS. */
static struct verdict {
	uint64_t start, end, function; /* code that is not shared, or not understood */
	uint64_t until;
	bool may_go;
} verdicts[VERDICTS];

/* The same of calls of hooks, where the code is shared. */
static struct call_verdict {
	uint64_t address;
	uint64_t until;
	bool may_go;
} call_verdicts[CALL_VERDICTS];

static bool is_refused; /* the system does not allow it */
static bool is_open;    /* the helper has opened the memory */
static uint32_t spans;  /* that have ended */
static uint64_t pause_ns = PAUSE_NS;
static uint64_t hooks[2];

void agent_erase_prepare(void (*enter)(void *, void *), void (*leave)(void *, void *))
{
	hooks[0] = (uint64_t)(uintptr_t)enter;
	hooks[1] = (uint64_t)(uintptr_t)leave;
}

/* ---- in hooks ---- */

static struct site *erase_site(uint64_t key)
{
	uint64_t home = key >> 3; /* neighbours share pages, which a process has touched for good */

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

static void erase_note(struct site *site, uint64_t function)
{
	uint32_t at = add_relaxed(&queue_end, 1);

	store_relaxed(&site->function, function);
	/* Release: the function is there. Pairs with the helper's acquire. */
	store_release(&queue[at % SITES], (uint32_t)(site - sites) + 1);
}

void agent_erase_note(const void *function, uint64_t stack_pointer, bool is_exit)
{
	struct site *site = NULL;
	uint32_t state = SITE_REFUSED, wait;

	if (ARCH_CAN_ERASE && load_relaxed(&agent_notes))
		site = erase_site(arch_return_address(stack_pointer) << 1 | is_exit);
	if (site)
		state = load_relaxed(&site->state);
	if (state > SITE_KEPT) {
		agent_self.erase_pause = state == SITE_NOTED ? 0 : PAUSE_CALLS;
		return;
	}
	wait = load_relaxed(&site->wait);
	if (wait) {
		agent_self.erase_pause = PAUSE_CALLS;
		store_relaxed(&site->wait, wait > PAUSE_CALLS ? wait - PAUSE_CALLS : 0);
	} else if (compare_exchange_acquire(&site->state, &state, SITE_NOTED)) {
		erase_note(site, (uint64_t)(uintptr_t)function);
	}
}

/* ---- in the helper ---- */

/* Says in the trace that from now on there are sites that are taken out, or no more. With the engine's lock
 * held. */
static void erase_tell(enum fxt_event_type type, uint32_t sites_erased)
{
	static const char category[] = "fxt", name[] = "fxt: call sites erased", count[] = "sites";
	struct fxt_engine *e = &agent_engine;
	uint64_t record[32];
	struct fxt_argument argument =
	        fxt_argument_uint32(fxt_string_inline(count, sizeof(count) - 1), sites_erased);
	size_t words = fxt_put_event(record, sizeof(record) / 8, type,
	        fxt_thread_inline(e->process_koid, (uint64_t)e->pid),
	        fxt_string_inline(category, sizeof(category) - 1), fxt_string_inline(name, sizeof(name) - 1),
	        fxt_clock_ticks(e->clock), &argument, type == FXT_EVENT_ASYNC_END, SPAN);

	if (e->state == FXT_ENGINE_STARTED && !fxt_engine_was_forked(e) && spans < SPANS)
		fxt_durable_write(e, record, words, false);
	spans += type == FXT_EVENT_ASYNC_END;
}

static bool erase_is_left_out(uint64_t function)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t word;

	if (!agent_records_calls())
		return true;
	word = fxt_function_search(e, function);
	/* Of one that was not called yet the manager is to decide, unless its first call will wait for that.
	 */
	if (!word && !e->control->awaits_decisions && agent_code_is_function(function))
		fxt_function_register(e, function, agent_module_known_around(function));
	return (word & FXT_FUNCTION_LEFT_OUT) != 0;
}

/* Whether a thread has a call of the function open, with a frame. */
static bool erase_is_open(uint64_t function)
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

/* Writes a patch, which is in the list before it is in the code. */
static bool erase_write(struct agent_patch patch)
{
	uint8_t now;

	if (patch_count == SITES || !agent_code_read(patch.address, &now, 1) || now != patch.before)
		return false;
	patches[patch_count] = patch;
	/* Release: a child that is forked here has the patch. */
	store_release(&patch_count, patch_count + 1);
	if (agent_code_write(patch.address, patch.after)) {
		if (patch_count == 1)
			erase_tell(FXT_EVENT_ASYNC_BEGIN, 1);
		return true;
	}
	store_release(&patch_count, patch_count - 1);
	is_refused = true;
	return false;
}

/* ---- what sites are shared ---- */

static struct call_verdict *erase_call_verdict(uint64_t address)
{
	return &call_verdicts[(address ^ address >> 12) % CALL_VERDICTS];
}

static void erase_tell_call(uint64_t address, bool may_go)
{
	*erase_call_verdict(address) = (struct call_verdict){
	        .address = address, .until = fxt_monotonic_ns() + VERDICT_NS, .may_go = may_go};
}

static void erase_restore(uint64_t start, uint8_t *copy, uint64_t bytes)
{
	for (uint32_t i = 0; i < patch_count; i++)
		if (patches[i].address - start < bytes &&
		        copy[patches[i].address - start] == patches[i].after)
			copy[patches[i].address - start] = patches[i].before;
}

static bool erase_look(uint64_t address, uint64_t function, struct agent_code_function *found)
{
	const struct agent_code_questions questions = {
	        .hooks = {hooks[0], hooks[1]},
	        .left_out = erase_is_left_out,
	        .restore = erase_restore,
	        .tell = erase_tell_call,
	};

	return agent_code_look(address, function, &questions, found);
}

static bool erase_has_verdict(const struct verdict *verdict, uint64_t address, uint64_t function)
{
	return verdict->function == function && address - verdict->start < verdict->end - verdict->start &&
	       (verdict->may_go || fxt_monotonic_ns() < verdict->until);
}

static bool erase_has_call_verdict(uint64_t address)
{
	const struct call_verdict *verdict = erase_call_verdict(address);

	return verdict->address == address && (verdict->may_go || fxt_monotonic_ns() < verdict->until);
}

/* Whether all functions are left out that a site may serve which lies at that address, of `function` among
 * others. */
static bool erase_may(uint64_t address, uint64_t function)
{
	struct verdict *verdict = &verdicts[(function >> 4) % VERDICTS];
	struct agent_code_function found;
	bool is_told;

	if (erase_has_call_verdict(address))
		return erase_call_verdict(address)->may_go;
	if (erase_has_verdict(verdict, address, function))
		return verdict->may_go;
	is_told = erase_look(address, function, &found);
	if (is_told && found.is_shared)
		return erase_has_call_verdict(address) && erase_call_verdict(address)->may_go;
	*verdict = (struct verdict){.start = found.start,
	        .end = found.end,
	        .function = function,
	        .until = fxt_monotonic_ns() + VERDICT_NS,
	        .may_go = is_told};
	return is_told;
}

/* An exit that is a jump: to the hook it is as if its caller's caller had called it. */
static enum site_state erase_tails(uint64_t function)
{
	struct agent_code_function found;
	enum site_state state;

	if (!agent_module_is_code(function) || !agent_code_is_of_file(function))
		return SITE_REFUSED;
	if (!erase_look(function, function, &found) || found.start != function)
		return SITE_KEPT;
	state = found.is_shared ? SITE_KEPT : SITE_REFUSED;
	for (uint32_t i = 0; i < found.tail_count; i++) {
		struct agent_patch patch;

		if (agent_code_find_jump(found.tails[i], &patch) && erase_write(patch))
			state = SITE_ERASED;
	}
	return state;
}

static enum site_state erase_site_now(const struct site *site, uint64_t function)
{
	struct agent_patch patch;
	uint64_t return_address = site->key >> 1;
	bool is_exit = site->key & 1;

	if (!agent_module_known_around(return_address))
		return SITE_KEPT;
	if (agent_records_calls() &&
	        (!erase_is_left_out(function) || (agent_engine.filter_changes && erase_is_open(function))))
		return SITE_KEPT;
	if (!agent_code_find_call(return_address, hooks[is_exit], &patch))
		return is_exit ? erase_tails(function) : SITE_REFUSED;
	patch.is_exit = is_exit;
	if (!agent_module_is_code(patch.address) || !agent_code_is_of_file(patch.address))
		return SITE_REFUSED;
	if (agent_records_calls() && !erase_may(patch.address, function))
		return SITE_KEPT;
	return erase_write(patch) ? SITE_ERASED : SITE_REFUSED;
}

static struct site *erase_take(void)
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

static void erase_settle(struct site *site, enum site_state state)
{
	uint8_t *tried = &tries[site - sites];

	if (state == SITE_KEPT) {
		store_relaxed(&site->wait, (uint32_t)PATIENCE << *tried);
		*tried += *tried < TRIES;
	}
	store_relaxed(&site->state, state);
}

/* Until a change is told of threads may be inside of hooks that go by the filter before it. */
static bool erase_is_changing(void)
{
	const struct fxt_control *control = agent_engine.control;

	return load_relaxed(&control->filter_changes) != load_relaxed(&control->filter_carried_out);
}

uint64_t agent_erase_work(void)
{
	const struct fxt_control *control = agent_engine.control;
	struct site *site;

	if (!ARCH_CAN_ERASE || !control->erases || is_refused ||
	        (agent_records_calls() && !load_relaxed(&control->has_filter)))
		return FOREVER_NS;
	/* An emulator may go by what it has translated, and not see what is written to memory. */
	if (!is_open && (arch_is_emulated() || !agent_code_open())) {
		is_refused = true;
		return FOREVER_NS;
	}
	is_open = true;
	agent_set_noting(true);
	pause_ns = pause_ns < PAUSE_MAX_NS ? pause_ns * 2 : pause_ns;
	while (!is_refused && !erase_is_changing() && (site = erase_take())) {
		uint64_t mask = fxt_lock(&agent_engine.lock);

		fxt_decisions_carry_out(&agent_engine);
		erase_settle(site, erase_site_now(site, load_relaxed(&site->function)));
		pause_ns = PAUSE_NS;
		fxt_unlock(&agent_engine.lock, mask);
	}
	if (is_refused)
		agent_set_noting(false);
	return is_refused ? FOREVER_NS : pause_ns;
}

/* ---- putting back ---- */

/* Puts one byte back where the page cannot be written to otherwise. */
static bool erase_put_back_by_mapping(const struct agent_patch *patch)
{
	const uint64_t page_bytes = 4096;
	long page = (long)(patch->address & ~(page_bytes - 1));

	if (sys_call(SYS_mprotect, page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC, 0) != 0)
		return false;
	store_relaxed((uint8_t *)(uintptr_t)patch->address, patch->before);
	sys_call(SYS_mprotect, page, page_bytes, PROT_READ | PROT_EXEC, 0);
	return true;
}

/* Only where nothing else was written meanwhile, such as a debugger's breakpoint, or mapped. */
static bool erase_put_back(const struct agent_patch *patch)
{
	uint8_t now, rest[AGENT_CODE_REST];

	if (agent_code_read(patch->address + 1, rest, sizeof(rest)) &&
	        memcmp(rest, patch->rest, sizeof(rest)) != 0)
		return true; /* it is other code */
	if (!agent_code_read(patch->address, &now, 1))
		return now = *(const volatile uint8_t *)(uintptr_t)patch->address,
		       now == patch->before || (now == patch->after && erase_put_back_by_mapping(patch));
	return now == patch->before ||
	       (now == patch->after &&
	               (agent_code_write(patch->address, patch->before) || erase_put_back_by_mapping(patch)));
}

/* Those of exits, or those of entries. What cannot be put back stays in the list. */
static void erase_put_all_back(bool is_exit)
{
	uint32_t kept = 0, count = patch_count;

	for (uint32_t i = 0; i < count; i++) {
		if (patches[i].is_exit == is_exit && erase_put_back(&patches[i]))
			continue;
		patches[kept++] = patches[i];
	}
	store_release(&patch_count, kept);
}

static void erase_forget_code(void)
{
	memset(verdicts, 0, sizeof(verdicts));
	memset(call_verdicts, 0, sizeof(call_verdicts));
	agent_code_forget();
}

static void erase_forget_sites(void)
{
	for (uint32_t i = 0; i < SITES; i++)
		if (load_relaxed(&sites[i].key) && load_relaxed(&sites[i].state) > SITE_NOTED) {
			tries[i] = 0;
			store_relaxed(&sites[i].wait, 0);
			store_relaxed(&sites[i].state, SITE_UNSEEN);
		}
	erase_forget_code();
}

void agent_erase_undo(void)
{
	uint32_t before;
	uint64_t mask;

	if (!is_open)
		return;
	mask = fxt_lock(&agent_engine.lock);
	before = patch_count;
	erase_put_all_back(true);
	sys_membarrier(); /* who sees an entry that was put back sees its exit */
	erase_put_all_back(false);
	sys_membarrier();
	erase_forget_sites();
	pause_ns = PAUSE_NS;
	if (before && !patch_count)
		erase_tell(FXT_EVENT_ASYNC_END, before);
	if (patch_count)
		store_relaxed(&agent_engine.control->sites_stuck, patch_count);
	fxt_unlock(&agent_engine.lock, mask);
}

void agent_erase_end(void)
{
	agent_erase_undo();
	agent_set_noting(false);
	agent_code_close();
	is_open = is_refused = false;
}

uint32_t agent_erase_sites(void)
{
	return load_relaxed(&patch_count);
}

bool agent_erase_undo_inherited(void)
{
	bool is_done = true;

	agent_set_noting(false);
	is_open = is_refused = false;
	if (!queue_end) /* no site was ever noted */
		return true;
	if (patch_count) {
		agent_code_open_shared();
		for (uint32_t i = 0; i < patch_count; i++)
			is_done = erase_put_back(&patches[i]) && is_done;
		agent_code_close();
	}
	for (uint32_t i = 0; i < SITES; i++) {
		if (sites[i].key)
			sites[i] = (struct site){0};
		if (queue[i])
			queue[i] = 0;
	}
	queue_begin = queue_end = patch_count = spans = 0;
	erase_forget_sites();
	return is_done;
}

void agent_erase_retire(uint64_t start, uint64_t end)
{
	uint32_t kept = 0, count = patch_count;

	if (is_open)
		erase_forget_code(); /* other code may come to lie there */
	for (uint32_t i = 0; i < count; i++)
		if (patches[i].address - start >= end - start)
			patches[kept++] = patches[i];
	if (kept == count)
		return;
	store_release(&patch_count, kept);
	if (!kept)
		erase_tell(FXT_EVENT_ASYNC_END, count);
	erase_forget_sites();
}

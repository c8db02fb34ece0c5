/*
 * Carries out the manager's decisions: marks excluded functions in the function table, and
 * puts changes of the filter in force. Runs on the helper thread, and on threads that take
 * a chunk or register a function, with the engine's lock held. Must never leave hooks with
 * a mixture of two filters.
 */
#include "decisions.h"
#include <string.h>
#include "engine.h"
#include "valid.h"

/* Long enough for a running thread to be seen between two hooks. */
#define FOLLOWED_SPINS 1000

/* Marks the function, or removes its mark, unless it is gone or has another name by now. */
static void decisions_mark(struct fxt_engine *e, uint64_t address, uint32_t index, uint64_t mark)
{
	const struct fxt_function_table *table = &e->functions;
	uint64_t at = fxt_function_hash(address), known = fxt_function_key(address) | index, ref;

	while ((ref = table->entries[at & table->mask]) != 0 && (ref & ~FXT_FUNCTION_EXCLUDED) != known)
		at++;
	if (ref)
		store_relaxed(&table->entries[at & table->mask], known | mark);
}

static bool decisions_exclude(const struct fxt_engine *e, uint64_t decision)
{
	return e->without_calls || fxt_decided_by(decision, e->filter_changes) == FXT_DECIDED_EXCLUDE;
}

/* Carries out decisions from e->decided on, or removes the marks of functions that are not
 * excluded. */
static void decisions_go_on(struct fxt_engine *e, bool excludes)
{
	for (; e->decided < e->next_string; e->decided++) {
		/* Acquire: pairs with the manager's release; the decision is whole. */
		uint64_t decision = load_acquire(fxt_decision(e->control, e->decided));
		uint64_t address = decision >> FXT_FRAME_INDEX_BITS;
		bool is_excluded = decisions_exclude(e, decision);

		if (decision == 0)
			return;
		if (is_excluded == excludes && address)
			decisions_mark(e, address, e->decided, excludes ? FXT_FUNCTION_EXCLUDED : 0);
	}
}

void fxt_decisions_carry_out(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	if (load_relaxed(&e->control->has_filter))
		decisions_go_on(e, true);
}

void fxt_decisions_carry_out_on(struct fxt_engine *e, uint64_t ref)
{
	uint32_t index = (uint32_t)(ref & FXT_INDEX_LOCAL);
	uint64_t decision = index < FXT_DECISIONS ? load_acquire(fxt_decision(e->control, index)) : 0;

	FXT_ASSERT_LOCKED(e);
	if (fxt_decision_is_on(decision, ref) && decisions_exclude(e, decision))
		decisions_mark(e, decision >> FXT_FRAME_INDEX_BITS, index, FXT_FUNCTION_EXCLUDED);
}

void fxt_decisions_put_in_force(struct fxt_engine *e, uint32_t change)
{
	struct fxt_callers_filter *filter = &e->callers_filter[change & 1];
	uint32_t has_under = load_relaxed(&e->control->has_under);
	uint32_t depth_limit = load_relaxed(&e->control->depth_limit);

	store_relaxed(&filter->has_under, has_under);
	store_relaxed(&filter->depth_limit, depth_limit);
	store_relaxed(&filter->has_states,
	        has_under || depth_limit || e->callers_filter[e->filter_in_force & 1].has_states);
	/* Release: a hook that loads it finds everything stored before it. Pairs with the
	 * acquire of hooks. */
	store_release(&e->filter_in_force, change);
}

/* Carries out all decisions that exclude functions, or all others. Returns whether there is
 * a decision on each function. */
static bool decisions_repeat(struct fxt_engine *e, bool excludes)
{
	uint64_t mask = fxt_engine_lock(e);
	bool is_whole;

	e->decided = 1;
	decisions_go_on(e, excludes);
	is_whole = e->decided == e->next_string;
	fxt_engine_unlock(e, mask);
	return is_whole;
}

/*
 *      before              --> unmarked            --> in force           --> marked
 *
 * By the filter in force, a frame of an excluded function does not count for the calls
 * inside it (filter.h of the agent). Therefore these calls are recorded by the old filter
 * or by the new one, and by no mixture.
 */
bool fxt_decisions_follow_change(struct fxt_engine *e, uint32_t changes, bool without_calls)
{
	if (e->filter_in_force == changes)
		return true;
	store_relaxed(&e->filter_changes, changes);
	/* hooks that find a mark of this change find the change in force too */
	sys_membarrier();
	e->without_calls = without_calls;
	if (!decisions_repeat(e, false))
		return false;
	fxt_decisions_put_in_force(e, changes);
	decisions_repeat(e, true); /* functions seen from now on wait for their decisions */
	return true;
}

void fxt_decisions_have_calls(struct fxt_engine *e)
{
	if (!e->without_calls)
		return;
	e->without_calls = false;
	decisions_repeat(e, false);
	decisions_repeat(e, true);
}

/*
 * Whether no thread follows an earlier filter than the one in force: each was seen outside
 * of hooks since then, or with states by that filter. The next change overwrites the
 * decisions and limits of the earlier filter, and a thread that is held between two looks
 * at them would find one of each.
 */
static bool decisions_are_followed(const struct fxt_engine *e)
{
	/* A thread that enters a hook from here on finds the filter that is in force. */
	sys_membarrier();
	for (uint32_t i = 0; i < e->control->slots_used; i++) {
		const struct fxt_thread_writer *writer = &e->writers[i];

		for (unsigned spins = 0; load_acquire(&writer->busy) != FXT_IDLE &&
		                         load_relaxed(&writer->filter_in_force) != e->filter_in_force;
		        spins++)
			if (spins > FOLLOWED_SPINS)
				return false;
	}
	return true;
}

bool fxt_decisions_report_change(struct fxt_engine *e)
{
	struct fxt_control *control = e->control;
	const struct fxt_packet packet = {.request = FXT_PROVIDER_FILTERED, .data32 = e->filter_in_force};
	bool has_room;
	uint64_t mask;

	if (load_relaxed(&control->filter_carried_out) == e->filter_in_force)
		return true;
	if (!decisions_are_followed(e))
		return false;
	mask = fxt_engine_lock(e);
	has_room = fxt_ring_has_room_for_others(&control->to_manager);
	if (has_room) {
		/* Release: hooks follow the change. Pairs with the manager's acquire. */
		store_release(&control->filter_carried_out, e->filter_in_force);
		fxt_ring_send(&control->to_manager, &packet);
	}
	fxt_engine_unlock(e, mask);
	return has_room;
}

void fxt_decisions_forget(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	if (load_relaxed(&e->control->has_filter))
		memset(fxt_decision(e->control, 0), 0, FXT_DECISIONS * sizeof(uint64_t));
	e->decided = 1;
}

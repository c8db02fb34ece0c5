/*
 * Which functions are excluded. The manager knows their names, and so it decides. Its
 * decisions lie in the control memory, one for each string index, in the order of the
 * strings' registration. Until a function's decision is there its calls are recorded, and
 * the collector removes them when it takes them from the buffer (collect/copy.h). The
 * contents of the trace therefore do not depend on when a decision came.
 *
 * While the program runs the manager may change the filter. It writes all decisions anew,
 * then counts the change in filter_changes. The agent carries them out, then reports that
 * in filter_carried_out and by a packet. Calls that are open then end as they began. Two
 * rules hold after the first change. A function's first call waits for the decision
 * (awaits_decisions). No call that begins later is taken out of the buffer, because only
 * the agent knows when which decision held.
 */
#ifndef FXT_WRITER_DECISIONS_H
#define FXT_WRITER_DECISIONS_H

#include <stdbool.h>
#include "writer/shared/control.h"
#include "function_table.h"

struct fxt_engine;

/*
 * A decision: 0 = none yet. Else it is the sum of three parts. The function's address << 16
 * identifies it: a decision on another string (the names were cleared in between) has
 * another address. DECIDED is always set. The verdicts are those by the latest change of
 * the filter and by the one before, so that hooks can switch from one to the other all at
 * once. A string that is no function has only DECIDED, and the triggers of spans of that
 * name. Stored with release by the manager.
 */
#define FXT_DECIDED               UINT64_C(1)
#define fxt_decided(what, change) ((uint64_t)(what) << ((change)&1 ? 4 : 1))
/* The verdicts: a sum of these. Calls of an excluded function have no frames, except if the
 * function also has one of the other two verdicts: then they have frames, which are not
 * recorded. */
#define FXT_DECIDED_EXCLUDE 1u
/* Only calls inside its calls are recorded, or no calls inside them are. */
#define FXT_DECIDED_ONLY_UNDER 2u
#define FXT_DECIDED_NOT_UNDER  4u

/* The verdict by that change. */
static inline unsigned fxt_decided_by(uint64_t decision, uint32_t change)
{
	return (unsigned)(decision >> (change & 1 ? 4 : 1)) & 7;
}
/* The numbers of the triggers that a call of the function raises: by lasting as long as the
 * trigger says, and by beginning; 0 = none. They are those of the latest change. */
#define FXT_DECIDED_TRIGGER(number)       ((uint64_t)(number) << 7)
#define FXT_DECIDED_TRIGGER_OF(ref)       ((uint32_t)((ref) >> 7 & 15))
#define FXT_DECIDED_BEGIN_TRIGGER(number) ((uint64_t)(number) << 11)
#define FXT_DECIDED_BEGIN_TRIGGER_OF(ref) ((uint32_t)((ref) >> 11 & 15))
_Static_assert(FXT_TRIGGERS == 15, "any number of four bits is a trigger's, or 0");

static inline uint64_t *fxt_decision(const struct fxt_control *control, uint32_t index)
{
	return (uint64_t *)((uintptr_t)control + FXT_DECISIONS_OFFSET) + index;
}

/* Whether a decision, at the index of that reference, is on the reference's function. A
 * decision that comes while the names are cleared is on another function. */
static inline bool fxt_decision_is_on(uint64_t decision, uint64_t ref)
{
	return !(((decision ^ ref) & ~FXT_FUNCTION_EXCLUDED) >> FXT_FRAME_INDEX_BITS);
}

/* Whether a decision is on a string that is no function: it has no address. A name of spans
 * may have triggers. */
static inline bool fxt_decision_is_on_text(uint64_t decision)
{
	return decision && !(decision >> FXT_FRAME_INDEX_BITS);
}

/* Carries out the decisions that have come since the last call: marks functions in the
 * function table. Costs one load if there are none. With the lock held. */
void fxt_decisions_carry_out(struct fxt_engine *e);

/* Carries out the decision on the function that has this reference, if there is one; also
 * if the previous decision at its index was on another function. With the lock held. */
void fxt_decisions_carry_out_on(struct fxt_engine *e, uint64_t ref);

/*
 * Carries out a change of the filter, unless it is in force: the one that the caller read
 * from the control memory (filter_changes). Returns false if the caller should soon try
 * again: some functions are not decided on yet. `without_calls`: all functions are excluded
 * from then on, whatever was decided. Called by the helper thread alone, without the lock,
 * as is the next function.
 */
bool fxt_decisions_follow_change(struct fxt_engine *e, uint32_t changes, bool without_calls);

/* Records calls again as decided, if that was off. Called by the helper thread, while
 * nothing is recorded. */
void fxt_decisions_have_calls(struct fxt_engine *e);

/* Reports the change to the manager, if it was not reported. Returns false if the caller
 * should soon try again: a thread may have been inside a hook since before, or the ring has
 * no room. */
bool fxt_decisions_report_change(struct fxt_engine *e);

/* Makes hooks follow the control memory's rules for calls inside others, as of that
 * change. */
void fxt_decisions_put_in_force(struct fxt_engine *e, uint32_t change);

/* Forgets the decisions carried out, as all strings are registered anew. With the lock
 * held. */
void fxt_decisions_forget(struct fxt_engine *e);

#endif

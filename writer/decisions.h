/*
 * Which functions are left out. The manager knows their names, and so decides; its decisions lie in the
 * control memory, one for each string index, in the order in which the strings were registered. Until a
 * function's decision is there its calls are recorded, and left out by whoever takes them from the buffer
 * (collect/copy.h): what is in the trace does not depend on when a decision came.
 *
 * While the program runs the manager may change its mind. It writes all decisions anew, then counts the
 * change in filter_changes; the agent carries them out, then says so in filter_carried_out, and by a packet.
 * Calls that are open then end as they began. From the first change on a function's first call waits for the
 * decision (awaits_decisions), and nothing that begins later is taken out of the buffer: only the agent
 * knows when which decision held.
 */
#ifndef FXT_WRITER_DECISIONS_H
#define FXT_WRITER_DECISIONS_H

#include <stdbool.h>
#include "control.h"
#include "function_table.h"

struct fxt_engine;

/*
 * A decision: 0 = none yet. Else the function's address << 16, by which one is known that is about another
 * string (the names were cleared meanwhile), DECIDED, and what was decided: by the latest change of the
 * filter, and by the one before, so that hooks can go over from one to the other all at once. Of a string
 * that is no function only DECIDED. Stored with release by the manager.
 */
#define FXT_DECIDED               UINT64_C(1)
#define fxt_decided(what, change) ((uint64_t)(what) << ((change)&1 ? 4 : 1))
/* What was: a sum of these. The calls of an excluded function have no frames; but if it is one of the
 * other two as well they have, which are not recorded. */
#define FXT_DECIDED_EXCLUDE 1u
/* What is inside of its calls is recorded alone, or is not. */
#define FXT_DECIDED_ONLY_UNDER 2u
#define FXT_DECIDED_NOT_UNDER  4u

/* What was decided by that change. */
static inline unsigned fxt_decided_by(uint64_t decision, uint32_t change)
{
	return (unsigned)(decision >> (change & 1 ? 4 : 1)) & 7;
}
/* The numbers of the triggers that a call of the function raises which takes its time, and which begins; 0 =
 * none. They are those of the latest change. */
#define FXT_DECIDED_TRIGGER(number)        ((uint64_t)(number) << 7)
#define FXT_DECIDED_TRIGGER_OF(word)       ((uint32_t)((word) >> 7 & 15))
#define FXT_DECIDED_BEGIN_TRIGGER(number)  ((uint64_t)(number) << 11)
#define FXT_DECIDED_BEGIN_TRIGGER_OF(word) ((uint32_t)((word) >> 11 & 15))
_Static_assert(FXT_TRIGGERS == 15, "any number of four bits is a trigger's, or 0");

static inline uint64_t *fxt_decision(const struct fxt_control *control, uint32_t index)
{
	return (uint64_t *)((uintptr_t)control + FXT_DECISIONS_OFFSET) + index;
}

/* Whether a decision, at the index of that word, is on the word's function. One that comes while the names
 * are cleared is on another. */
static inline bool fxt_decision_is_on(uint64_t decision, uint64_t word)
{
	return !(((decision ^ word) & ~FXT_FUNCTION_EXCLUDED) >> FXT_FRAME_INDEX_BITS);
}

/* Carries out the decisions that have come since: marks functions in the function table. Costs a load where
 * there are none. With the lock held. */
void fxt_decisions_carry_out(struct fxt_engine *e);

/* Carries out the one on the function that has this word, if there is one; also where the one before it, at
 * its index, was on another function. With the lock held. */
void fxt_decisions_carry_out_on(struct fxt_engine *e, uint64_t word);

/*
 * Carries out a change of the filter, if there is one. Returns false if that is to be tried again soon: some
 * functions are not decided on yet. `without_calls`: whatever was decided, all functions are left out from
 * then on. In the helper's thread alone, without the lock, as the next.
 */
bool fxt_decisions_follow_change(struct fxt_engine *e, bool without_calls);

/* Calls are recorded again as decided, if they were not; while nothing is recorded, in that thread too. */
void fxt_decisions_have_calls(struct fxt_engine *e);

/* Tells the manager of the change, if it was not told. Returns false if that is to be tried again soon: a
 * thread may be inside of a hook since before, or the ring has no room. */
bool fxt_decisions_tell_change(struct fxt_engine *e);

/* Has hooks go by what the control memory says of calls inside of others, as of that change. */
void fxt_decisions_put_in_force(struct fxt_engine *e, uint32_t change);

/* All strings are registered anew. With the lock held. */
void fxt_decisions_forget(struct fxt_engine *e);

#endif

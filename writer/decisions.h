/*
 * Which functions are left out. The manager knows their names, and so decides; its decisions lie in the
 * control memory, one for each string index, in the order in which the strings were registered. Until a
 * function's decision is there its calls are recorded, and left out by whoever takes them from the buffer
 * (collect/copy.h): what is in the trace does not depend on when a decision came.
 */
#ifndef FXT_WRITER_DECISIONS_H
#define FXT_WRITER_DECISIONS_H

#include "control.h"

struct fxt_engine;

/*
 * A decision: 0 = none yet. Else the function's address << 16, by which one is known that is about another
 * string (the names were cleared meanwhile), and these; of a string that is no function only DECIDED. Stored
 * with release by the manager.
 */
#define FXT_DECIDED           UINT64_C(1)
#define FXT_DECIDED_LEAVE_OUT UINT64_C(2)
/* What is inside of its calls is recorded alone, or is not. */
#define FXT_DECIDED_ONLY_UNDER UINT64_C(4)
#define FXT_DECIDED_NOT_UNDER  UINT64_C(8)

static inline uint64_t *fxt_decision(const struct fxt_control *control, uint32_t index)
{
	return (uint64_t *)((uintptr_t)control + FXT_DECISIONS_OFFSET) + index;
}

/* Carries out the decisions that have come since: marks functions in the function table. Costs a load where
 * there are none. With the lock held. */
void fxt_decisions_carry_out(struct fxt_engine *e);

/* All strings are registered anew. With the lock held. */
void fxt_decisions_forget(struct fxt_engine *e);

#endif

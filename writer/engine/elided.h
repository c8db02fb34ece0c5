/*
 * Calls that are elided because of how short they were, or because their function has had
 * its number of calls (fxtrun --min-duration, --max-calls), in sums by thread and function.
 * The sums lie at the end of the control memory, one table for each slot, so that a
 * collector finds them after any death. In other sessions the memory ends before them. A
 * thread writes to its own table alone. The last table has the sums of threads that have
 * lost their slots to others. Threads beyond the tables, and functions without a durable
 * name index, elide nothing.
 *
 * The trace shows them by an instant event for each thread and function, of category "fxt"
 * and this name, with the fields of struct fxt_elided_function as arguments. Added to the
 * sums of the recorded calls, they give the sums of all calls.
 */
#ifndef FXT_WRITER_ELIDED_H
#define FXT_WRITER_ELIDED_H

#include "writer/shared/buffer.h"
#include "writer/shared/control.h"

#define FXT_ELIDED_EVENT "fxt: calls left out"

/* the table of threads that have lost their slots to others */
#define FXT_ELIDED_RECYCLED FXT_ELIDED_THREADS
#define FXT_ELIDED_DEPTH    1024

/* Times are ticks. */
struct fxt_elided_function {
	uint64_t calls;
	/* without calls inside another call of the function, elided or not */
	uint64_t total;
	uint64_t sum; /* over all elided calls */
	/* over all elided calls, less the time of calls elided directly inside any call of
	 * the function. It also subtracts those inside recorded calls, since that time is
	 * not their own either */
	int64_t self;
	/* over the elided calls alone, less the time of calls elided inside them. Some of
	 * the time nested deeper than FXT_ELIDED_DEPTH may be counted twice */
	uint64_t own;
	uint64_t longest, shortest;
	/* the function's outermost open call, as the distance of its frame from the slot's
	 * sentinel; valid if that frame still is a call of the function */
	uint64_t outermost;
};
_Static_assert(sizeof(struct fxt_elided_function) == 64, "a line");

/* The time elided directly inside an open call, which its start identifies. */
struct fxt_elided_inside {
	uint64_t start, ticks;
};

struct fxt_elided {
	/*
	 * The call that is being elided: its start, its function, and the function's
	 * count of calls with this one. It is taken off the shadow stack a moment later. If
	 * the thread dies in between, it counts (release).
	 */
	uint64_t counted_start, counted_calls;
	uint32_t counted_index;
	uint32_t end; /* all indices in use are less; 0: nothing was elided */
	uint64_t reserved[5];
	/* indexed by depth modulo FXT_ELIDED_DEPTH */
	struct fxt_elided_inside inside[FXT_ELIDED_DEPTH];
	struct fxt_elided_function functions[FXT_STRING_LOCAL_FIRST];
};
_Static_assert(sizeof(struct fxt_elided) <= FXT_ELIDED_BYTES, "");

/* Limits of one function, in sessions with limits that differ between functions. The
 * manager writes them before it publishes its decision on the function (decisions.h). A
 * value of 0 stands for the control memory's value. */
struct fxt_limit {
	/* calls that take less than this minus one are elided, in ticks */
	uint64_t min_duration;
	/* calls from this one on are elided, in the order of their beginning, from 1 */
	uint64_t first_counted;
	/* calls that have begun, counted only as far as it matters. Written by the agent's
	 * threads */
	uint64_t begun;
	uint64_t reserved;
};
_Static_assert(sizeof(struct fxt_limit) == FXT_LIMIT_BYTES, "");

struct fxt_engine;

/* Whether the session elides calls. Only the agent asks the memory. A manager knows it from
 * its options, and does not believe that the tables are there because a program says so. */
static inline bool fxt_elides_calls(const struct fxt_control *control)
{
	return control->elides_calls;
}

/* The table of a slot exists once the slot does (fxt_control_reach_slot()). */
static inline struct fxt_elided *fxt_elided(const struct fxt_control *control, uint32_t table)
{
	uint64_t place = table == FXT_ELIDED_RECYCLED ? 0 : table + 1;

	return (struct fxt_elided *)((uintptr_t)control + FXT_ELIDED_OFFSET + place * FXT_ELIDED_BYTES);
}

static inline struct fxt_limit *fxt_limit(const struct fxt_control *control, uint32_t index)
{
	return (struct fxt_limit *)((uintptr_t)control + FXT_LIMITS_OFFSET) + index;
}

/* Adds a slot's sums to the recycled ones, as the slot is given to another thread. With the
 * lock held. */
void fxt_elided_recycle(struct fxt_engine *e, uint32_t slot);

/* Forgets all sums. With the lock held, while nothing is recorded. */
void fxt_elided_clear(struct fxt_engine *e);

#endif

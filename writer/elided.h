/*
 * Elided calls of the trace because of how long they took, or because their function has had its
 * calls (fxtrun --min-duration, --max-calls), in sums by thread and function. They lie at the end of the
 * control memory, a table for each slot, so that a collector finds them after any death; in other sessions it
 * ends before. A thread writes to its own alone; the last table has what the threads left whose slots other
 * threads have now. Threads beyond the tables, and functions whose names have no index that lasts, leave
 * nothing out.
 *
 * The trace tells them by an instant event for each thread and function, of category "fxt" and this name,
 * with the fields of struct fxt_elided_function as arguments. Whoever adds them to the sums of what is
 * recorded gets those of all calls.
 */
#ifndef FXT_WRITER_ELIDED_H
#define FXT_WRITER_ELIDED_H

#include "buffer.h"
#include "control.h"

#define FXT_ELIDED_EVENT "fxt: calls left out"

#define FXT_ELIDED_RECYCLED FXT_ELIDED_THREADS /* the table of threads whose slots were given on */
#define FXT_ELIDED_DEPTH    1024

/* Times are ticks. */
struct fxt_elided_function {
	uint64_t calls;
	uint64_t total; /* without calls inside of another one of the function, left out or not */
	uint64_t sum;   /* of all calls */
	int64_t self;   /* of all calls, less what was left out directly inside of any call of the function,
	                   recorded ones too: that is no time of their own either */
	uint64_t own;   /* of the elided calls alone, less what is left out inside of them. Some
	                   of what is nested deeper than FXT_ELIDED_DEPTH may be counted twice */
	uint64_t longest, shortest;
	uint64_t outermost; /* the function's outermost open call, as the distance of its frame from the
	                       slot's sentinel, if there is still a call of the function */
};
_Static_assert(sizeof(struct fxt_elided_function) == 64, "a line");

/* What was left out directly inside of an open call, which is known by its start. */
struct fxt_elided_inside {
	uint64_t start, ticks;
};

struct fxt_elided {
	/*
	 * The call that is being left out: its start, its function, and of how many calls it is the last. It
	 * is off the shadow stack a moment later. If the thread dies in between, it counts (release).
	 */
	uint64_t counted_start, counted_calls;
	uint32_t counted_index;
	uint32_t end; /* indices are less; 0: nothing was left out */
	uint64_t reserved[5];
	struct fxt_elided_inside inside[FXT_ELIDED_DEPTH]; /* by depth modulo FXT_ELIDED_DEPTH */
	struct fxt_elided_function functions[FXT_STRING_LOCAL_FIRST];
};
_Static_assert(sizeof(struct fxt_elided) <= FXT_ELIDED_BYTES, "");

/* Which calls of a function are left out, where that differs between functions. The manager writes it before
 * it publishes its decision on the function (decisions.h); where there are zeros the control's values hold.
 */
struct fxt_limit {
	uint64_t min_duration;  /* calls that take less, in ticks; and one more */
	uint64_t first_counted; /* calls from this one on, in the order of their beginning, from 1 */
	uint64_t begun; /* so many calls have begun; not counted further than it matters. By the agent's
	                   threads */
	uint64_t reserved;
};
_Static_assert(sizeof(struct fxt_limit) == FXT_LIMIT_BYTES, "");

struct fxt_engine;

/* Whether calls are left out so. Only the agent asks the memory: a manager knows it by its
 * options, and does not believe that the tables are there because a program says so. */
static inline bool fxt_elides_calls(const struct fxt_control *control)
{
	return control->elides_calls;
}

/* That of a slot is there once its slot is (fxt_control_reach_slot()). */
static inline struct fxt_elided *fxt_elided(const struct fxt_control *control, uint32_t table)
{
	uint64_t place = table == FXT_ELIDED_RECYCLED ? 0 : table + 1;

	return (struct fxt_elided *)((uintptr_t)control + FXT_ELIDED_OFFSET + place * FXT_ELIDED_BYTES);
}

static inline struct fxt_limit *fxt_limit(const struct fxt_control *control, uint32_t index)
{
	return (struct fxt_limit *)((uintptr_t)control + FXT_LIMITS_OFFSET) + index;
}

/* The slot is given on: its sums become the recycled ones. With the lock held. */
void fxt_elided_recycle(struct fxt_engine *e, uint32_t slot);

/* Forgets all sums. With the lock held, while nothing is recorded. */
void fxt_elided_clear(struct fxt_engine *e);

#endif

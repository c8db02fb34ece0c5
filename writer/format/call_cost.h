/*
 * The cost of recording a call, as measured by fxtrun --calibrate. The trace has it as an
 * instant event of category "fxt", with the members' names as its arguments.
 */
#ifndef FXT_WRITER_CALL_COST_H
#define FXT_WRITER_CALL_COST_H

#include <stdint.h>

#define FXT_CALL_COST_EVENT "fxt: cost of a call"

/* In picoseconds. All 0: not measured. */
struct fxt_call_cost {
	/* between the call's start and end: makes the call and its callers seem longer */
	uint64_t within_ps;
	uint64_t around_ps; /* before and after: makes only its callers seem longer */
	uint64_t error_ps;  /* how far the sum of both may be off */
};

#endif

/*
 * What recording a call costs, as measured by fxtrun --calibrate. The trace has it as an instant event of
 * category "fxt", with the members' names as its arguments.
 */
#ifndef FXT_WRITER_CALL_COST_H
#define FXT_WRITER_CALL_COST_H

#include <stdint.h>

#define FXT_CALL_COST_EVENT "fxt: cost of a call"

/* In picoseconds. All 0: not measured. */
struct fxt_call_cost {
	uint64_t within_ps; /* between the call's start and end: it seems longer, and so do its callers */
	uint64_t around_ps; /* before and after: only its callers seem longer */
	uint64_t error_ps;  /* how far the sum of both may be off */
};

#endif

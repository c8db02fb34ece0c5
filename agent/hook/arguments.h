/*
 * Arguments of calls (fxtrun --args, --returns). A thunk of a function with planned
 * arguments (argument_plans.h) enters and leaves the call by code of its own (prepared.c):
 *
 *     entry   the call begins as any other; then its arguments are read, encoded, and kept
 *             in a cell that belongs to the frame
 *     exit    the call ends on the slow path, which writes its record with the cell's
 *             arguments and the results
 *
 * Cells lie beside the shadow stack, at the frame's number. So an abandoned call has its
 * arguments too, and nothing has to be freed in order. A cell is valid while its start is
 * the frame's: starts are unique on a thread. Frames beyond AGENT_CELLS_DEEP, and processes
 * without memory, have none, and their records have no arguments.
 *
 * A call that is open when its process is killed is recorded without arguments.
 */
#ifndef FXT_AGENT_ARGUMENTS_H
#define FXT_AGENT_ARGUMENTS_H

#include "argument_values.h"
#include "frames.h"

#define AGENT_CELLS_DEEP (1 << 14)

/* What the record of a call has besides its name and times. */
struct agent_argument_cell { /* 1 KiB */
	uint64_t start;      /* of the call */
	struct agent_planned_arguments planned;
	uint32_t generation; /* of the engine's strings, which names refer to */
	uint16_t words, count;
	uint64_t encoded[124];
};

/* A call of `function` has begun, at a frame with that address (CFA). Keeps the values of its
 * arguments, which are in these registers (argument_values.h). In no hook, with 2 KiB of
 * the stack left. */
void agent_arguments_keep(
        uint64_t function, uint64_t frame_address, const uint64_t *general, const uint64_t *vector);

/* The arguments of the call that has this frame, which ends; with the results that
 * agent_self.result has, unless it was abandoned. NULL: it has none. The writer is
 * SLOW_PATH. */
struct agent_argument_cell *agent_arguments_of(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame, bool is_abandoned);

#endif

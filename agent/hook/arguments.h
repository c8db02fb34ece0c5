/*
 * Arguments of calls (fxtrun --args, --returns). A thunk of a function with planned
 * arguments (argument_plans.h) enters and leaves the call by code of its own (prepared.c):
 *
 *     entry   the call begins as any other; then its arguments are read, encoded, and kept
 *             in a cell that belongs to the frame
 *     exit    the call ends on the slow path, which writes its record with the cell's
 *             arguments and the results
 *
 * Cells lie beside the shadow stack, at the frame's number. So an abandoned call keeps its
 * arguments, and cells need not be freed. A cell is valid while its start equals the
 * frame's: starts are unique on a thread. Frames beyond AGENT_CELLS_DEEP have no cell, nor
 * has any frame if memory is short. The records of their calls have no arguments.
 *
 * A call that is open when its process is killed is recorded without arguments.
 */
#ifndef FXT_AGENT_ARGUMENTS_H
#define FXT_AGENT_ARGUMENTS_H

#include "argument_values.h"
#include "frames.h"

#define AGENT_CELLS_DEEP (1 << 14)

/* The encoded arguments and results of an open call. */
struct agent_argument_cell { /* 1 KiB */
	uint64_t start;      /* of the call */
	struct agent_planned_arguments planned;
	uint32_t generation; /* of the engine's strings, which names refer to */
	uint16_t words, count;
	uint64_t encoded[124];
};

/* Keeps the arguments of a call of `function` that has just begun. `frame_address` is its
 * frame's address (CFA), the registers are those of struct agent_registers. Call it outside
 * of hooks, with 2 KiB of the stack left. */
void agent_arguments_keep(
        uint64_t function, uint64_t frame_address, const uint64_t *general, const uint64_t *vector);

/* Returns the arguments of the call with this frame, which ends now. Adds the results in
 * agent_self.result, unless the call was abandoned. NULL: it has none. The writer is
 * SLOW_PATH. */
struct agent_argument_cell *agent_arguments_of(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame, bool is_abandoned);

#endif

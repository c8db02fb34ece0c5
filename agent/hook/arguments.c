/* Keeps the arguments of open calls (arguments.h), on the program's threads. Tables of
 * cells are made without a lock, and stay as long as the process. */
#include "arguments.h"
#include "agent/base/attributes.h"
#include "agent/base/tables.h"

#define LEAF_CELLS   16
#define RESULT_WORDS 33
#define LEAVES       (AGENT_CELLS_DEEP / LEAF_CELLS)

_Static_assert(sizeof(struct agent_argument_cell) == 1024, "as its header says");

/* slot -> tables of leaves -> leaves of cells */
static struct agent_argument_cell ***cells;

static uint64_t cell_number(const struct fxt_thread_slot *slot, const struct fxt_frame *frame)
{
	return (uint64_t)(frame - fxt_slot_frames(&agent_engine, slot));
}

static struct agent_argument_cell *cell_make(
        uint32_t number, const struct fxt_thread_slot *slot, const struct fxt_frame *frame)
{
	uint64_t cell = cell_number(slot, frame);
	void **table = agent_table_make((void **)&cells, FXT_SLOTS * sizeof(*cells));
	void **leaves = !table || cell >= AGENT_CELLS_DEEP
	                        ? NULL
	                        : agent_table_make(&table[number], LEAVES * sizeof(**cells));
	struct agent_argument_cell *leaf =
	        leaves ? agent_table_make(&leaves[cell / LEAF_CELLS], LEAF_CELLS * sizeof(*leaf)) : NULL;

	return leaf ? &leaf[cell % LEAF_CELLS] : NULL;
}

static struct agent_argument_cell *cell_find(
        uint32_t number, const struct fxt_thread_slot *slot, const struct fxt_frame *frame)
{
	uint64_t cell = cell_number(slot, frame);
	struct agent_argument_cell *leaf;

	if (cell >= AGENT_CELLS_DEEP || !cells[number])
		return NULL;
	leaf = cells[number][cell / LEAF_CELLS];
	return leaf ? &leaf[cell % LEAF_CELLS] : NULL;
}

/* ---- values ---- */

/* Adds the values of one kind, as many as there is room for. */
static void cell_add(
        struct agent_argument_cell *cell, const struct agent_registers *registers, bool is_result)
{
	const struct agent_argument_plan *of = cell->planned.of;
	const struct fxt_planned_call *call = cell->planned.call;
	/* Arguments leave room for a result of any length, with an inline name. */
	const size_t room = sizeof(cell->encoded) / sizeof(*cell->encoded) - (is_result ? 0 : RESULT_WORDS);

	for (uint32_t i = 0; i < call->values; i++) {
		const struct fxt_planned_value *value = &fxt_planned_values(of->plan)[call->value + i];
		size_t words;

		if (value->is_result != is_result)
			continue;
		words = agent_argument_encode(
		        of, value, registers, cell->encoded + cell->words, room - cell->words);
		cell->words = (uint16_t)(cell->words + words);
		cell->count = (uint16_t)(cell->count + (words > 0));
	}
}

/* The call's frame, if it was pushed. */
static struct fxt_frame *arguments_frame(
        const struct fxt_thread_slot *slot, uint64_t function, uint64_t stack_pointer)
{
	struct fxt_frame *frame = slot_top(slot) - 1;

	if (!is_frame_of(frame, (const void *)(uintptr_t)function) || fxt_is_wait(frame->function) ||
	        fxt_is_inherited(frame->function) || frame->call_site & FXT_FRAME_UNRECORDED ||
	        (frame->stack_offset != agent_stack_offset(stack_pointer) &&
	                frame->stack_offset != stack_pointer))
		return NULL;
	return frame;
}

/* Moves the call's start to now, so that its time excludes the reading of its arguments. A
 * call on a coroutine, or in a handler inside a hook, keeps its start. */
static void arguments_start_again(struct fxt_thread_writer *writer, struct fxt_frame *frame)
{
	if (writer != agent_self.writer || writer->busy != FXT_IDLE)
		return;
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	store_relaxed(&frame->start, fxt_later(fxt_clock_ticks(agent_engine.clock), writer->last));
	store_relaxed(&writer->last, frame->start);
	store_release(&writer->busy, FXT_IDLE);
}

void agent_arguments_keep(
        uint64_t function, uint64_t frame_address, const uint64_t *general, const uint64_t *vector)
{
	struct agent_registers registers = {general, vector, frame_address};
	struct fxt_thread_writer *writer = agent_self.entered ? agent_self.entered : agent_self.writer;
	struct fxt_thread_slot *slot;
	struct fxt_frame *frame;
	struct agent_argument_cell *cell;

	if (!writer || !agent_records_calls() || fxt_engine_was_forked(&agent_engine) || agent_is_borrower())
		return;
	slot = fxt_slot(&agent_engine, writer->number);
	frame = arguments_frame(slot, function, frame_address - sizeof(uint64_t));
	cell = frame ? cell_make(writer->number, slot, frame) : NULL;
	if (!cell)
		return;
	cell->start = 0;
	cell->planned = agent_arguments_planned(function);
	if (!cell->planned.call)
		return;
	cell->generation = agent_engine.generation;
	cell->words = cell->count = 0;
	cell_add(cell, &registers, false);
	arguments_start_again(writer, frame);
	cell->start = frame->start;
}

struct agent_argument_cell *agent_arguments_of(
        const struct fxt_thread_writer *writer, const struct fxt_frame *frame, bool is_abandoned)
{
	struct agent_argument_cell *cell;
	uint64_t general[AGENT_SAVED_REGISTERS] = {[AGENT_SAVED_RAX] = agent_self.result.general};
	struct agent_registers registers = {0};

	if (likely(!cells))
		return NULL;
	cell = cell_find(writer->number, fxt_slot(&agent_engine, writer->number), frame);
	if (!cell || cell->start != frame->start || cell->generation != agent_engine.generation)
		return NULL;
	cell->start = 0;
	/* The call's module may be unloaded by now, and its plan with it. */
	if (is_abandoned ||
	        agent_arguments_planned(frame->function >> FXT_FRAME_INDEX_BITS).call != cell->planned.call)
		return cell;
	if (is_frame_of(frame, (const void *)(uintptr_t)agent_self.result.function)) {
		registers.general = general;
		registers.vector = &agent_self.result.vector;
	}
	cell_add(cell, &registers, true);
	return cell;
}

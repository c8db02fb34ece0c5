#include "caller.h"

void caller_attach(struct caller *caller, struct fxt_engine *e)
{
	caller->e = e;
	caller->writer = fxt_thread_attach(e);
	assert_non_null(caller->writer);
	caller->slot = fxt_slot(e, caller->writer->number);
	caller->koid = caller->slot->koid;
}

static uint64_t caller_word(struct caller *caller, uint64_t function)
{
	uint64_t word = fxt_function_find(&caller->e->functions, function), mask;

	if (word)
		return word;
	mask = fxt_lock(&caller->e->lock);
	word = fxt_function_register(caller->e, function, 1);
	fxt_unlock(&caller->e->lock, mask);
	return word;
}

void caller_nested(struct caller *caller)
{
	add_relaxed(&caller->slot->nested_lost, 1);
	store_relaxed(&caller->writer->limit, 0);
	store_relaxed(&caller->writer->top_limit, 0);
}

static uint64_t caller_now(const struct caller *caller, uint64_t at_least)
{
	uint64_t now = arch_counter();

	(void)caller;
	return now > at_least ? now : at_least;
}

void enter(struct caller *caller, uint64_t function)
{
	struct fxt_thread_writer *writer = caller->writer;

	if (load_relaxed(&writer->busy) != FXT_IDLE) {
		caller_nested(caller);
		return;
	}
	store_relaxed(&writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	struct fxt_frame *top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);

	if ((uint64_t)(uintptr_t)top >= load_relaxed(&writer->top_limit)) {
		if (!load_relaxed(&writer->top_limit)) {
			fxt_thread_check(caller->e, writer);
			fxt_stack_restore_limit(caller->e, writer);
		}
		top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);
		if ((uint64_t)(uintptr_t)top >= fxt_stack_end(caller->e, writer)) {
			if (!fxt_stack_grow(caller->e, writer)) {
				fxt_chunk_count_lost(caller->e, writer, fxt_slot(caller->e, writer->number),
				        1, arch_counter());
				writer->frameless_calls++;
				store_relaxed(&writer->limit, 0);
				store_release(&writer->busy, FXT_IDLE);
				return;
			}
			top = (struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top);
		}
	}
	/* In the agent's order: a snapshot may copy the frame at the same time, and knows
	 * by its start that it is new (writer/collect/snapshot.c). A compound literal is
	 * zeros first. */
	uint64_t word = caller_word(caller, function);

	top->call_site = top->stack_offset = 0;
	store_relaxed(&top->start, caller_now(caller, writer->last + caller->e->step));
	store_release(&top->function, word);
	store_relaxed(&writer->last, top->start);
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)(top + 1));
	store_release(&writer->busy, FXT_IDLE);
}

static void leave_on_slow_path(struct caller *caller, uint64_t now)
{
	struct fxt_thread_writer *writer = caller->writer;
	const struct fxt_frame *frame;
	uint64_t record[4], end;

	store_release(&writer->busy, FXT_SLOW_PATH);
	if (fxt_thread_check(caller->e, writer) == FXT_THREAD_RENEWED)
		goto out;
	if (!writer->top_limit)
		fxt_stack_restore_limit(caller->e, writer);
	if (writer->frameless_calls) {
		writer->frameless_calls--;
		goto out;
	}
	frame = (const struct fxt_frame *)(uintptr_t)caller->slot->top - 1;
	if (frame->function == 0)
		goto out;
	end = now > writer->last ? now : writer->last;
	for (;;) {
		uint64_t index = frame->function & FXT_INDEX_LOCAL;

		if (index == FXT_INDEX_LOCAL)
			index = fxt_local_index(
			        caller->e, writer, frame->function >> FXT_FRAME_INDEX_BITS, 1, 3);
		if (index) {
			size_t words = fxt_put_event(record, 4, FXT_EVENT_DURATION_COMPLETE,
			        fxt_thread_index(caller->slot->thread_index),
			        fxt_string_index(FXT_KNOWN_FUNCTION), fxt_string_index((uint32_t)index),
			        frame->start, NULL, 0, end);

			if (fxt_chunk_try_write(caller->e, writer, record, words, true))
				break;
		}
		if (!index || ((frame->function & FXT_INDEX_LOCAL) != FXT_INDEX_LOCAL &&
		                      !fxt_chunk_reserve(caller->e, writer, 3))) {
			fxt_chunk_count_lost(caller->e, writer, fxt_slot(caller->e, writer->number), 1, end);
			break;
		}
	}
	store_relaxed(&writer->last, end > writer->last ? end : writer->last);
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)frame);
out:
	store_release(&writer->busy, FXT_IDLE);
}

void leave(struct caller *caller)
{
	struct fxt_thread_writer *writer = caller->writer;

	if (load_relaxed(&writer->busy) != FXT_IDLE)
		return;
	uint64_t now = arch_counter();

	store_relaxed(&writer->busy, FXT_WRITING);
	compiler_barrier();
	const struct fxt_frame *frame =
	        (const struct fxt_frame *)(uintptr_t)load_relaxed(&caller->slot->top) - 1;
	uint64_t end = now > writer->last ? now : writer->last;

	uint64_t *position;

	if (frame->function == 0 || (frame->function & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL ||
	        !fxt_chunk_has_room(writer, caller->slot, &position)) {
		leave_on_slow_path(caller, now);
		return;
	}
	fxt_chunk_put_call(writer, caller->slot, position, frame->function, frame->start, end);
	store_release(&caller->slot->top, (uint64_t)(uintptr_t)frame);
	store_relaxed(&writer->last, end);
	store_release(&writer->busy, FXT_IDLE);
}

void call(struct caller *caller, uint64_t function)
{
	enter(caller, function);
	leave(caller);
}

/* Makes calls, nested at random. */
static void *work(void *argument)
{
	struct worker *w = argument;
	uint64_t random = w->seed * 2 + 1;
	unsigned depth = 0;

	caller_attach(&w->caller, &w->rig->e);
	for (uint64_t made = 0; made < w->calls;) {
		bool up = xorshift(&random) >> 60 & 1;

		if (depth == 0 || (up && depth < w->depth)) {
			enter(&w->caller, FUNCTION(xorshift(&random) % w->functions));
			depth++;
			made++;
		} else {
			leave(&w->caller);
			depth--;
		}
	}
	while (depth-- && !w->leaves_open)
		leave(&w->caller);
	return NULL;
}

void start_worker(struct worker *w, struct rig *rig, uint64_t seed)
{
	w->rig = rig;
	w->seed = seed;
	w->functions = w->functions ? w->functions : 50;
	w->depth = w->depth ? w->depth : 20;
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

void check_worker(const struct worker *w, bool shown)
{
	const struct trace *t = &w->rig->trace;
	const struct fxt_thread_slot *slot = w->caller.slot;
	uint64_t koid = w->caller.koid, lost = slot->lost + slot->nested_lost;

	assert_true(slot->state == FXT_SLOT_LIVE && slot->koid == koid);
	assert_true(trace_names(t, koid));
	assert_int_equal(trace_count(t, EVENT_CALL, koid) + trace_count(t, EVENT_OPEN_CALL, koid) + lost +
	                         slot->overwritten,
	        w->calls);
	if (shown)
		assert_int_equal(trace_count(t, EVENT_LOSS, koid), lost);
	assert_int_equal(trace_count(t, EVENT_LOSS, koid) + trace_count(t, EVENT_OVERWRITTEN, koid),
	        lost + slot->overwritten);
}

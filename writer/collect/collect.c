/*
 * The calls of a collector: a saved buffer, records ahead of it, and the rest of a
 * provider, each with a check before and a hand-out after. Runs in the manager, or on the
 * helper of a standalone agent. Must never call malloc or stdio, and never trust the shared
 * memory.
 */
#include "internal.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/buffer.h"
#include "writer/format/format.h"
#include "writer/engine/elided.h"
#include "writer/shared/sys.h"

#define THREADS_MOST (UINT64_C(1) << 22) /* threads that can wait at the same time */

#define NOTES_BYTES (FXT_SLOTS * sizeof(struct fxt_slot_note))

void fxt_collector_init(struct fxt_collector *c, const void *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, fxt_emit *emit, void *context)
{
	memset(c, 0, sizeof(*c));
	c->buffer = buffer;
	c->buffer_bytes = buffer_bytes;
	c->control = control;
	c->copy.emit = emit;
	c->copy.context = context;
	/* read before the agent could change it */
	c->mode = (enum fxt_buffering_mode)control->buffering_mode;
	c->elides_calls = fxt_elides_calls(control);
	c->process_koid = control->process_koid;
	c->ticks_per_second = control->ticks_per_second;
	fxt_buffer_layout(c->mode, buffer_bytes, &c->layout);
}

int fxt_collector_reserve(struct fxt_collector *c)
{
	if (!c->notes)
		c->notes = sys_map(NOTES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	return c->notes ? fxt_copy_open(&c->copy) : ENOMEM;
}

static void collect_forget_notes(struct fxt_collector *c)
{
	if (c->notes)
		sys_unmap(c->notes, NOTES_BYTES);
	c->notes = NULL;
}

void fxt_collector_restart(struct fxt_collector *c, enum fxt_start_mode mode)
{
	if (mode == FXT_START_RETAIN)
		return;
	c->next_wrapped = 0;
	fxt_collect_forget_ahead(c);
	if (mode == FXT_START_CLEAR_NONDURABLE && c->mode != FXT_ONESHOT)
		return;
	c->durable_saved = 0;
	c->earlier_losses = c->losses;
}

void fxt_collector_repeat_names(struct fxt_collector *c)
{
	c->durable_saved = 0;
}

/* Ends every call: hands out the records taken, and returns the call's result. */
static int collect_end(struct fxt_collector *c)
{
	int error = fxt_copy_flush(&c->copy);

	if (c->copy.reason)
		fxt_collect_leave_out(c, c->copy.reason);
	return error ? error : c->violated ? EPROTO : 0;
}

/* Begins every call: checks that the buffer's header is as it was set up. Returns 0,
 * EPROTO, or ENOMEM. */
static int collect_begin(struct fxt_collector *c)
{
	if (fxt_copy_open(&c->copy) != 0)
		return ENOMEM;
	c->reason = fxt_buffer_check(fxt_collect_header(c), c->mode, c->buffer_bytes);
	c->violated = c->reason != NULL;
	c->buffer_address = load_relaxed(&c->control->buffer_address);
	c->copy.kept_from = load_relaxed(&c->control->kept_from);
	return c->reason ? EPROTO : 0;
}

int fxt_collect_saved_buffer(struct fxt_collector *c, const struct fxt_packet *packet)
{
	int error = collect_begin(c);

	if (error)
		return error;
	if (c->mode != FXT_STREAMING)
		fxt_collect_violated(c, "a buffer was saved that is not streamed");
	else if (packet->data32 != c->next_wrapped)
		fxt_collect_violated(c, "a buffer was saved out of turn");
	else if (packet->data64 < FXT_DURABLE_MIN_BYTES)
		fxt_collect_violated(c, "the end of the durable data is outside its buffer");
	if (c->violated)
		return EPROTO;
	/* Counted before it is read: a buffer that is found malformed is not asked for
	 * again. */
	c->next_wrapped++;
	c->saves++;
	/* Records handed out ahead may have needed names that came after the packet. */
	if (packet->data64 > c->durable_saved || !c->ahead)
		fxt_collect_durable(c, packet->data64);
	if (!c->violated)
		fxt_collect_chunks(c, packet->data32, FXT_THREAD_CHUNKS, true);
	fxt_collect_forget_ahead(c);
	return collect_end(c);
}

int fxt_collect_ahead(struct fxt_collector *c)
{
	int error = collect_begin(c);

	if (error)
		return error;
	/* A full buffer is handed over: its packet is under way. */
	if (c->mode != FXT_STREAMING ||
	        load_acquire(&fxt_collect_header(c)->wrapped_count) != c->next_wrapped)
		return 0;
	error = fxt_collect_begin_ahead(c);
	if (error)
		return error;
	fxt_collect_chunks_ahead(c);
	return collect_end(c);
}

/* ---- the rest of a provider ---- */

/* Lengths first, then the durable end: every name these records use lies below it. */
static void collect_sample_lengths(struct fxt_collector *c, uint32_t used)
{
	c->durable_committed = load_acquire(&c->control->durable_committed);
	for (uint32_t i = 0; i < used; i++)
		c->notes[i].committed = load_acquire(&fxt_control_slot(c->control, i)->committed);
}

static void collect_rolling_buffers(struct fxt_collector *c)
{
	uint32_t wrapped = load_acquire(&fxt_collect_header(c)->wrapped_count);
	uint32_t unsaved = wrapped - c->next_wrapped;

	if (c->mode == FXT_ONESHOT) {
		fxt_collect_chunks(c, 0, FXT_THREAD_CHUNKS, false);
		return;
	}
	if (c->mode == FXT_STREAMING && unsaved > 1) {
		fxt_collect_violated(c, "the wrapped count jumped");
		return;
	}
	if (c->mode == FXT_STREAMING ? unsaved == 1 : wrapped > 0)
		fxt_collect_chunks(c, wrapped - 1, FXT_THREAD_CHUNKS, unsaved == 1);
	fxt_collect_chunks(c, wrapped, FXT_THREAD_CHUNKS, unsaved == 0);
}

/* Takes everything that is left. A part that breaks a rule is left out, and the next one is
 * taken. */
static void collect_take_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	uint32_t used = load_acquire(&c->control->slots_used);
	uint64_t large_stacks_seen = 0;

	if (used > FXT_SLOTS) {
		fxt_collect_violated(c, "more thread slots in use than there are");
		used = 0;
	}
	collect_sample_lengths(c, used);
	if (c->mode == FXT_ONESHOT)
		fxt_collect_chunks(c, 0, FXT_DURABLE_CHUNKS, false);
	else
		fxt_collect_durable(c, load_acquire(&fxt_collect_header(c)->durable_data_end));
	collect_rolling_buffers(c);
	fxt_collect_forget_ahead(c);
	c->threads = load_relaxed(&c->control->threads);
	c->waited_ticks =
	        fxt_collect_believe_ticks(c, load_relaxed(&c->control->waited_ticks), THREADS_MOST, now);
	c->losses = c->earlier_losses;
	for (uint32_t i = 0; i < used && !c->copy.error; i++)
		fxt_collect_take_slot(c, i, &large_stacks_seen, ending, now);
	fxt_collect_recycled(c, now);
	if (!c->copy.error)
		fxt_collect_elided(c, now);
}

int fxt_collect_rest(struct fxt_collector *c, enum fxt_ending ending, uint64_t now)
{
	int error = fxt_collector_reserve(c);

	if (!error)
		error = collect_begin(c);
	if (!error) {
		c->takes_rest = true;
		collect_take_rest(c, ending, now);
		c->takes_rest = false;
		error = collect_end(c);
		fxt_copy_close(&c->copy);
	}
	collect_forget_notes(c);
	return error;
}

void fxt_collector_free(struct fxt_collector *c)
{
	fxt_copy_close(&c->copy);
	fxt_collect_end_ahead(c);
	collect_forget_notes(c);
}

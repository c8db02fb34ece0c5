#include "ahead.h"
#include <string.h>
#include "writer/shared/clock.h"

/* Together they take half of the promised second. The other half is for a disk, a
 * compressor (0.1 s), and a busy machine. A provider is checked whenever its thread wakes
 * up anyway (provider_thread.c). */
#define LOOK_NS UINT64_C(100000000)
#define DUE_NS  UINT64_C(300000000)

/* The wait for unknown names. After it, room is left for them. */
#define NAMES_NS UINT64_C(200000000)

uint64_t fxt_ahead_progress(const struct fxt_provider *p)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	uint32_t used = load_acquire(&p->memory.control->slots_used);
	uint32_t wrapped = load_relaxed(&header->wrapped_count);
	uint64_t sum = load_relaxed(&header->durable_data_end) + wrapped +
	               load_relaxed(&header->rolling_data_end[wrapped & 1]);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++)
		sum += load_relaxed(&fxt_control_slot(p->memory.control, i)->committed);
	return sum;
}

/* True if no command is in progress, since the agent clears its buffers for one. */
static bool ahead_is_settled(const struct fxt_provider *p, uint32_t command)
{
	const struct fxt_control *control = p->memory.control;

	/* Acquire: pairs with the agent's release; packets that result from the command
	 * were written before. */
	return (load_acquire(&control->carried_out) == command || load_relaxed(&control->commands_ignored)) &&
	       fxt_provider_is_heard(p);
}

/* Returns true if everything committed before is saved. */
static bool ahead_save(struct fxt_provider *p)
{
	uint32_t command = load_acquire(&p->memory.control->session_command);
	int failed;

	if (!ahead_is_settled(p, command))
		return false;
	if (!p->is_ahead) {
		p->is_ahead = true;
		p->ahead_from = fxt_archive_bytes(p->archive);
		p->ahead_events = p->collector.copy.events;
	}
	p->collector.copy.guard = &p->memory.control->session_command;
	p->collector.copy.guard_value = command;
	p->records.names_until_ns = fxt_monotonic_ns() + NAMES_NS;
	failed = fxt_collect_ahead(&p->collector);
	fxt_record_writer_flush(&p->records);
	p->records.names_until_ns = 0;
	p->collector.copy.guard = NULL;
	if (failed)
		fxt_provider_abort(p, p->collector.reason ? p->collector.reason : strerror(failed));
	else if (p->collector.reason)
		fxt_provider_elided(p, p->collector.reason);
	return !p->collector.copy.is_stale;
}

static bool ahead_is_recorded(const struct fxt_provider *p)
{
	enum fxt_provider_state state = fxt_provider_state(p);

	return p->collector.mode == FXT_STREAMING &&
	       (state == FXT_STATE_RECORDING || state == FXT_STATE_STOPPED);
}

uint64_t fxt_ahead_look(struct fxt_ahead *a, struct fxt_provider *p, uint64_t wait)
{
	uint64_t now, progress;

	if (!ahead_is_recorded(p))
		return wait;
	now = fxt_monotonic_ns();
	if (a->saves != p->collector.saves)
		a->since_ns = 0; /* all present records came after that */
	a->saves = p->collector.saves;
	if (now >= a->look_ns) {
		a->look_ns = now + LOOK_NS;
		progress = fxt_ahead_progress(p);
		if (progress == a->saved)
			a->since_ns = 0;
		else if (!a->since_ns)
			a->since_ns = now;
		else if (now - a->since_ns >= DUE_NS && ahead_save(p)) {
			a->saved = progress;
			a->since_ns = 0;
		}
	}
	return a->since_ns && wait > LOOK_NS ? LOOK_NS : wait;
}

void fxt_ahead_clear(struct fxt_provider *p)
{
	if (!p->is_ahead)
		return;
	fxt_archive_clear(p->archive, &p->identity, p->ahead_from);
	p->ahead_from = fxt_archive_bytes(p->archive);
	p->collector.copy.events = p->ahead_events;
}

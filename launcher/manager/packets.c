/*
 * Handles the packets of a provider, on the provider's thread. The provider writes them and
 * may write anything: an invalid packet must harm nothing but its own data.
 */
#include "packets.h"
#include <string.h>
#include "ahead.h"
#include "results.h"
#include "writer/shared/clock.h"
#include "writer/shared/sys.h"

static const char *packets_reply_saved(struct fxt_provider *p, const struct fxt_packet *saved)
{
	struct fxt_packet reply = {FXT_PROVIDER_BUFFER_SAVED, 0, saved->data32, saved->data64};
	/* Each save is answered once, and this one was counted: so many replies were sent
	 * before. */
	uint32_t sent = p->collector.saves - 1;

	return fxt_ring_send_counted(&p->memory.control->to_provider, sent, &reply)
	               ? NULL
	               : "it does not take the manager's packets";
}

static void packets_ignore(struct fxt_provider *p, const char *packet)
{
	if (!p->misplaced)
		fxt_provider_say(p, "sent %s at the wrong time; it was ignored", packet);
	p->misplaced = true;
}

static const char *packets_started(struct fxt_provider *p, const struct fxt_packet *packet)
{
	uint32_t command = load_relaxed(&p->memory.control->started_by);

	if (packet->data32 != FXT_FIFO_PROTOCOL_VERSION)
		return "it speaks another version of the packet protocol";
	if (fxt_provider_state(p) == FXT_STATE_RECORDING) {
		packets_ignore(p, "STARTED");
		return NULL;
	}
	/* The provider wrote that word: a wrong mode in it harms only its own data. */
	if (p->runs || p->had_recordings) {
		enum fxt_start_mode mode = p->runs ? (enum fxt_start_mode)FXT_SESSION_START_MODE(command)
		                                   : FXT_START_CLEAR_ENTIRE;

		if (mode != FXT_START_RETAIN)
			fxt_ahead_clear(p);
		fxt_collector_restart(&p->collector, mode);
		fxt_record_writer_restart(&p->records);
	}
	p->runs++;
	fxt_provider_enter(p, FXT_STATE_RECORDING);
	fxt_provider_note_progress(p);
	return NULL;
}

static const char *packets_save_buffer(struct fxt_provider *p, const struct fxt_packet *packet)
{
	int failed;

	if (!p->runs || p->collector.mode != FXT_STREAMING) {
		packets_ignore(p, "SAVE_BUFFER");
		return NULL;
	}
	failed = fxt_collect_saved_buffer(&p->collector, packet);
	fxt_record_writer_flush(&p->records);
	if (failed)
		return p->collector.reason ? p->collector.reason : strerror(failed);
	if (p->collector.reason)
		fxt_provider_elided(p, p->collector.reason);
	p->is_ahead = false;
	/* Before the reply: after it the provider overwrites the saved records. */
	fxt_provider_note_progress(p);
	return packets_reply_saved(p, packet);
}

static void packets_stopped(struct fxt_provider *p)
{
	if (fxt_provider_state(p) != FXT_STATE_RECORDING) {
		packets_ignore(p, "STOPPED");
		return;
	}
	p->stopped_ticks = fxt_clock_ticks(p->clock);
	/* Acquire: pairs with the release of fxt_provider_stop(), which gave the command
	 * after it. */
	if (load_acquire(&p->results_wanted))
		fxt_results_save(p);
	else
		fxt_provider_enter(p, FXT_STATE_STOPPED);
	fxt_provider_note_progress(p);
}

static void packets_alert(struct fxt_provider *p, const struct fxt_packet *packet)
{
	char name[FXT_ALERT_NAME_BYTES] = "";

	memcpy(name, (const uint8_t *)packet + offsetof(struct fxt_packet, reserved), sizeof(name) - 1);
	fxt_wakeup_send(p->wakeup, name);
}

/* Takes existing triggers only. */
static void packets_take_triggers(struct fxt_provider *p)
{
	uint32_t *triggered = &p->memory.control->triggered;
	/* Acquire: pairs with the agent's release; the calls are recorded. */
	uint32_t raised = load_relaxed(triggered) && p->runs ? exchange_acquire(triggered, 0) : 0;

	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (raised >> i & 1) {
			uint64_t times = load_relaxed(&p->memory.control->triggers[i].raised);

			/* Calls already reported for another bit are not reported again. */
			if (times != p->triggers_taken[i])
				fxt_wakeup_trigger(p->wakeup, i, times - p->triggers_taken[i]);
			p->triggers_taken[i] = times;
		}
}

/* Returns NULL, or the reason for aborting the provider. */
static const char *packets_handle(struct fxt_provider *p, const struct fxt_packet *packet)
{
	if (packet->reserved && packet->request != FXT_PROVIDER_ALERT)
		return "it sent a packet whose reserved bits are set";
	switch (packet->request) {
	case FXT_PROVIDER_STARTED:
		return packets_started(p, packet);
	case FXT_PROVIDER_SAVE_BUFFER:
		return packets_save_buffer(p, packet);
	case FXT_PROVIDER_STOPPED:
		packets_stopped(p);
		return NULL;
	case FXT_PROVIDER_ALERT:
		packets_alert(p, packet);
		return NULL;
	case FXT_PROVIDER_FILTERED: /* its data is in the control memory */
		fxt_wakeup_send(p->wakeup, NULL);
		return NULL;
	case FXT_PROVIDER_TRIGGERED: /* handled behind all packets */
		return NULL;
	default:
		return "it sent a packet of an unknown kind";
	}
}

void fxt_packets_handle(struct fxt_provider *p)
{
	struct fxt_ring *ring = &p->memory.control->to_manager;
	/* Acquire: pairs with the agent's release; the counted packets are in the ring. */
	uint32_t waiting = load_acquire(&ring->written) - p->packets;

	if (waiting > FXT_FIFO_DEPTH)
		fxt_provider_abort(p, "it sent more packets than the ring holds");
	for (; waiting > 0 && fxt_provider_state(p) != FXT_STATE_ABORTED; waiting--) {
		struct fxt_packet packet =
		        *(volatile struct fxt_packet *)&ring->packet[p->packets % FXT_FIFO_DEPTH];
		enum fxt_provider_state before = fxt_provider_state(p);
		const char *reason;

		/* Release: the packet was copied before its place is given back. */
		store_release(&ring->read, p->packets + 1);
		reason = packets_handle(p, &packet);
		/* Release: pairs with the acquire of fxt_provider_is_heard(); the state
		 * includes the packet's effect. */
		store_release(&p->packets, p->packets + 1);
		/* A thread woken by the state may have looked before the packet counted as
		 * handled. */
		if (fxt_provider_state(p) != before)
			fxt_wakeup_send(p->wakeup, NULL);
		if (reason)
			fxt_provider_abort(p, reason);
	}
	packets_take_triggers(p);
}

#include "packets.h"
#include <string.h>
#include "writer/clock.h"
#include "writer/sys.h"

void fxt_packets_order(struct fxt_provider *p, enum fxt_session_command order, enum fxt_start_mode mode)
{
	uint32_t *command = &p->memory.control->session_command;

	/* Release: what goes with the order stands before it. Pairs with the agent's acquire. */
	store_release(command, fxt_session_command_next(load_relaxed(command), order, mode));
	sys_futex_wake(command, 1);
}

static void abort_provider(struct fxt_provider *p, const char *reason)
{
	p->aborted = true;
	fxt_packets_order(p, FXT_COMMAND_QUIT, 0);
	fxt_provider_say(p, "is no longer traced: %s", reason);
}

static const char *reply_saved(struct fxt_provider *p, const struct fxt_packet *saved)
{
	struct fxt_ring *ring = &p->memory.control->to_provider;
	/* One reply a request, and one request at a time: the number of saves is that of replies before this
	 * one. */
	uint32_t written = p->collector.saves - 1;

	if (written - load_acquire(&ring->read) >= FXT_FIFO_DEPTH)
		return "it does not take the manager's packets";
	ring->packet[written % FXT_FIFO_DEPTH] =
	        (struct fxt_packet){FXT_PROVIDER_BUFFER_SAVED, 0, saved->data32, saved->data64};
	/* Release: pairs with the agent's acquire, the packet stands before it is counted. */
	store_release(&ring->written, written + 1);
	sys_futex_wake(&ring->written, 1);
	return NULL;
}

static void ignore(struct fxt_provider *p, const char *packet)
{
	if (!p->scolded)
		fxt_provider_say(p, "sent %s at the wrong time; it was ignored", packet);
	p->scolded = true;
}

static const char *started(struct fxt_provider *p, const struct fxt_packet *packet)
{
	uint32_t command = load_relaxed(&p->memory.control->started_by);

	if (packet->data32 != FXT_FIFO_PROTOCOL_VERSION)
		return "it speaks another version of the packet protocol";
	if (p->recording) {
		ignore(p, "STARTED");
		return NULL;
	}
	/* A wrong mode there harms that provider's data only. */
	if (p->started)
		fxt_collector_restart(&p->collector, (enum fxt_start_mode)FXT_SESSION_START_MODE(command));
	p->started = true;
	p->results_taken = false;
	store_release(&p->recording, 1);
	fxt_wakeup_send(p->wakeup, NULL);
	return NULL;
}

static const char *save_buffer(struct fxt_provider *p, const struct fxt_packet *packet)
{
	if (!p->started || p->collector.mode != FXT_STREAMING) {
		ignore(p, "SAVE_BUFFER");
		return NULL;
	}
	if (fxt_collect_saved_buffer(&p->collector, packet) != 0)
		return p->collector.reason;
	if (p->collector.reason)
		fxt_provider_left_out(p, p->collector.reason);
	return reply_saved(p, packet);
}

static void stopped(struct fxt_provider *p)
{
	if (!p->recording) {
		ignore(p, "STOPPED");
		return;
	}
	p->stopped_ticks = fxt_clock_ticks((enum fxt_clock_kind)p->clock);
	/* Acquire: pairs with the order, before which it was said. */
	if (load_acquire(&p->results_wanted))
		fxt_provider_take_results(p, FXT_ENDED_NORMALLY, p->stopped_ticks);
	store_release(&p->recording, 0);
	fxt_wakeup_send(p->wakeup, NULL);
}

static void alert(struct fxt_provider *p, const struct fxt_packet *packet)
{
	char name[FXT_ALERT_NAME_BYTES] = "";

	if (!p->started) {
		ignore(p, "ALERT");
		return;
	}
	memcpy(name, (const uint8_t *)packet + offsetof(struct fxt_packet, reserved), sizeof(name) - 1);
	fxt_wakeup_send(p->wakeup, name);
}

/* Returns NULL, or why the provider is to be aborted. */
static const char *handle(struct fxt_provider *p, const struct fxt_packet *packet)
{
	if (packet->reserved && packet->request != FXT_PROVIDER_ALERT)
		return "it sent a packet whose reserved bits are set";
	switch (packet->request) {
	case FXT_PROVIDER_STARTED:
		return started(p, packet);
	case FXT_PROVIDER_SAVE_BUFFER:
		return save_buffer(p, packet);
	case FXT_PROVIDER_STOPPED:
		stopped(p);
		return NULL;
	case FXT_PROVIDER_ALERT:
		alert(p, packet);
		return NULL;
	default:
		return "it sent a packet of an unknown kind";
	}
}

void fxt_packets_handle(struct fxt_provider *p)
{
	struct fxt_ring *ring = &p->memory.control->to_manager;
	/* Acquire: pairs with the agent's release, what is counted stands in the ring. */
	uint32_t waiting = load_acquire(&ring->written) - p->packets;

	if (waiting > FXT_FIFO_DEPTH)
		abort_provider(p, "it sent more packets than the ring holds");
	for (; waiting > 0 && !p->aborted; waiting--) {
		struct fxt_packet packet =
		        *(volatile struct fxt_packet *)&ring->packet[p->packets % FXT_FIFO_DEPTH];
		const char *reason;

		p->packets++;
		/* Release: the packet was copied before its place is given back. */
		store_release(&ring->read, p->packets);
		reason = handle(p, &packet);
		if (reason)
			abort_provider(p, reason);
	}
}

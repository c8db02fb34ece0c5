/*
 * The packets that an agent and its manager exchange while a session runs: those of a
 * Fuchsia trace provider's FIFO, 16 bytes each, at most 4 under way in each direction. Here
 * they lie in two rings in the control memory.
 */
#ifndef FXT_WRITER_PACKETS_H
#define FXT_WRITER_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

#define FXT_FIFO_PROTOCOL_VERSION 1u
#define FXT_FIFO_DEPTH            4u

enum fxt_packet_request {
	FXT_PROVIDER_STARTED = 1, /* provider -> manager; data32 = protocol version */
	/* provider -> manager; data32 = wrapped count, data64 = durable end */
	FXT_PROVIDER_SAVE_BUFFER = 2,
	FXT_PROVIDER_STOPPED = 3, /* provider -> manager */
	/* provider -> manager; 14 bytes of name from `reserved` on */
	FXT_PROVIDER_ALERT = 4,
	/* provider -> manager, ours; data32 = the change of the filter that was carried out
	 * (decisions.h) */
	FXT_PROVIDER_FILTERED = 0x80,
	/* provider -> manager, ours; a call has raised a trigger (fxt_control.triggered) */
	FXT_PROVIDER_TRIGGERED = 0x81,
	/* manager -> provider; echoes data32 and data64 */
	FXT_PROVIDER_BUFFER_SAVED = 0x100,
};

#define FXT_ALERT_NAME_BYTES 15 /* 14 in a packet, and the zero byte */

struct fxt_packet {
	uint16_t request;
	uint16_t reserved;
	uint32_t data32;
	uint64_t data64;
};
_Static_assert(sizeof(struct fxt_packet) == 16, "");

/*
 * A ring of packets from one producer to one consumer. The producer stores a packet, then
 * counts it in `written` (release), then wakes the consumer, which waits for `written` to
 * move (a shared futex: the two are in different processes) and loads it (acquire). The
 * consumer copies a packet out, then counts it in `read` (release), which the producer
 * loads (acquire) before it stores to that place again. Both counters wrap around; a
 * difference above FXT_FIFO_DEPTH means that the other side broke the protocol.
 */
struct fxt_ring {
	uint32_t written; /* by the producer */
	uint32_t read;    /* by the consumer */
	uint64_t pad;
	struct fxt_packet packet[FXT_FIFO_DEPTH];
};
_Static_assert(sizeof(struct fxt_ring) == 80, "");

/* Returns how many packets the consumer has yet to take. For the producer. */
uint32_t fxt_ring_count(const struct fxt_ring *ring);

/* Whether there is room for a packet of ours, or an alert. The rest is kept for packets
 * that the protocol needs. For the producer. */
static inline bool fxt_ring_has_room_for_others(const struct fxt_ring *ring)
{
	return fxt_ring_count(ring) < FXT_FIFO_DEPTH / 2;
}

/* Queues a packet and wakes the consumer. For the producer, one thread at a time. False:
 * the ring is full. */
bool fxt_ring_send(struct fxt_ring *ring, const struct fxt_packet *packet);

/* The same for a producer that counts its packets itself, because the other side could
 * write to the ring's counter; `sent` is the number sent before. */
bool fxt_ring_send_counted(struct fxt_ring *ring, uint32_t sent, const struct fxt_packet *packet);

#endif

#include "packets.h"
#include "sys.h"

uint32_t fxt_ring_count(const struct fxt_ring *ring)
{
	/* Acquire: the consumer copied a packet out before it counted it as read. Pairs
	 * with its release. */
	return load_relaxed(&ring->written) - load_acquire(&ring->read);
}

bool fxt_ring_send_counted(struct fxt_ring *ring, uint32_t sent, const struct fxt_packet *packet)
{
	/* Acquire: the consumer copied a packet out before it counted it as read. Pairs
	 * with its release. */
	if (sent - load_acquire(&ring->read) >= FXT_FIFO_DEPTH)
		return false;
	ring->packet[sent % FXT_FIFO_DEPTH] = *packet;
	/* Release: the packet stands in the ring before it is counted. Pairs with the
	 * consumer's acquire. */
	store_release(&ring->written, sent + 1);
	sys_futex_wake(&ring->written, 1);
	return true;
}

bool fxt_ring_send(struct fxt_ring *ring, const struct fxt_packet *packet)
{
	return fxt_ring_send_counted(ring, load_relaxed(&ring->written), packet);
}

/*
 * A snapshot: a copy of a running provider's memory as it was at one moment, for a collector to read at
 * leisure. The program goes on meanwhile; only a thread that needs a new chunk just then may have to wait,
 * FXT_SNAPSHOT_HOLD_NS at most, and the trace shows that wait.
 *
 * Records of an open chunk never change once committed, so what has to stand still is which thread has which
 * chunk. The agent counts such changes (control.chunk_sequence, odd during one): a copy between two equal
 * even counts is of one piece. Where changes come too often the manager asks for them to be held back.
 *
 * Open calls come and go without such a change. Of each thread are taken, in this order: the length
 * committed, the time, the frames, the length again. A frame that began after the time is newer than the
 * snapshot, and one whose record lies between the lengths has ended; both are left out, torn copies of a
 * frame among them.
 */
#ifndef FXT_WRITER_COLLECT_SNAPSHOT_H
#define FXT_WRITER_COLLECT_SNAPSHOT_H

#include <stdint.h>
#include "writer/control_map.h"
#include "writer/shared.h"

struct fxt_snapshot {
	uint8_t *buffer; /* buffer_bytes of the provider's */
	uint64_t buffer_bytes;
	struct fxt_control_map map; /* of the copy of the control memory */
	uint64_t ticks;             /* when it was taken, by the session's clock */
};

/*
 * Copies a provider's memory, of which `control` is mapped as `map` says; NULL: as a whole. 0; ENOMEM;
 * EPROTO: the memory breaks a rule (fxt_collect_rest() says which, on the memory itself); EAGAIN: the
 * provider changed its chunks all the time in spite of being asked to hold them. To be given to
 * fxt_collector_init() and fxt_collect_rest(FXT_STILL_RUNNING), and freed by fxt_snapshot_free().
 */
int fxt_snapshot_take(struct fxt_snapshot *snapshot, const uint8_t *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, struct fxt_control_map *map, bool elides_calls);

void fxt_snapshot_free(struct fxt_snapshot *snapshot);

#endif

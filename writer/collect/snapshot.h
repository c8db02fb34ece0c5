/*
 * A snapshot: a copy of a running provider's memory as it was at one moment, for a
 * collector to read without haste. The program goes on during the copy. Only a thread that
 * needs a new chunk at that moment may have to wait, FXT_SNAPSHOT_HOLD_NS at most, and the
 * trace shows that wait.
 *
 * Records of an open chunk never change once committed, so only the assignment of chunks to
 * threads has to stand still. The agent counts its changes (control.chunk_sequence, odd
 * during one): a copy between two equal even counts is consistent. If changes come too
 * often the manager asks the agent to hold them back.
 *
 * Open calls come and go without such a change. The snapshot reads for each thread, in this
 * order: the committed length, the time, the frames, the length again. A frame that began
 * after the time is newer than the snapshot, and a frame with a record between the two
 * lengths has ended. Both are left out, torn copies of a frame among them.
 */
#ifndef FXT_WRITER_COLLECT_SNAPSHOT_H
#define FXT_WRITER_COLLECT_SNAPSHOT_H

#include <stdint.h>
#include "writer/shared/control_map.h"
#include "writer/shared/shared.h"

struct fxt_snapshot {
	uint8_t *buffer; /* copy of the provider's buffer, buffer_bytes long */
	uint64_t buffer_bytes;
	struct fxt_control_map map; /* of the copy of the control memory */
	uint64_t ticks;             /* when it was taken, on the session's clock */
};

/*
 * Copies a provider's memory; `control` is mapped as `map` says, or as a whole if `map` is
 * NULL. Returns 0; ENOMEM; EPROTO: the memory breaks a rule (fxt_collect_rest() on the
 * memory itself says which); EAGAIN: the provider kept changing its chunks although it was
 * asked to hold them. The result is for fxt_collector_init() and
 * fxt_collect_rest(FXT_STILL_RUNNING), and is freed by fxt_snapshot_free().
 */
int fxt_snapshot_take(struct fxt_snapshot *snapshot, const uint8_t *buffer, uint64_t buffer_bytes,
        struct fxt_control *control, struct fxt_control_map *map, bool elides_calls);

void fxt_snapshot_free(struct fxt_snapshot *snapshot);

#endif

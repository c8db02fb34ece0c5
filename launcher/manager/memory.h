/*
 * The two memories that a provider shares with its manager (writer/shared/shared.h): memfds
 * of a fixed size. Seals keep either side from making the other one fault. Both are left
 * out of core dumps, and mapped here until they are freed.
 */
#ifndef FXT_LAUNCHER_MANAGER_MEMORY_H
#define FXT_LAUNCHER_MANAGER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/shared/buffer.h"
#include "writer/shared/control_map.h"
#include "writer/shared/shared.h"

struct fxt_memory {
	uint8_t *buffer;
	struct fxt_control *control;
	struct fxt_control_map map; /* of the control memory; grows as the provider's thread
	                             * reads it */
	uint64_t buffer_bytes, control_bytes;
	int buffer_fd;
	int control_fd; /* -1 after it was handed over */
	struct fxt_buffer_layout layout;
	uint64_t populated; /* end of the allocated part of the rolling buffers; an offset
	                     * in the buffer */
};

/* Creates both memories. buffer_bytes and mode must fit together (fxt_buffer_layout); the
 * control memory has at least fxt_control_bytes() bytes. Returns 0, or an errno value;
 * nothing is left then. */
int fxt_memory_create(
        struct fxt_memory *memory, uint64_t buffer_bytes, enum fxt_buffering_mode mode, bool elides_calls);

/* Maps memories that another process created, with the buffer layout of `mode`. The caller
 * keeps owning the descriptors. Returns 0, or an errno value; nothing is left then. */
int fxt_memory_adopt(struct fxt_memory *memory, int buffer_fd, int control_fd, enum fxt_buffering_mode mode);

/* Gives back the pages of recorded data, while the agent is stopped; the mappings stay.
 * Needs control_fd. */
void fxt_memory_release(const struct fxt_memory *memory);

/* Prepares the memories for another recording in that mode. */
void fxt_memory_renew(struct fxt_memory *memory, enum fxt_buffering_mode mode);

/* Closes and unmaps everything; does nothing on zeroed memory. */
void fxt_memory_free(struct fxt_memory *memory);

/*
 * Allocates pages ahead of the provider, at most one step per call, through the mapping of
 * this process. The program's memory is not locked during that, and its helper finds
 * populated pages (agent/process/helper.h). Allocating all of 64 MiB at start-up would take
 * 23 ms. Returns true if more pages must be allocated, now or later.
 */
bool fxt_memory_populate(struct fxt_memory *memory);

#endif

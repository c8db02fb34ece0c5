/*
 * The two memories a provider shares with its manager (writer/shared.h): memfds of a fixed size, sealed so
 * that neither side can be made to fault by the other, left out of core dumps, and mapped here until they are
 * freed.
 */
#ifndef FXT_LAUNCHER_SESSION_MEMORY_H
#define FXT_LAUNCHER_SESSION_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include "writer/buffer.h"
#include "writer/control_map.h"
#include "writer/shared.h"

struct fxt_memory {
	uint8_t *buffer;
	struct fxt_control *control;
	struct fxt_control_map map; /* of the control memory; grows as the provider's thread reads it */
	uint64_t buffer_bytes, control_bytes;
	int buffer_fd;
	int control_fd; /* -1 once handed over */
	struct fxt_buffer_layout layout;
	uint64_t populated; /* end of what was allocated of the rolling buffers; an offset in the buffer */
};

/* buffer_bytes and mode must fit together (fxt_buffer_layout); the control memory is as long as
 * fxt_control_bytes() says, or longer. Returns 0, or an errno value; nothing is left then. */
int fxt_memory_create(
        struct fxt_memory *memory, uint64_t buffer_bytes, enum fxt_buffering_mode mode, bool elides_calls);

/* Maps memories that another process created; it lays the buffer out by `mode`. The descriptors stay the
 * caller's. Returns 0, or an errno value; nothing is left then. */
int fxt_memory_adopt(struct fxt_memory *memory, int buffer_fd, int control_fd, enum fxt_buffering_mode mode);

/* Gives back the pages of what was recorded, while the agent is stopped; the mappings stay. Needs control_fd.
 */
void fxt_memory_release(const struct fxt_memory *memory);

/* Prepares for another recording in that mode. */
void fxt_memory_renew(struct fxt_memory *memory, enum fxt_buffering_mode mode);

/* Closes and unmaps what is there; on zeroed memory it does nothing. */
void fxt_memory_free(struct fxt_memory *memory);

/*
 * Allocates pages ahead of the provider, at most one step a call, through the mapping of this process: so the
 * memory of the program is not locked meanwhile, and its helper finds pages that are there
 * (agent/process/helper.h). All of 64 MiB at start-up would take 23 ms. Returns whether there is more to be
 * allocated, now or later.
 */
bool fxt_memory_populate(struct fxt_memory *memory);

#endif

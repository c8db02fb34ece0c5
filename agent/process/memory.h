/*
 * The memory that the engine runs on: from the manager (handshake.h), or the process's own
 * (standalone.h).
 *
 * A forked child first has its parent's memory mapped. Its own memory is mapped in the same
 * place if possible: a hook or a count that a handler interrupted before it made the child
 * then finds memory there when it continues. Such a hook may be about to write to the
 * buffer, but must not write to the child's own one. In this case the child's buffer is
 * mapped elsewhere. The old place is left to such hooks for three such generations
 * (AGENT_MEMORY_LEFT), and the next generation takes it. Thus a line of children does not
 * take ever more address space. A hook outlasts that only if each of the children was made
 * by a handler that interrupted a hook of the handler before.
 */
#ifndef FXT_AGENT_MEMORY_H
#define FXT_AGENT_MEMORY_H

#include "writer/shared/control_map.h"
#include "writer/shared/shared.h"

enum { AGENT_MEMORY_LEFT = 3 };

struct agent_memory {
	void *buffer; /* the trace buffer, of buffer_bytes; NULL: nothing is mapped */
	uint64_t buffer_bytes;
	struct fxt_control_map map; /* the control memory */
	/* Shared by all processes of the session; NULL: there is none. */
	struct fxt_common *common;
	/* A child's memory: private, in the place of its parent's. */
	bool is_detached;
	/* A hook of the parent's may use it: the next one is mapped elsewhere. */
	bool is_buffer_left;
	/* Places of earlier buffers that were left to hooks; a ring, NULL at first. */
	void *left[AGENT_MEMORY_LEFT];
	uint32_t left_next; /* the oldest of them */
};

/* In a forked child: maps private memory in the place of its parent's. False: there is no
 * memory, or not enough. */
bool agent_memory_detach(struct agent_memory *memory);

/* Maps a trace buffer and a control memory from these descriptors. A descriptor of -1
 * stands for shared memory of the process's own. False: there is no memory; then nothing is
 * mapped, or still the parent's. */
bool agent_memory_map(
        struct agent_memory *memory, uint64_t buffer_bytes, bool elides_calls, int buffer_fd, int control_fd);

/* In a process that stays untraced: its address space belongs to the program. */
void agent_memory_unmap(struct agent_memory *memory);

#endif

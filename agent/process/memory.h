/*
 * What the engine is to run on: from the manager (handshake.h), or the process's own (standalone.h). In a
 * forked child it is its parent's at first, and its own is mapped in the place of that if it can be: so a
 * hook or a count that a handler had interrupted before it made the child finds memory there as it goes on.
 * Of its own buffer it must not write to, as it may be about to: so that one is mapped elsewhere then. The
 * place that such hooks may write to is left to them for three such generations, and taken by the next one:
 * so no line of children takes more address space and more. A hook goes on for longer only if each of them
 * was made by a handler that came into a hook of the handler before.
 */
#ifndef FXT_AGENT_MEMORY_H
#define FXT_AGENT_MEMORY_H

#include "writer/control_map.h"
#include "writer/shared.h"

enum { AGENT_MEMORY_LEFT = 3 };

struct agent_memory {
	void *buffer; /* the trace buffer, of buffer_bytes; NULL: nothing is mapped */
	uint64_t buffer_bytes;
	struct fxt_control_map map;    /* of the control memory */
	struct fxt_common *common;     /* of all processes of the session; NULL: there is none */
	bool is_detached;              /* a child's, private in the place of its parent's */
	bool is_buffer_left;           /* to a hook of the parent's: the next one is mapped elsewhere */
	void *left[AGENT_MEMORY_LEFT]; /* places of earlier buffers that were left; a ring, NULL at first */
	uint32_t left_next;            /* the oldest of them */
};

/* In a forked child: has private memory in the place of its parent's. False: it cannot be had, or not all. */
bool agent_memory_detach(struct agent_memory *memory);

/* Maps a trace buffer and a control memory of these descriptors, or shared ones of its own where they are -1.
 * False: there is no memory, and nothing is mapped, or what the parent had. */
bool agent_memory_map(
        struct agent_memory *memory, uint64_t buffer_bytes, bool elides_calls, int buffer_fd, int control_fd);

/* Of a process that stays untraced: its address space is its program's. */
void agent_memory_unmap(struct agent_memory *memory);

#endif

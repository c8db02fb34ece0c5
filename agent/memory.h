/* What the engine is to run on: from the manager (handshake.h), or the process's own (standalone.h). */
#ifndef FXT_AGENT_MEMORY_H
#define FXT_AGENT_MEMORY_H

#include "writer/control_map.h"
#include "writer/shared.h"

struct agent_memory {
	void *buffer; /* the trace buffer, of buffer_bytes */
	uint64_t buffer_bytes;
	struct fxt_control_map map; /* of the control memory */
};

#endif

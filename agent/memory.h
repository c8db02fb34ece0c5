/* What the engine is to run on: from the manager (handshake.h), or the process's own (standalone.h). */
#ifndef FXT_AGENT_MEMORY_H
#define FXT_AGENT_MEMORY_H

#include "writer/shared.h"

struct agent_memory {
	void *buffer; /* the trace buffer, of buffer_bytes */
	uint64_t buffer_bytes;
	struct fxt_control *control; /* the control memory (fxt_control_bytes()) */
};

#endif

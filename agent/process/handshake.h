/*
 * The provider's side of the handshake with the manager: connect, hello, welcome with two
 * memory descriptors, map them, close everything.
 */
#ifndef FXT_AGENT_HANDSHAKE_H
#define FXT_AGENT_HANDSHAKE_H

#include <stdbool.h>
#include "memory.h"

/*
 * Asks the manager for the memory of this process. The manager listens at `path`, and at
 * the abstract name made of it. Waits five seconds at most for each answer. `is_new_image`:
 * after an exec or at the start, not in a forked child.
 *
 * REFUSED: the manager refused, and knows that; or, with one notice: no answer, another
 * version, no memory, no descriptors left. UNREACHED: the session is over; or it is out of
 * reach, with one notice unless the path does not exist.
 */
enum agent_connection { AGENT_CONNECTED, AGENT_REFUSED, AGENT_UNREACHED };

enum agent_connection agent_connect(const char *path, bool is_new_image, struct agent_memory *memory);

/* Asks the same manager for a plan of a module's file (writer/shared/handshake.h); "" is the
 * program's. Stores its size; the caller unmaps it. NULL: there is none. */
const void *agent_request_plan(enum fxt_plan_kind kind, const char *module, uint64_t *bytes);

#endif

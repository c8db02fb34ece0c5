/* New images and children. exec and posix_spawn give our variables back to a cleared
 * environment, so that a program's new image and its children are traced too. These calls
 * are recorded as well. */
#ifndef FXT_AGENT_EXEC_H
#define FXT_AGENT_EXEC_H

#include <stdint.h>
#include <sys/types.h>

/* Records the call `how` that made a child, from `begin` (agent_slice_begin()) until
 * now. */
void agent_record_child(uint64_t begin, const char *how, pid_t child);

#endif

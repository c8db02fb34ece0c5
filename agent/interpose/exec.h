/*
 * New images and children: exec and posix_spawn give our variables back to a cleared environment, so that
 * what a program becomes, or has as children, is traced too; and the records that tell of it.
 */
#ifndef FXT_AGENT_EXEC_H
#define FXT_AGENT_EXEC_H

#include <stdint.h>
#include <sys/types.h>

/* Records the call `how` that made a child, from `begin` (agent_slice_begin()) until now. */
void agent_record_child(uint64_t begin, const char *how, pid_t child);

#endif

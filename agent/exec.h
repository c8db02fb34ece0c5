/*
 * New images and children: exec and posix_spawn give our variables back to a cleared environment, so that
 * what a program becomes, or has as children, is traced too; and the records that tell of it.
 */
#ifndef FXT_AGENT_EXEC_H
#define FXT_AGENT_EXEC_H

#include <stdint.h>
#include <sys/types.h>

/* In place of a session's socket in the environment of an image that may make no system calls of ours. */
#define FXT_CONFINED "-"

/* Once, in the constructor of a managed process: how a new image finds the agent and the session. */
void agent_exec_prepare(const char *socket_path);

/* Records the call `how` that made a child, from `begin` (agent_slice_begin()) until now. */
void agent_record_child(uint64_t begin, const char *how, pid_t child);

#endif

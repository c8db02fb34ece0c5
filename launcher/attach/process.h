/*
 * Whether a process may be attached to, before anything is done to it.
 */
#ifndef FXT_LAUNCHER_ATTACH_PROCESS_H
#define FXT_LAUNCHER_ATTACH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns 0, or -1 and one line in error[error_bytes], with the remedy. `agent` is the path
 * of libfxtagent.so. */
int fxt_process_check(pid_t pid, const char *agent, char *error, size_t error_bytes);

/* True if the process is gone, or a zombie. */
bool fxt_process_has_ended(pid_t pid);

/* True if a signal has stopped the process, as SIGSTOP does. */
bool fxt_process_is_stopped(pid_t pid);

/* Returns the wait status of an ended process; -1: it is not known. The kernel keeps it
 * until the parent asks for it, from Linux 6.15 on also afterwards. */
int fxt_process_wait_status(pid_t pid, int pidfd);

/* Describes why ptrace(2) refused, by its errno value. */
void fxt_process_describe_refusal(pid_t pid, int refusal, char *error, size_t error_bytes);

/* Stores the living descendants of a process, and itself first, without the process
 * `except` and its descendants. Returns their number, at most `max`. */
size_t fxt_process_tree(pid_t pid, pid_t except, pid_t *found, size_t max);

#endif

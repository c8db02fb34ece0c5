/*
 * Reads fields of /proc/PID/status.
 */
#ifndef FXT_LAUNCHER_PROC_STATUS_H
#define FXT_LAUNCHER_PROC_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Stores the value of a field, such as "NSpid", without the blanks around it. False: the
 * process has ended, or the kernel has no such field. */
bool fxt_proc_status(pid_t pid, const char *field, char *value, size_t bytes);

#endif

/*
 * Makes log records of the program's log (fxtrun --log): of lines on its standard output
 * and standard error, and of messages of syslog().
 *
 *     program: write(2, ...)            --> blocking.c --> kernel
 *              fprintf(stderr, ...)     --> libc --> slot --> kernel
 *
 * Calls of write() and writev() are interposed. The C library writes its streams by calls
 * of its own. These lead through a word of its tables of streams (_IO_file_jumps,
 * _IO_wfile_jumps). The word gets the address of a function of this file. Therefore
 * perror(), assert() and std::cerr are recorded too. The real call comes first, and only
 * the bytes that it wrote are recorded. So the program's output never depends on the
 * recording.
 *
 * A record is a line without its end. If a write ends within a line, the thread keeps the
 * part. The part is recorded with the rest of the line, or when the thread or the process
 * ends.
 */
#ifndef FXT_AGENT_LOGS_H
#define FXT_AGENT_LOGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include "agent/base/attributes.h"
#include "writer/shared/atomics.h"

/* The recorded logs, as bits like those of control->logs. */
extern HIDDEN uint32_t agent_logs;

static inline bool agent_log_has(int fd)
{
	return unlikely(load_relaxed(&agent_logs)) && (fd == 1 || fd == 2) &&
	       (load_relaxed(&agent_logs) & (uint32_t)fd);
}

/* The program has written this. Keeps errno. */
void agent_log_written(int fd, const void *data, size_t bytes);
void agent_log_written_parts(int fd, const struct iovec *parts, int count, size_t bytes);

/* Records the kept part of a line, because the calling thread or the process ends.
 * `is_last`: the thread keeps nothing from now on. */
void agent_log_flush(bool is_last);

/* Forgets, in a forked child, the parent's part of a line. */
void agent_log_forget(void);

/* The control memory is there, and no thread of the program runs: not yet, or it is
 * stopped. */
void agent_log_prepare(void);

/* At a detach, which puts the tables of streams back (agent/patch/changes.h). */
void agent_log_end(void);

#endif

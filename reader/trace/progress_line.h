/*
 * A line at the bottom of the terminal that shows the progress of reading a trace, its
 * speed, and the time that is left:
 *
 *   reading  43% [##########              ] 1.1 GB/s, 5 s left
 *
 * It is shown if the standard error is a terminal that no other program has for itself, and
 * once the work has lasted half a second. The reading thread draws it a few times a second,
 * between two pieces of the trace (progress.h). All other output takes it away first
 * (fxt/terminal.h).
 */
#ifndef FXT_READER_PROGRESS_LINE_H
#define FXT_READER_PROGRESS_LINE_H

#include <sys/types.h>

/* Enables the line until fxt_progress_stop(). It is shown as long as `process` is in the
 * foreground of its terminal: the caller, or a process that shares its standard error. */
void fxt_progress_start(pid_t process);
void fxt_progress_stop(void);

/* Takes the line away; the next piece brings it back. */
void fxt_progress_erase(void);

#endif

/*
 * A line at the bottom of the terminal that tells how far reading a trace is, how fast, and how long it will
 * still take:
 *
 *   reading  43% [##########              ] 1.1 GB/s, 5 s left
 *
 * It is there if the standard error is a terminal that no other program has for itself, and once the work
 * has lasted half a second; it is drawn by who reads, a few times a second, between two pieces of the trace
 * (progress.h). Whatever is printed takes it away first (fxt/terminal.h).
 */
#ifndef FXT_READER_PROGRESS_LINE_H
#define FXT_READER_PROGRESS_LINE_H

#include <sys/types.h>

/* From here on there is such a line, as long as that process, the caller or one that shares its standard
 * error, is in the foreground of its terminal, and from fxt_progress_stop() on there is none. */
void fxt_progress_start(pid_t process);
void fxt_progress_stop(void);

/* Takes the line away; it comes back with the next piece that is read. */
void fxt_progress_erase(void);

#endif

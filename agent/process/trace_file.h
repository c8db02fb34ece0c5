/*
 * The file that a standalone recording writes. The first write claims it, so that no two
 * processes write one file. A forked child takes a name of its own from the start. A
 * process that finds the file locked, or written to since the process started, takes the
 * name with its process number in it. The lock lives as long as the process image. No
 * descriptor stays open between writes: a program may close descriptors that it does not
 * know.
 */
#ifndef FXT_AGENT_TRACE_FILE_H
#define FXT_AGENT_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Chooses the name: `output`, with %p as the place of the process number; NULL or empty =
 * trace.%p.fxt. A name without %p gets the number in a forked child. Nothing is opened yet.
 * False: the name is too long, or there is no working directory. */
bool agent_trace_file_choose(const char *output, bool is_forked);

/* Opens the file for the writes that follow, and claims it the first time. False, with one
 * notice: the file cannot be opened or claimed, and the trace ends here. */
bool agent_trace_file_open(void);

/* Appends. A failed write leaves only whole pieces, writes one notice, and makes all later
 * writes do nothing. */
void agent_trace_file_append(const void *data, uint64_t bytes);

/* Overwrites the bytes at that offset. */
void agent_trace_file_patch(uint64_t offset, const void *data, uint64_t bytes);

void agent_trace_file_close(void);

/* The bytes appended; true if the trace ended early; the absolute name. */
uint64_t agent_trace_file_bytes(void);
bool agent_trace_file_failed(void);
char *agent_trace_file_path(void);

#endif

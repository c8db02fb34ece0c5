/* A recorder without a manager: the same engine, with standalone.c as the handler that
 * saves its buffers. The helper thread writes full buffers while the program runs;
 * on_exit() writes the rest at a normal exit. */
#ifndef FXT_AGENT_STANDALONE_H
#define FXT_AGENT_STANDALONE_H

#include "helper.h"
#include "memory.h"

/* Sets what to record of the heap without a manager; NULL = the default. Writes one notice
 * about an unknown value. From the constructor. */
void agent_standalone_heap(const char *mode, const char *stacks);

/* Writes a notice if functions were to be excluded by name, which needs a manager. From the
 * constructor. */
void agent_standalone_refuse_filters(void);

/* Provides memory for a process without a manager, and the name of its file (trace_file.h).
 * False: there is no memory, or the name is too long. */
bool agent_standalone_prepare(const char *output, bool is_forked, struct agent_memory *memory);

/* The helper's job without a manager: saves full buffers. */
struct agent_helper_job agent_standalone_job(void);

/* The end of a standalone recording: writes the rest, closes the file and has it
 * symbolized. Does nothing if there is a manager, or if nothing is recorded. */
void agent_standalone_end(void);

#endif

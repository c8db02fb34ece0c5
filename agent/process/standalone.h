/*
 * A recorder without a manager: the same engine, with standalone.c as the handler that saves its buffers. The
 * helper thread writes full buffers while the program runs, on_exit() the rest at a normal exit.
 */
#ifndef FXT_AGENT_STANDALONE_H
#define FXT_AGENT_STANDALONE_H

#include "helper.h"
#include "memory.h"

/* What to record of the heap where there is no manager to say so; NULL = the default. One notice about a
 * value that means nothing. From the constructor. */
void agent_standalone_heap(const char *mode, const char *stacks);

/* Says that functions cannot be left out by name where there is no manager, if that was asked for. From the
 * constructor. */
void agent_standalone_refuse_filters(void);

/* Memory of our own, for a process without a manager, and the name of its file (trace_file.h). False: there
 * is no memory, or the name is too long. */
bool agent_standalone_prepare(const char *output, bool is_forked, struct agent_memory *memory);

/* The helper's job where there is no manager: saves full buffers. */
struct agent_helper_job agent_standalone_job(void);

/* The end of a standalone recording: writes what remains, closes the file and has it symbolized. Nothing
 * happens if there is a manager, or nothing is recorded. */
void agent_standalone_end(void);

#endif

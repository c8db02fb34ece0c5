/*
 * Writes the program's own records, those of the macros in include/fxt/trace.h: events, the
 * durations of blocks ("spans"), objects, blobs and lines of logs. A site that is switched
 * on calls these functions by the table `fxt_trace_agent`. It finds the table by a weak
 * symbol.
 *
 * A span has a frame on the shadow stack, as a wait has (writer/engine/waits.h). Therefore
 * it nests right among calls, ends at a jump, is shown after any death, and moves with its
 * coroutine. The record at its end has its arguments. All other records are written at
 * once.
 *
 * Each record is written, or counted as lost. Nothing here waits for a lock that the thread
 * holds, so handlers may say anything.
 */
#ifndef FXT_AGENT_SAID_H
#define FXT_AGENT_SAID_H

#include "said_names.h"

/*
 * Whether records of a site can be written now, by code that needs `stack_bytes` of the
 * stack. If not, a record that `begins` is counted as lost, unless it is not wanted. The
 * end of a span is not: its frame remains.
 */
bool agent_said_is_possible(const struct fxt_trace_site *site, bool begins, uint64_t stack_bytes);

/* The table of functions that sites call. Sources of the agent call them too. */
extern struct fxt_trace_agent fxt_trace_agent;

/* Fills the table in. From now on sites find the agent. The two functions name the calling
 * thread, and raise an alert. */
void agent_said_begin(void (*name_thread)(const char *name), void (*alert)(const char *name));

#endif

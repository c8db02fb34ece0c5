/*
 * Tells how to compile a program so that its calls are recorded. Messages on traces without
 * calls say it.
 */
#ifndef FXT_READER_INSTRUMENTING_H
#define FXT_READER_INSTRUMENTING_H

#include <stdbool.h>

/* The compiler needs one of these options. */
#define FXT_INSTRUMENTING "-finstrument-functions or -fpatchable-function-entry=5"

/* Returns commands for the build system in the working directory that compile its program
 * in this way. Without a build system it returns those of a compiler. */
const char *fxt_instrumenting_commands(void);

/* Says that a trace has no calls, and what to do. A process that hangs makes no calls,
 * however it was compiled. Its trace has waits from before the attach instead. */
struct fxt_no_calls_text {
	char text[512];
};
struct fxt_no_calls_text fxt_no_calls(bool has_earlier_waits);

#endif

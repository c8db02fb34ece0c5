/*
 * How a program is compiled so that its calls are recorded, for messages on traces without
 * calls.
 */
#ifndef FXT_READER_INSTRUMENTING_H
#define FXT_READER_INSTRUMENTING_H

/* The compiler's options, of which one is needed. */
#define FXT_INSTRUMENTING "-finstrument-functions or -fpatchable-function-entry=5"

/* Returns the commands that compile what the working directory holds in that way, by its
 * build system; those of a compiler if there is none. */
const char *fxt_instrumenting_commands(void);

#endif

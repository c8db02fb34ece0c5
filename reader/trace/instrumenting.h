/*
 * Tells how to compile a program so that its calls are recorded. Messages on traces without
 * calls say it.
 */
#ifndef FXT_READER_INSTRUMENTING_H
#define FXT_READER_INSTRUMENTING_H

/* The compiler needs one of these options. */
#define FXT_INSTRUMENTING "-finstrument-functions or -fpatchable-function-entry=5"

/* Returns commands for the build system in the working directory that compile its program
 * in this way. Without a build system it returns those of a compiler. */
const char *fxt_instrumenting_commands(void);

#endif

/*
 * Which imported functions are recorded: those of the user's choice (fxtrun
 * --library-calls), less those that cannot be called through a thunk.
 */
#ifndef FXT_AGENT_IMPORT_CHOICE_H
#define FXT_AGENT_IMPORT_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a function of that name may be called through a thunk. */
bool agent_import_is_possible(const char *name);

/*
 * Returns the patterns that choose the function, by its name or by the file that it is in,
 * as in library_calls_matched (writer/shared/control.h); 0: none does. A pattern is a name
 * with *, ? and [...], or module: and the same for a file. Each is ended by a zero, the last
 * one by two; no pattern chooses all.
 */
uint64_t agent_import_chosen_by(const char *patterns, const char *name, const char *path);

#endif

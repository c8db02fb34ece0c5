/*
 * The agent library, and how the dynamic linker of the program is made to load it.
 */
#ifndef FXT_LAUNCHER_PRELOAD_H
#define FXT_LAUNCHER_PRELOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define FXT_AGENT_FILE "libfxtagent.so"

/*
 * Finds libfxtagent.so: where FXT_AGENT says, else in the folder of fxtrun's own executable, in ../lib or
 * ../lib/fxt of it. Its absolute path, without symbolic links, goes to path[PATH_MAX]. Returns 0, or -1 and
 * one line in error[error_bytes].
 */
int fxt_preload_find(char path[PATH_MAX], char *error, size_t error_bytes);

/*
 * Gives the agent a path that LD_PRELOAD can hold: the list is split at colons and blanks and expands "$". If
 * the path has one, a symbolic link is made in `directory`, which must have none, and stands in path[]
 * afterwards. Returns 0, or an errno value.
 */
int fxt_preload_link(char path[PATH_MAX], const char *directory);

/* Removes the link, if one was made. */
void fxt_preload_unlink(const char *directory);

/* Sets the variables by which the program loads the agent, before all that it was to preload anyway, and the
 * agent finds the session. To be called in the child, before exec: the environment changed is the caller's.
 * Returns 0, or an errno value. */
int fxt_preload_environment(const char *agent, const char *socket_path);

/* Whether a path can stand in LD_PRELOAD. */
bool fxt_preload_can_hold(const char *path);

#endif

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
 * Finds libfxtagent.so: at FXT_AGENT if that is set, else in the folder of fxtrun's
 * executable, or in ../lib or ../lib/fxt relative to it. Stores its absolute path, without
 * symbolic links, in path[PATH_MAX]. Returns 0, or -1 and one line in error[error_bytes].
 */
int fxt_preload_find(char path[PATH_MAX], char *error, size_t error_bytes);

/*
 * Gives the agent a path that LD_PRELOAD can hold: the linker splits the list at colons and
 * blanks and expands "$". If the path contains one, makes a symbolic link in `directory`,
 * which must contain none, and stores its path in path[]. Returns 0, or an errno value.
 */
int fxt_preload_link(char path[PATH_MAX], const char *directory);

/* Removes the link, if one was made. */
void fxt_preload_unlink(const char *directory);

/* Sets the variables for loading the agent, before all other libraries to preload, and for
 * the agent to find the session. Call it in the child, before exec: it changes the caller's
 * environment. Returns 0, or an errno value. */
int fxt_preload_environment(const char *agent, const char *socket_path);

/* True if LD_PRELOAD can hold the path. */
bool fxt_preload_can_hold(const char *path);

#endif

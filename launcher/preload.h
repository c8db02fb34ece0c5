/*
 * Makes the program's dynamic linker load the agent library.
 */
#ifndef FXT_LAUNCHER_PRELOAD_H
#define FXT_LAUNCHER_PRELOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define FXT_AGENT_FILE "libfxtagent.so"
#define FXT_MPI_FILE   "libfxtmpi.so" /* records calls of MPI (mpi/) */

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

/* Visits the libraries that a program is linked with, itself or by other libraries, as the
 * loader finds them. The program does not run: it must be one with a loader
 * (fxtrun/target.h). */
typedef void fxt_preload_library(void *context, const char *name, const char *path);
void fxt_preload_libraries(const char *program, fxt_preload_library *visit, void *context);

/* Stores the path of libfxtmpi.so in path[PATH_MAX] if a program needs it, else "". Two
 * things must hold. The library lies beside the agent, which has the path `agent`. The
 * program at path `program` is linked with MPI's library, itself or by another library. The
 * loader lists these libraries: it is run only if the first condition holds. */
void fxt_preload_find_mpi(char path[PATH_MAX], const char *agent, const char *program);

/* Sets the variables that preload the agent, and `mpi` unless it is "", before all other
 * libraries, and those by which the agent finds the session. Call it in the child, before
 * exec: it changes the caller's environment. Returns 0, or an errno value. */
int fxt_preload_environment(const char *agent, const char *mpi, const char *socket_path);

/* True if LD_PRELOAD can hold the path. */
bool fxt_preload_can_hold(const char *path);

#endif

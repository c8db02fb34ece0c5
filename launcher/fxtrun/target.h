/*
 * Checks the program to be traced before anything else is touched. It is found as execvp(3)
 * would find it. It is refused, with a reason, if it cannot be executed or if the dynamic
 * linker would not load the agent into it. It would not for programs without a dynamic
 * linker, programs that gain privileges, and programs for another machine or C library:
 * ld.so would silently ignore LD_PRELOAD, or the program would not start. If the program is
 * a script, its interpreter is checked.
 */
#ifndef FXT_LAUNCHER_FXTRUN_TARGET_H
#define FXT_LAUNCHER_FXTRUN_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Finds `name` and writes the path for execve(2), always with a slash in it, to
 * path[PATH_MAX]. Returns 0, or the exit status for fxtrun (enum fxt_exit) and one line in
 * error[error_bytes].
 */
int fxt_target_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes);

/* Checks the file at `path`; messages call it `name`. Returns the same. A file that is
 * executable but not readable is accepted. */
int fxt_target_judge(const char *path, const char *name, char *error, size_t error_bytes);

/* Whether the program at `path` defines hooks itself. Its calls of hooks then never reach
 * the agent: the linker binds them to the program's own, or the loader finds those
 * first. */
bool fxt_target_has_hooks(const char *path);

/* Whether the program at `path` is compiled so that its calls are recorded. False for a
 * script. */
bool fxt_target_is_instrumented(const char *path);

#endif

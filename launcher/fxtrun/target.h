/*
 * The program to be traced, looked at before anything else is touched: found as execvp(3) would find it, and
 * refused with a reason if it cannot be executed or if the dynamic linker would not load the agent into it.
 * That is so for programs without a dynamic linker, for those that gain privileges, and for those of another
 * kind of machine or C library; ld.so ignores LD_PRELOAD there without a word, or the program would not
 * start. Of a script its interpreter is judged.
 */
#ifndef FXT_LAUNCHER_FXTRUN_TARGET_H
#define FXT_LAUNCHER_FXTRUN_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Finds `name` and writes what execve(2) is to be given, always with a slash in it, to path[PATH_MAX].
 * Returns 0, or the status fxtrun has to exit with (enum fxt_exit) and one line in error[error_bytes].
 */
int fxt_target_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes);

/* Judges the file at `path`, calling it `name`. Returns as above. A file that may be executed and not read is
 * let pass. */
int fxt_target_judge(const char *path, const char *name, char *error, size_t error_bytes);

/* Whether the program at `path` defines hooks itself. Its calls of hooks then never reach the agent: the
 * linker binds them to the program's own, or the loader finds those first. */
bool fxt_target_has_hooks(const char *path);

#endif

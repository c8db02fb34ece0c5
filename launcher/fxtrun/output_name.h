/*
 * Names of traces with parts that differ from run to run.
 */
#ifndef FXT_LAUNCHER_FXTRUN_OUTPUT_NAME_H
#define FXT_LAUNCHER_FXTRUN_OUTPUT_NAME_H

#include <limits.h>
#include <stdbool.h>

/* Whether this process is one of several of a parallel job (MPI, Slurm): each has a rank. */
bool fxt_output_is_of_job(void);

/*
 * Replaces in a file's name %p by the number of this process, %h by the host's name, %r by
 * the rank in a parallel job, 0 outside of one, %t by the time, as 20260131-235959, and %n by
 * the base name of the program. %% is a %; anything else behind a % stays. Returns the name,
 * which is valid until the next call; NULL: it is longer than a path may be.
 */
const char *fxt_output_name(const char *pattern, const char *program);

/* Replaces only these letters, with that text for %p and the base name of `program` for %n.
 * False: the name is too long. */
bool fxt_output_name_put(char name[PATH_MAX], const char *pattern, const char *letters, const char *process,
        const char *program);

/*
 * Makes the pattern for the names of processes' files (--file-per-process): it has %p, and
 * everything but %p, %n and %% is replaced. Returns NULL, or why that is not possible.
 */
const char *fxt_output_name_of_processes(char pattern[PATH_MAX], const char *output);

#endif

/*
 * fxtrun --usdt=list: prints the probes of a program and of the libraries that it is linked
 * with, or of all files that a process has mapped as code. Nothing runs or is recorded.
 */
#ifndef FXT_LAUNCHER_FXTRUN_PROBE_LIST_H
#define FXT_LAUNCHER_FXTRUN_PROBE_LIST_H

#include "launcher/options.h"

/* Whether the options ask for the list. */
bool fxt_probe_list_is_wanted(const struct fxt_options *options);

/* Prints the list to stdout: each file, and below it a line for each probe. Returns fxtrun's
 * exit status, and if that is not 0, one line in error[error_bytes]. */
int fxt_probe_list_print(const struct fxt_options *options, char *error, size_t error_bytes);

#endif

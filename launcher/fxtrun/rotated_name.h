/*
 * Names of the files of a rotated trace: a number before the extension. trace.fxt becomes
 * trace.000001.fxt, trace.000002.fxt and so on, so that names sort in the order of time.
 */
#ifndef FXT_LAUNCHER_FXTRUN_ROTATED_NAME_H
#define FXT_LAUNCHER_FXTRUN_ROTATED_NAME_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Makes the name of a file. False: it is longer than a path may be. */
bool fxt_rotated_name(char path[PATH_MAX], const char *output, uint32_t number);

/* Returns the highest number of the existing files; 0: there are none. */
uint32_t fxt_rotated_look(const char *output);

#endif

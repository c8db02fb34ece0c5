/*
 * Measures the cost of recording a call on this machine (fxtrun --calibrate). A second
 * fxtrun records a process that only calls the hooks, as the program will. The costs are
 * read from that trace: the duration of a leaf is the part of the cost that falls within a
 * call, and many leaves in a row show the rest.
 */
#ifndef FXT_LAUNCHER_FXTRUN_CALIBRATION_H
#define FXT_LAUNCHER_FXTRUN_CALIBRATION_H

#include <stddef.h>
#include "writer/format/call_cost.h"

/* fxtrun with only this argument is that process. */
#define FXT_CALIBRATION_ARGUMENT "--calibration"

/* Calls the hooks, in batches of a known size; that process does nothing else. */
void fxt_calibration_calls(void);

/* Measures; takes some 50 ms. Returns 0, or -1 and one line in error[error_bytes]. */
int fxt_calibrate(struct fxt_call_cost *cost, char *error, size_t error_bytes);

#endif

/*
 * What recording a call costs on this machine (fxtrun --calibrate). A second fxtrun records a process that
 * does nothing but call the hooks, as the program will; the cost is in what that trace says: a leaf lasts as
 * long as the part of the cost that falls within a call, and many leaves in a row tell the rest.
 */
#ifndef FXT_LAUNCHER_FXTRUN_CALIBRATION_H
#define FXT_LAUNCHER_FXTRUN_CALIBRATION_H

#include <stddef.h>
#include "writer/call_cost.h"

/* fxtrun with this argument alone is that process. */
#define FXT_CALIBRATION_ARGUMENT "--calibration"

/* Calls the hooks, in batches of a known size. What that process does, and all it does. */
void fxt_calibration_calls(void);

/* Measures; takes some 50 ms. Returns 0, or -1 and one line in error[error_bytes]. */
int fxt_calibrate(struct fxt_call_cost *cost, char *error, size_t error_bytes);

#endif

/* fxt why's answer about a call's flow: the way of a request through several threads. */
#ifndef FXT_FXT_WHY_HOPS_H
#define FXT_FXT_WHY_HOPS_H

#include "call_details.h"

/* Prints the way of the flow that has an event in the slice, with what each of its threads
 * did. Of a message between ranks it also prints which rank was late, and what that one did
 * instead. Prints nothing if there is no such flow. Returns an exit status; errors are
 * reported. */
int fxt_why_print_hops(struct fxt_call_details *m, const char *name, const struct fxt_slice *slice);

#endif

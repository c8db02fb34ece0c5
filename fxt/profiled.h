/*
 * A trace that a command writes, with what viewers draw its heap by: the profiles and rows that fxtrun
 * appends (symbolizer/heap_profile.h). They are made of a whole trace, so that it goes into a file without a
 * name first.
 */
#ifndef FXT_FXT_PROFILED_H
#define FXT_FXT_PROFILED_H

#include <stdint.h>
#include <stdio.h>

/* Has `write` write a trace, which is written to `out` with its profiles. ticks_per_second is as for
 * fxt_rewrite_append_profiles(). Returns 0, or -1 when why not was told; but for what `out` tells. */
int fxt_profiled_write(
        FILE *out, uint64_t ticks_per_second, void (*write)(void *context, FILE *trace), void *context);

#endif

/*
 * Places where a test may step in, to replay an interleaving of threads, a signal, or a
 * death. They compile to nothing without -DFXT_FAIL_POINTS. With it, the program that is
 * linked defines fxt_fail_point().
 */
#ifndef FXT_WRITER_FAILPOINT_H
#define FXT_WRITER_FAILPOINT_H

#ifdef FXT_FAIL_POINTS
void fxt_fail_point(const char *name);
#define FXT_FAIL_POINT(name) fxt_fail_point(name)
#else
#define FXT_FAIL_POINT(name) ((void)0)
#endif

#endif

/*
 * Places where a test may step in: replay an interleaving of threads, a signal, a death. They cost nothing
 * and are nothing unless compiled with -DFXT_FAIL_POINTS; the program that is then linked defines
 * fxt_fail_point().
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

/*
 * Assertions. They are checked only in a build with DEBUG=1, which stops at the first
 * failure.
 */
#ifndef FXT_LAUNCHER_DEBUG_H
#define FXT_LAUNCHER_DEBUG_H

#include <assert.h>

#ifdef FXT_DEBUG
#define fxt_debug_check(condition) assert(condition)
#else
#define fxt_debug_check(condition) ((void)0)
#endif

#endif

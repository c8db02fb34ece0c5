/*
 * C++'s operators new and delete, by their names in C. The C++ library's operators call
 * malloc() and free(), and ours pass calls on to them. An allocator may bring operators of
 * its own that call neither. Then ours are malloc() and free(), as the standard describes
 * them, so that its blocks are recorded. A program that starts without the C++ library does
 * not find ours (symbols.h). If memory runs out, the operators behind ours call the handler
 * and throw the exception.
 */
#ifndef FXT_AGENT_OPERATORS_H
#define FXT_AGENT_OPERATORS_H

#include <stddef.h>

/* name, parameters, arguments, what allocates */
#define AGENT_OPERATORS_NEW(X)                                                                            \
	X(_Znwm, (size_t size), (size), malloc(size))                                                     \
	X(_Znam, (size_t size), (size), malloc(size))                                                     \
	X(_ZnwmSt11align_val_t, (size_t size, size_t to), (size, to), memalign(to, size))                 \
	X(_ZnamSt11align_val_t, (size_t size, size_t to), (size, to), memalign(to, size))                 \
	X(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), malloc(size))                 \
	X(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag), malloc(size))                 \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag), (size, to, tag), \
	        memalign(to, size))                                                                       \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *tag), (size, to, tag), \
	        memalign(to, size))

/* name, parameters, arguments */
#define AGENT_OPERATORS_DELETE(X)                                                                           \
	X(_ZdlPv, (void *block), (block))                                                                   \
	X(_ZdaPv, (void *block), (block))                                                                   \
	X(_ZdlPvm, (void *block, size_t size), (block, size))                                               \
	X(_ZdaPvm, (void *block, size_t size), (block, size))                                               \
	X(_ZdlPvSt11align_val_t, (void *block, size_t to), (block, to))                                     \
	X(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to))                                     \
	X(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to))                 \
	X(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t to), (block, size, to))                 \
	X(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))                               \
	X(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))                               \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag), (block, to, tag)) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t to, const void *tag), (block, to, tag))

/* Finds the operators behind ours, as a part of looking up the allocator: an allocator may
 * itself call an operator in the middle of its work. */
void agent_operators_look_up(void);

#endif

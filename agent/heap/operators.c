#include "operators.h"
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include "allocator.h"
#include "agent/base/attributes.h"
#include "agent/base/notice.h"
#include "agent/base/symbols.h"

static struct {
	bool are_replaced; /* true: the operators behind ours are not called */
#define X(name, parameters, ...) void *(*name)parameters;
	AGENT_OPERATORS_NEW(X)
#undef X
#define X(name, parameters, ...) void(*name) parameters;
	AGENT_OPERATORS_DELETE(X)
#undef X
} next;

/* True if both lie in the same module. */
static bool operators_are_together(const void *left, const void *right)
{
	Dl_info a, b;

	return dladdr(left, &a) && dladdr(right, &b) && a.dli_fbase == b.dli_fbase;
}

void agent_operators_look_up(void)
{
#define X(name, ...) next.name = (__typeof__(next.name))agent_next_symbol(#name);
	AGENT_OPERATORS_NEW(X)
	AGENT_OPERATORS_DELETE(X)
#undef X
	/* None behind ours: they are withdrawn from a program without the C++ library
	 * (symbols.h), except for callers that were bound earlier. */
	next.are_replaced = !next._Znwm || (operators_are_together((const void *)next._Znwm,
	                                            (const void *)agent_next.malloc) &&
	                                           !agent_allocator_obstacle());
}

/* malloc() and free() serve any call until the allocator is known. */
static bool operators_are_replaced(void)
{
	return !agent_allocator_is_known() || next.are_replaced;
}

/* There is no memory. Only the C++ library can report that to the program, by its
 * new-handler and std::bad_alloc: calls the operator behind ours. Ends the program if there
 * is none. */
static void *operator_out_of_memory(void *operator)
{
	if (!operator) {
		agent_notice("out of memory, and no C++ library can report it to the program", NULL);
		abort();
	}
	return operator;
}

#define X(name, parameters, arguments, allocation)                                                          \
	EXPORT void *name parameters;                                                                       \
	EXPORT void *name parameters                                                                        \
	{                                                                                                   \
		void *block;                                                                                \
                                                                                                            \
		if (!operators_are_replaced() && next.name)                                                 \
			return next.name arguments;                                                         \
		block = allocation;                                                                         \
		if (unlikely(!block))                                                                       \
			return ((__typeof__(next.name))operator_out_of_memory((void *)next.name))arguments; \
		return block;                                                                               \
	}
AGENT_OPERATORS_NEW(X)
#undef X

#define X(name, parameters, arguments)                      \
	EXPORT void name parameters;                        \
	EXPORT void name parameters                         \
	{                                                   \
		if (!operators_are_replaced() && next.name) \
			next.name arguments;                \
		else                                        \
			free(block);                        \
	}
AGENT_OPERATORS_DELETE(X)
#undef X

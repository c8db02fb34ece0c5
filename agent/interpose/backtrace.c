/*
 * Functions that list the stack's return addresses: the program gets its own, without the
 * thunks that calls of prepared entries return through (agent/hook/thunks.h). Runs on the
 * program's threads, also in handlers of crashes.
 */
#include <execinfo.h>
#include "agent/base/attributes.h"
#include "agent/base/symbols.h"
#include "agent/hook/thunks.h"

#define ROOM 512 /* addresses that are kept on the stack */

/* Copies up to `most` addresses of the program's. Returns how many there are. The first
 * address is in our own function. */
static int backtrace_copy(void **to, int most, void *const *from, int count)
{
	int kept = 0;

	for (int i = 1; i < count && kept < most; i++)
		if (!agent_is_thunk((uint64_t)(uintptr_t)from[i]))
			to[kept++] = from[i];
	return kept;
}

/* At most every second frame is a thunk's. A longer list than there is room for is taken
 * from the program's array, and may then be shorter than it could be. */
EXPORT int backtrace(void **array, int size)
{
	static void *found;
	int (*real)(void **, int) = (int (*)(void **, int))agent_next_symbol_kept(&found, "backtrace");
	void *addresses[ROOM];
	int most = size >= ROOM / 2 ? ROOM : 2 * size + 1, count;

	if (size <= 0)
		return real(array, size);
	if (size >= ROOM) {
		count = real(array, size);
		return backtrace_copy(array, size, array, count);
	}
	count = real(addresses, most);
	return backtrace_copy(array, size, addresses, count);
}

struct _Unwind_Context;

typedef int trace_function(struct _Unwind_Context *context, void *argument);
typedef int unwind_backtrace(trace_function *function, void *argument);
typedef uintptr_t unwind_address(struct _Unwind_Context *context);

struct listing {
	trace_function *function;
	void *argument;
	unwind_address *address;
	bool is_begun; /* the first frame is our own function's */
};

static int backtrace_pass(struct _Unwind_Context *context, void *argument)
{
	struct listing *listing = argument;

	if (!listing->is_begun) {
		listing->is_begun = true;
		return 0; /* _URC_NO_REASON */
	}
	if (listing->address && agent_is_thunk(listing->address(context)))
		return 0;
	return listing->function(context, listing->argument);
}

EXPORT int _Unwind_Backtrace(trace_function *function, void *argument)
{
	static void *found, *address;
	struct listing listing = {function, argument,
	        (unwind_address *)agent_next_symbol_kept(&address, "_Unwind_GetIP"), false};

	return ((unwind_backtrace *)agent_next_symbol_kept(&found, "_Unwind_Backtrace"))(
	        backtrace_pass, &listing);
}

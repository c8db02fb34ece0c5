/*
 * The event source of -finstrument-functions: gcc and clang call these two at every entry and exit of a
 * function, also of one that is inlined, then from its caller's frame.
 */
#include "attributes.h"
#include "hooks.h"

/* The stack pointer that the hook's caller has in its frame, whatever is inlined into it. */
#define CALLERS_STACK_POINTER() ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	agent_hook_enter(function, call_site, CALLERS_STACK_POINTER());
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	agent_hook_leave(function, CALLERS_STACK_POINTER());
}

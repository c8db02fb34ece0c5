/*
 * The event source of -finstrument-functions: gcc and clang call these two hooks at every
 * entry and exit of a function. An inlined function calls them too, from its caller's
 * frame.
 */
#include <stddef.h>
#include "agent/base/attributes.h"
#include "agent/base/symbols.h"
#include "agent/patch/patch.h"
#include "finstrument.h"
#include "hooks.h"

/* The stack pointer that the hook's caller has in its frame, whatever is inlined into
 * it. */
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

__typeof__(agent_function_enter) agent_function_enter __attribute__((alias("__cyg_profile_func_enter")));
__typeof__(agent_function_leave) agent_function_leave __attribute__((alias("__cyg_profile_func_exit")));

bool agent_finstrument_is_used(void)
{
	static const char *const hooks[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", NULL};

	return agent_symbols_are_used(hooks);
}

void agent_finstrument_prepare(void)
{
	agent_patch_prepare(agent_function_enter, agent_function_leave);
}

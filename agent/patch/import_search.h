/*
 * Finds the imports of a module whose calls can be recorded (imports.h), and the functions
 * that they lead to.
 *
 * There are two kinds of slots. The linker's stubs (PLT) jump through one kind, and nothing
 * else uses them. The other kind is read by the module's own code: for calls (-fno-plt),
 * but also for the function's address, which the program may compare with another module's.
 * So a slot of this kind is found only if calls and jumps are all that the module's code
 * does with it.
 */
#ifndef FXT_AGENT_IMPORT_SEARCH_H
#define FXT_AGENT_IMPORT_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/base/definitions.h"
#include "agent/process/modules.h"

struct agent_import_target {
	uint64_t slot;
	uint64_t body;     /* what it leads to without us */
	uint64_t function; /* the address that names it. For an indirect function: its
	                      symbol's. For a function that the agent interposes: the
	                      interposed one's */
};

/* Finds them among the module's imports. Returns how many there are; `targets` has room for
 * as many as there are imports. Adds to `matched` the patterns that choose an import
 * (import_choice.h). Under the engine's lock. */
uint32_t agent_import_search(const struct agent_module_tables *module, const struct agent_import *imports,
        uint32_t count, const char *patterns, uint64_t *matched, struct agent_import_target *targets);

/* Whether calls and jumps are all that the module's code does with a slot. */
bool agent_import_is_only_called(const struct agent_module_tables *module, uint64_t slot);

#endif

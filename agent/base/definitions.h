/*
 * The functions that an object imports, and the definitions that the loader finds for them.
 * An import is a word of the object (a slot of its global offset table), which the loader
 * fills with the function's address: when it relocates the object, or, if it binds lazily,
 * at the first call.
 */
#ifndef FXT_AGENT_DEFINITIONS_H
#define FXT_AGENT_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

struct agent_import {
	uint64_t slot; /* its address */
	const char *name;
	const char *version; /* NULL: any */
	bool is_for_calls;   /* no code takes the function's address from it */
};

/* Finds the undefined functions of an object by its dynamic section; `with_own`: also those
 * that it defines itself and calls through slots. The array has room for `most`; NULL:
 * counts only. The count may include variables. */
uint32_t agent_imports_find(
        uint64_t base, const void *dynamic, bool with_own, struct agent_import *imports, uint32_t most);

struct agent_definition {
	uint64_t address; /* of the symbol */
	bool is_resolver; /* an indirect function: that of its resolver */
};

/*
 * The definition that the loader would bind an import of the object at `base` to. False:
 * there is none that is certain. Both need a list of loaded objects that stands: before the
 * program has threads, or inside dlopen().
 *
 * For an object of the program's start the loader searches these objects in their order.
 * For a later one it searches in an order that only the loader knows, by RTLD_GLOBAL,
 * RTLD_DEEPBIND and dependencies. There a definition is certain if no other object has one
 * and its object is one of the start or one that the library needs. If the agent interposes
 * it, the agent's is taken, which calls that one.
 *
 * The second searches behind the agent, or from the beginning if the agent was loaded late.
 */
bool agent_definition_find(
        uint64_t base, const struct agent_import *import, struct agent_definition *definition);
bool agent_definition_find_behind(const struct agent_import *import, struct agent_definition *definition);

/* The definition in one object. False: it has none. */
bool agent_definition_in(uint64_t base, const void *dynamic, const struct agent_import *import,
        struct agent_definition *definition);

#endif

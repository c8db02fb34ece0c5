/*
 * Looks up names in the objects that were loaded at the program's start, without the
 * loader. A dlsym() that finds nothing leaves an error text. dlerror() would show it to the
 * program, and the program's own free() would release it [a program whose free() calls
 * dlsym() at its first use dies of that: it comes here again while the text is being
 * freed].
 *
 * An agent that is loaded late (agent/process/attach.h) stands behind all of these objects.
 * "Behind the agent" then means all of them.
 *
 * While the agent is relocated, it also withdraws from its exports every name that no
 * object behind it defines. By a weak reference or by dlsym() a program then finds the same
 * as without the agent: a C program sees no operator new of the agent's, and a plugin's own
 * comes first.
 */
#ifndef FXT_AGENT_SYMBOLS_H
#define FXT_AGENT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/* The address that dlsym(RTLD_NEXT, name) would find from here, or NULL. From any
 * context. */
void *agent_next_symbol(const char *name);

/* The same, looked up once and kept in *kept, which is NULL before. */
void *agent_next_symbol_kept(void **kept, const char *name);

/* The object with that definition; NULL: none. */
const void *agent_next_object(const char *name);

/* The first returns this object. The second: whether an object, which is a library,
 * contains that address. */
const void *agent_own_object(void);
bool agent_object_has(const void *object, const void *address);

/* Whether the agent was loaded by dlopen(), after the program's start. Its exports are
 * hidden then, so libraries that are loaded later find the same functions as without the
 * agent. */
bool agent_is_late(void);

/* The agent's own function of that name, hidden or not; NULL: none. */
void *agent_own_symbol(const char *name);

/* The last object that was loaded at the program's start. */
const void *agent_last_object(void);

/* Libc's own definition of the name, even if it is interposed; NULL: none. */
void *agent_libc_symbol(const char *name);

/* The definition that the program finds under the name; NULL: none. */
void *agent_program_symbol(const char *name);

/* Whether any object defines the name; whether an object before ours does, so that its
 * definition is found first. */
bool agent_symbol_exists(const char *name);
bool agent_symbol_is_preceded(const char *name);

/* Whether the code of any object calls one of these, or takes its address, by way of the
 * loader. The list of names ends with NULL. */
bool agent_symbols_are_used(const char *const names[]);

/* A word of an object that the loader fills with the address of a symbol. */
struct agent_symbol_slot {
	uint64_t address;
	unsigned name; /* the symbol's place in the list of names */
};

/* Finds an object's slots for the symbols in a list that ends with NULL. Returns how many
 * there are, at most `most`. */
unsigned agent_symbol_slots(uint64_t base, const void *dynamic, const char *const names[],
        struct agent_symbol_slot slots[], unsigned most);

/* Whether the loader has relocated the agent; whether it has relocated all objects, and
 * libc is ready to be called. Resolvers of indirect functions run before that. */
bool agent_is_relocated(void);
bool agent_objects_are_ready(void);

#endif

/*
 * Names in the objects that were loaded at the program's start, looked up without the loader: a dlsym() that
 * finds nothing leaves an error text, which dlerror() would show to the program, and which is given back by
 * the program's own free() [a program whose free() calls dlsym() at its first use dies of that: it comes
 * here again while the text is being freed].
 *
 * While the agent is relocated it also withdraws, from what it exports, every name that no object behind it
 * defines: a program finds by a weak reference or by dlsym() what it would find without us. So a C program
 * sees no operator new of ours, and a plugin's own comes first.
 */
#ifndef FXT_AGENT_SYMBOLS_H
#define FXT_AGENT_SYMBOLS_H

#include <stdbool.h>

/* What dlsym(RTLD_NEXT, name) would find from here: the address, or NULL. From any context. */
void *agent_next_symbol(const char *name);

/* Which object that is in; NULL: in none. */
const void *agent_next_object(const char *name);

/* This one; and whether an object, which is a library, has that address. */
const void *agent_own_object(void);
bool agent_object_has(const void *object, const void *address);

/* What stands under that name in libc, whoever interposes it; NULL: nothing. */
void *agent_libc_symbol(const char *name);

/* What the program finds under that name; NULL: nothing. */
void *agent_program_symbol(const char *name);

/* Whether any object defines it; whether one before ours does, which then is found first. */
bool agent_symbol_exists(const char *name);
bool agent_symbol_is_preceded(const char *name);

/* Whether the code of any object calls it, or takes its address, by way of the loader. */
bool agent_symbol_is_used(const char *name);

/* Whether the loader has relocated the agent; and all objects, and libc is ready to be called. Resolvers of
 * indirect functions run before that. */
bool agent_is_relocated(void);
bool agent_objects_are_ready(void);

#endif

/*
 * Which module holds an address, and the log records that tell it to the symbolizer (symbolizer markup):
 *
 *   {{{module:3:/usr/lib/libfoo.so:elf:8f3a...}}}        id, path, kind, build ID
 *   {{{mmap:0x7f12...:0x21000:load:3:rx:0x1000}}}        address, size, kind, id, flags, address within the
 *                                                        module; of its code and of its variables
 *
 * At birth the loader is asked for all modules; later ones are noticed when a function outside the known ones
 * is called first. _dl_find_object() takes no lock, so that is safe inside a hook inside dlopen(). Before the
 * loader unmaps a module it is retired (unload.c): from then on its addresses are nobody's, until another
 * module is seen there.
 *
 * Ids count from 1 and are never reused. 0 = no module, here and in records.
 */
#ifndef FXT_AGENT_MODULES_H
#define FXT_AGENT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#define AGENT_MODULE_PROGRAM 1 /* the executable: the loader names it first */

/* Records all modules loaded now. From the constructor only: it may wait for the loader's lock. */
void agent_modules_record_all(void);

/* Records those again that are known already: for a forked child, which has the same, and after a clearing.
 * No lock of the loader's. */
void agent_modules_record_known(void);

/* The id of the module in whose code an address is, recorded at first sight. Without the engine's lock, which
 * it takes; it takes no lock of the loader's, because a thread inside dlopen() may be waiting for ours. */
uint32_t agent_module_at(uint64_t address);

/* The same for an address in a module's code or data. Under the engine's lock. */
uint32_t agent_module_around(uint64_t address);

/* The same of the modules known already. With or without the engine's lock. */
uint32_t agent_module_known_around(uint64_t address);

/* Where the module's table of unwinding lies (PT_GNU_EH_FRAME) that has code at that address; 0: there is
 * none. Under the engine's lock. */
uint64_t agent_module_unwind_table(uint64_t address);

/* A loaded module, as far as what unwinds stacks has to know it. */
struct agent_module_tables {
	uint64_t base;
	uint64_t unwind;     /* where its table lies (PT_GNU_EH_FRAME) */
	const void *headers; /* of its segments */
	unsigned header_count;
};

/* Finds the module that has that address, if it has a table. It takes no lock. Without _dl_find_object() only
 * the modules known already are found. */
bool agent_module_find_tables(uint64_t address, struct agent_module_tables *tables);

/* Up to where a module's readable segment reaches that has the address; the address itself: none has it. */
uint64_t agent_module_readable_end(const struct agent_module_tables *tables, uint64_t address);

/* Whether there is a module's code at that address. Under the engine's lock. */
bool agent_module_is_code(uint64_t address);

/*
 * The word of a function's entry in the function table (writer/function_table.h), registered with its module
 * at first sight. Never 0; its index is FXT_INDEX_LOCAL where no durable one was to be had, and
 * FXT_FUNCTION_EXCLUDED is in it where the function's calls are not to be recorded. Without the engine's
 * lock.
 */
uint64_t agent_function_word(uint64_t address);

/* The loader is about to unmap the module: forgets its functions, and tells `code_goes` of each part of its
 * code. Under the engine's lock. */
void agent_module_retire(uint32_t id, void (*code_goes)(uint64_t start, uint64_t end));

#endif

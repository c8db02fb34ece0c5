/*
 * Finds the module that holds an address, and writes the log records that describe modules
 * to the symbolizer (symbolizer markup):
 *
 *   {{{module:3:/usr/lib/libfoo.so:elf:8f3a...}}}   id, path, kind, build ID
 *   {{{mmap:0x7f12...:0x21000:load:3:rx:0x1000}}}   address, size, kind, id, flags, address
 *                                                   within the module; of its code and of its
 *                                                   variables
 *
 * At birth the loader is asked for all modules. A later module is noticed at the first call
 * of a function outside the known ones. _dl_find_object() takes no lock, so that is safe
 * inside a hook inside dlopen(). Before the loader unmaps a module it is retired
 * (unload.c): from then on its addresses belong to no module, until another one is seen
 * there.
 *
 * Ids count from 1 and are never reused. 0 = no module, here and in records.
 */
#ifndef FXT_AGENT_MODULES_H
#define FXT_AGENT_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#define AGENT_MODULE_PROGRAM 1 /* the executable: the loader names it first */

enum { AGENT_MODULES = 4096 }; /* the highest id; later modules get none */

/* Records all modules loaded now. Only from the constructor: it may wait for the loader's
 * lock. */
void agent_modules_record_all(void);

/* Notices which modules have come and gone since, without a record of it. Calls `code_goes`
 * as agent_module_retire() does. */
void agent_modules_renew(void (*code_goes)(uint64_t start, uint64_t end));

/* Records all known modules again: for a forked child, which has the same ones, and after a
 * clearing. Takes no lock of the loader's. */
void agent_modules_record_known(void);

/* The id of the module with code at that address, recorded at first sight. Without the
 * engine's lock, which it takes. It takes no lock of the loader's, because a thread inside
 * dlopen() may be waiting for ours. */
uint32_t agent_module_at(uint64_t address);

/* The same for an address in a module's code or data. Under the engine's lock. */
uint32_t agent_module_around(uint64_t address);

/* The same, but finds only modules that are known already. With or without the engine's
 * lock. */
uint32_t agent_module_known_around(uint64_t address);

/* The address of the unwind table (PT_GNU_EH_FRAME) of the module with code at that
 * address; 0: there is none. Under the engine's lock. */
uint64_t agent_module_unwind_table(uint64_t address);

/* The data of a loaded module that an unwinder needs, and others. */
struct agent_module_tables {
	uint64_t base;
	uint64_t unwind;     /* its unwind table (PT_GNU_EH_FRAME); 0: there is none */
	const void *headers; /* of its segments */
	unsigned header_count;
	/* agent_module_find_tables() does not set these. */
	uint32_t id;
	const char *path;
	uint64_t low, high; /* all its segments lie between these addresses */
};

/* Finds the module that has that address, if it has a table. Takes no lock. Without
 * _dl_find_object() only the modules known already are found. */
bool agent_module_find_tables(uint64_t address, struct agent_module_tables *tables);

/* Describes a module that is loaded. Under the engine's lock. */
void agent_module_describe(uint32_t id, struct agent_module_tables *tables);

/* Calls the function for each module that is known. Under the engine's lock. */
void agent_modules_each(void (*function)(const struct agent_module_tables *module));

/* The end of the module's readable segment that has the address; the address itself if no
 * segment has it. */
uint64_t agent_module_readable_end(const struct agent_module_tables *tables, uint64_t address);

/* The address of the module's dynamic section; NULL: it has none. */
const void *agent_module_dynamic(const struct agent_module_tables *tables);

/* Whether the name of a file, without its folders, begins with one of these. The list ends
 * with NULL. */
bool agent_path_is_of(const char *path, const char *const names[]);

/* True if a module has code at that address. Under the engine's lock. */
bool agent_module_is_code(uint64_t address);

/*
 * The reference of a function's entry in the function table
 * (writer/engine/function_table.h), registered with its module at first sight. Never 0. Its
 * index is FXT_INDEX_LOCAL if no durable index was available. It contains
 * FXT_FUNCTION_EXCLUDED if the function's calls are not to be recorded. Without the
 * engine's lock.
 */
uint64_t agent_function_ref(uint64_t address);

/* Waits, in the same way, until the manager has decided on this function or span. */
void agent_await_decision(uint64_t ref);

/* The loader is about to unmap the module, or has done so: forgets its functions, and calls
 * `code_goes` with all its addresses. Reads nothing of the module. Under the engine's lock. */
void agent_module_retire(uint32_t id, void (*code_goes)(uint64_t start, uint64_t end));

#endif

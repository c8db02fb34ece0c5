/*
 * Finds the prepared entries of a module (entries.h). The compiler lists their addresses in
 * the section __patchable_function_entries. No segment tells where that is, so it is looked
 * up in the module's file, after a comparison of the file's headers with those in memory.
 * The list itself is read in memory, where the loader has relocated it.
 *
 *     -fpatchable-function-entry=5     f: [endbr64] nop nop nop nop nop ...
 *                                                   ^ listed
 *     -fpatchable-function-entry=9,4   nop nop nop nop f: [endbr64] nop nop nop nop nop ...
 *                                      ^ listed
 *
 * An entry needs five bytes of no operation behind the function's address, whatever
 * instructions they are.
 */
#ifndef FXT_AGENT_ENTRY_SEARCH_H
#define FXT_AGENT_ENTRY_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include "agent/process/modules.h"

#define AGENT_ENTRY_BYTES     5
#define AGENT_ENTRY_BYTES_MAX 32

struct agent_entry {
	uint64_t address;  /* of the bytes for the jump */
	uint64_t function; /* its address */
	uint32_t bytes;    /* of whole instructions there that do nothing, at least
	                      AGENT_ENTRY_BYTES, less than AGENT_ENTRY_BYTES_MAX */
};

/* The module's list of entries, `count` addresses; NULL: it has none. The first call maps
 * memory for tables of files, and agent_entry_list_end() unmaps it. Under the engine's
 * lock. */
const uint64_t *agent_entry_list(const struct agent_module_tables *module, size_t *count);
void agent_entry_list_end(void);

/*
 * Finds the entries that can be used, in the order of their addresses. `entries` has room
 * for `count`. Returns how many there are. `*left_out` more must not be used:
 *
 *   - Functions that call the compiler's hooks are recorded by these.
 *   - Functions that end by a jump to dlopen(), dlsym() and the like. These see who calls
 *     them by the return address, which would be one of ours.
 *
 * The rest of the list has too little room for a jump. Under the engine's lock.
 */
size_t agent_entry_search(const struct agent_module_tables *module, const uint64_t *list, size_t count,
        struct agent_entry *entries, size_t *left_out);

#endif

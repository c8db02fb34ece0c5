/*
 * Finds the prepared entries and sleds of a module (entries.h). The compiler lists them in
 * sections, __patchable_function_entries and xray_instr_map. No segment tells where these
 * are, so they are looked up in the module's file, after a comparison of the file's headers
 * with those in memory. The lists themselves are read in memory, where the loader has
 * relocated them.
 *
 *     -fpatchable-function-entry=5     f: [endbr64] nop nop nop nop nop ...
 *                                                   ^ listed
 *     -fpatchable-function-entry=9,4   nop nop nop nop f: [endbr64] nop nop nop nop nop ...
 *                                      ^ listed
 *
 * An entry needs five bytes of no operation behind the function's address, whatever
 * instructions they are. A sled has the form that clang gave it (sleds.h).
 */
#ifndef FXT_AGENT_ENTRY_SEARCH_H
#define FXT_AGENT_ENTRY_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "agent/process/modules.h"

#define AGENT_ENTRY_BYTES     5
#define AGENT_ENTRY_BYTES_MAX 32

#define AGENT_SLED_BYTES 11

enum agent_entry_kind {
	AGENT_ENTRY,      /* a prepared entry */
	AGENT_SLED_ENTRY, /* sleds */
	AGENT_SLED_EXIT,
	AGENT_SLED_TAIL, /* before a jump to another function */
};

struct agent_entry {
	uint64_t address;  /* of the bytes for the jump, or of the sled */
	uint64_t function; /* its address */
	uint32_t bytes;    /* of whole instructions there that do nothing, at least
	                      AGENT_ENTRY_BYTES, less than AGENT_ENTRY_BYTES_MAX */
	enum agent_entry_kind kind;
};

enum agent_entry_list_kind { AGENT_LIST_ENTRIES, AGENT_LIST_SLEDS, AGENT_LISTS };

/* A compiler's list in memory; no elements: the module has none. */
struct agent_entry_list {
	const void *start;
	size_t count;
};

/* Finds the module's lists. False: it has none. The first call maps memory for tables of
 * files, and agent_entry_lists_end() unmaps it. Under the engine's lock. */
bool agent_entry_lists(const struct agent_module_tables *module, struct agent_entry_list lists[AGENT_LISTS]);
void agent_entry_lists_end(void);

/*
 * Finds the entries that can be used, in the order of their addresses. `entries` has room
 * for the whole list. Returns how many there are. `*left_out` more must not be used:
 *
 *   - Functions that call the compiler's hooks are recorded by these.
 *   - Functions that end by a jump to dlopen(), dlsym() and the like. These see who calls
 *     them by the return address, which would be one of ours.
 *   - Functions that end by a jump to setjmp() and the like, which return there once more.
 *
 * The rest of the list has too little room for a jump. Under the engine's lock.
 */
size_t agent_entry_search(const struct agent_module_tables *module, const struct agent_entry_list *list,
        struct agent_entry *entries, size_t *left_out);

/* Whether a function of the module, with or without an entry, is one of these. */
bool agent_entry_is_special(const struct agent_module_tables *module, uint64_t function);

/*
 * The same for sleds, in the order of their functions. Left out are:
 *
 *   - Functions that call the compiler's hooks, as above.
 *   - Sleds for events of the program's own.
 *   - Exits of functions that have no sled at their entry.
 *   - A sled before a conditional jump to another function: whether the call ends there is
 *     not known, and the condition is in the flags.
 *
 * The rest of the list is not as clang made it. `*without_ends`: there are entries, and no
 * exits.
 */
size_t agent_sled_search(const struct agent_module_tables *module, const struct agent_entry_list *list,
        struct agent_entry *sleds, size_t *left_out, bool *without_ends);

#endif

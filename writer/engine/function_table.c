#include <sys/mman.h>
#include "decisions.h"
#include "engine.h"
#include "valid.h"
#include "strings.h"

#define TABLE_FIRST_ENTRIES UINT64_C(8192)
#define TABLE_LAST_ENTRIES  (TABLE_FIRST_ENTRIES << FXT_FUNCTION_TABLE_GROWTHS)

/* Takes the place of a retired function, because the search must not end there. No function
 * has this address. */
#define RETIRED UINT64_MAX

/* Returns the address in a reference, whatever else is in it. */
static uint64_t functions_address_of(uint64_t ref)
{
	return (ref & ~FXT_FUNCTION_EXCLUDED) >> FXT_FRAME_INDEX_BITS;
}

/* Puts a reference at the entry that fxt_function_find() looks at first, or as near behind
 * it as there is room. Returns whether that took one of the entries never used before. */
static bool functions_insert(const struct fxt_function_table *table, uint64_t ref)
{
	uint64_t at = fxt_function_hash(functions_address_of(ref)) & table->mask;

	while (load_relaxed(&table->entries[at]) != 0 && table->entries[at] != RETIRED)
		at = (at + 1) & table->mask;
	bool is_fresh = table->entries[at] == 0;

	/* Release: the name is durable before any thread can find its index. */
	store_release(&table->entries[at], ref);
	return is_fresh;
}

void fxt_functions_retire(struct fxt_engine *e, uint64_t start, uint64_t end)
{
	const struct fxt_function_table *table = &e->functions;

	FXT_ASSERT_LOCKED(e);
	for (uint64_t at = 0; at <= table->mask; at++) {
		uint64_t ref = table->entries[at];

		if (ref && ref != RETIRED && functions_address_of(ref) - start < end - start)
			store_relaxed(&table->entries[at], RETIRED);
	}
}

uint64_t fxt_function_search(const struct fxt_engine *e, uint64_t address)
{
	const struct fxt_function_table *table = &e->functions;
	uint64_t at = fxt_function_hash(address) & table->mask;

	FXT_ASSERT_LOCKED(e);
	for (;; at = (at + 1) & table->mask) {
		uint64_t ref = load_relaxed(&table->entries[at]);

		if (ref == 0 || (ref != RETIRED && functions_address_of(ref) == address))
			return ref;
	}
}

static bool functions_map_table(struct fxt_function_table *table, uint64_t entries)
{
	table->mask = entries - 1;
	table->entries = sys_map(entries * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!table->entries)
		return false;
	sys_advise(table->entries, entries * 8, MADV_WIPEONFORK);
	sys_advise(table->entries, entries * 8, MADV_DONTDUMP);
	return true;
}

bool fxt_function_table_create(struct fxt_engine *e)
{
	e->decided = 1;
	return e->functions.entries || functions_map_table(&e->functions, TABLE_FIRST_ENTRIES);
}

static void functions_unmap_table(struct fxt_function_table *table)
{
	if (table->entries)
		sys_unmap(table->entries, (table->mask + 1) * sizeof(uint64_t));
	table->entries = NULL;
}

void fxt_function_table_free(struct fxt_engine *e)
{
	while (e->outgrown_count)
		functions_unmap_table(&e->outgrown[--e->outgrown_count]);
	functions_unmap_table(&e->functions);
}

void fxt_function_table_clear(struct fxt_engine *e)
{
	FXT_ASSERT_LOCKED(e);
	/* Turns all pages into zeros at once, also for a reader that is probing them. */
	sys_advise(e->functions.entries, (e->functions.mask + 1) * sizeof(uint64_t), MADV_DONTNEED);
	e->functions_used = 0;
	fxt_decisions_forget(e);
}

/* Keeps the table at most half full. The old one stays mapped: a reader may be probing
 * it. */
static bool functions_make_room(struct fxt_engine *e)
{
	struct fxt_function_table *table = &e->functions;
	struct fxt_function_table larger;
	uint64_t entries = table->mask + 1;

	FXT_ASSERT_LOCKED(e);
	if (e->functions_used < entries / 2)
		return true;
	if (entries >= TABLE_LAST_ENTRIES || !functions_map_table(&larger, entries * 2))
		return e->functions_used < entries - entries / 8;
	for (uint64_t i = 0; i < entries; i++)
		if (table->entries[i] && table->entries[i] != RETIRED)
			functions_insert(&larger, table->entries[i]);
	e->outgrown[e->outgrown_count++] = *table;
	/* Table before mask, each release: a reader that sees the larger mask must see the
	 * larger table. */
	store_release(&table->entries, larger.entries);
	store_release(&table->mask, larger.mask);
	return true;
}

uint64_t fxt_function_register(struct fxt_engine *e, uint64_t address, uint32_t module)
{
	char text[FXT_PLACEHOLDER_BYTES];
	uint64_t ref = fxt_function_search(e, address);

	FXT_ASSERT_LOCKED(e);
	if (ref)
		return ref;
	uint16_t index = fxt_string_register(e, text, fxt_placeholder(text, address, module));

	ref = fxt_function_key(address) | (index ? index : FXT_INDEX_LOCAL);
	if (functions_make_room(e))
		e->functions_used += functions_insert(&e->functions, ref);
	return ref;
}

#include "strings.h"
#include <string.h>
#include <sys/mman.h>
#include "chunk.h"
#include "closing.h"
#include "encode.h"
#include "rolling.h"

#define TABLE_FIRST_ENTRIES UINT64_C(8192)
#define TABLE_LAST_ENTRIES  (TABLE_FIRST_ENTRIES << FXT_FUNCTION_TABLE_GROWTHS)
#define LOCAL_SLOTS         (2 * FXT_STRING_LOCAL_COUNT)
#define LOCAL_BYTES         (LOCAL_SLOTS * sizeof(struct fxt_local_name))

/* ---- durable records ---- */

bool fxt_durable_write(struct fxt_engine *e, const uint64_t *record, uint64_t words, bool last_eighth)
{
	uint64_t size = e->layout.durable_bytes;

	if (e->mode == FXT_ONESHOT) {
		uint64_t *position = fxt_rolling_durable_reserve(e, words);

		if (!position)
			return false;
		memcpy(position, record, words * 8);
		fxt_rolling_durable_commit(e, position, words);
		return true;
	}
	if (e->durable_end + words * 8 > (last_eighth ? size : size - size / 8))
		return false;
	memcpy(e->buffer + sizeof(*e->header) + e->durable_end, record, words * 8);
	e->durable_end += words * 8;
	FXT_FAIL_POINT("durable: written");
	/* Release: the end is published after the bytes, so that a crash leaves no hole. */
	store_release(&e->header->durable_data_end, e->durable_end);
	return true;
}

uint16_t fxt_string_register(struct fxt_engine *e, const char *text, uint64_t bytes)
{
	uint64_t record[1 + FXT_PLACEHOLDER_BYTES / 8]; /* small: this runs on any stack of the program */
	size_t words;

	if (e->next_string >= FXT_STRING_LOCAL_FIRST)
		return 0;
	words = fxt_put_string(record, sizeof(record) / 8, e->next_string, text, bytes);
	if (!words || !fxt_durable_write(e, record, words, false))
		return 0;
	return (uint16_t)e->next_string++;
}

/* ---- placeholders ---- */

static size_t put_number(char *text, uint64_t number, unsigned base)
{
	char digits[20];
	size_t count = 0, length = 0;

	do
		digits[count++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (count)
		text[length++] = digits[--count];
	return length;
}

size_t fxt_placeholder(char text[FXT_PLACEHOLDER_BYTES], uint64_t address, uint32_t module)
{
	static const char before[] = "{{{pc:0x";
	size_t length = sizeof(before) - 1;

	memcpy(text, before, length);
	length += put_number(text + length, address, 16);
	text[length++] = ':';
	length += put_number(text + length, module, 10);
	memcpy(text + length, "}}}", 3);
	return length + 3;
}

/* ---- the function table ---- */

/* In place of a retired function, for the search must not end there: no function has this address. */
#define RETIRED UINT64_MAX

/* Puts a word where fxt_function_find() looks first, or as near behind as there is room. Whether that took
 * one of the entries never used before. */
static bool insert(const struct fxt_function_table *table, uint64_t word)
{
	uint64_t address = word >> FXT_FRAME_INDEX_BITS;
	uint64_t at = fxt_function_hash(address) & table->mask;

	while (load_relaxed(&table->entries[at]) != 0 && table->entries[at] != RETIRED)
		at = (at + 1) & table->mask;
	bool is_fresh = table->entries[at] == 0;

	/* Release: the name is durable before anybody can find its index. */
	store_release(&table->entries[at], word);
	return is_fresh;
}

void fxt_functions_retire(struct fxt_engine *e, uint64_t start, uint64_t end)
{
	const struct fxt_function_table *table = &e->functions;

	for (uint64_t at = 0; at <= table->mask; at++) {
		uint64_t word = table->entries[at];

		if (word && (word >> FXT_FRAME_INDEX_BITS) - start < end - start)
			store_relaxed(&table->entries[at], RETIRED);
	}
}

uint64_t fxt_function_search(const struct fxt_engine *e, uint64_t address)
{
	const struct fxt_function_table *table = &e->functions;
	uint64_t at = fxt_function_hash(address) & table->mask;

	for (;; at = (at + 1) & table->mask) {
		uint64_t word = load_relaxed(&table->entries[at]);

		if (word == 0 || fxt_function_is(word, address))
			return word;
	}
}

static bool map_table(struct fxt_function_table *table, uint64_t entries)
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
	return map_table(&e->functions, TABLE_FIRST_ENTRIES);
}

static void unmap_table(struct fxt_function_table *table)
{
	if (table->entries)
		sys_unmap(table->entries, (table->mask + 1) * sizeof(uint64_t));
	table->entries = NULL;
}

void fxt_function_table_free(struct fxt_engine *e)
{
	while (e->outgrown_count)
		unmap_table(&e->outgrown[--e->outgrown_count]);
	unmap_table(&e->functions);
}

void fxt_function_table_clear(struct fxt_engine *e)
{
	/* Pages of zeros at once, also for a reader that is probing them. */
	sys_advise(e->functions.entries, (e->functions.mask + 1) * sizeof(uint64_t), MADV_DONTNEED);
	e->functions_used = 0;
}

/* Keeps the table at most half full. The old one stays mapped: a reader may be probing it. */
static bool make_room(struct fxt_engine *e)
{
	struct fxt_function_table *table = &e->functions;
	struct fxt_function_table larger;
	uint64_t entries = table->mask + 1;

	if (e->functions_used < entries / 2)
		return true;
	if (entries >= TABLE_LAST_ENTRIES || !map_table(&larger, entries * 2))
		return e->functions_used < entries - entries / 8;
	for (uint64_t i = 0; i < entries; i++)
		if (table->entries[i] && table->entries[i] != RETIRED)
			insert(&larger, table->entries[i]);
	e->outgrown[e->outgrown_count++] = *table;
	/* Table before mask, each release: a reader that sees the larger mask must see the larger table. */
	store_release(&table->entries, larger.entries);
	store_release(&table->mask, larger.mask);
	return true;
}

uint64_t fxt_function_register(struct fxt_engine *e, uint64_t address, uint32_t module)
{
	char text[FXT_PLACEHOLDER_BYTES];
	uint64_t word = fxt_function_search(e, address);

	if (word)
		return word;
	uint16_t index = fxt_string_register(e, text, fxt_placeholder(text, address, module));

	word = fxt_function_key(address) | (index ? index : FXT_INDEX_LOCAL);
	if (make_room(e))
		e->functions_used += insert(&e->functions, word);
	return word;
}

/* ---- names that hold for one chunk ---- */

/* A slot of the thread's table; valid when its chunk is the open one. */
struct fxt_local_name {
	uint64_t address;
	uint64_t chunk; /* the serial number of the chunk that registered it */
	uint32_t module;
	uint16_t index;
};

static struct fxt_local_name *find_local(struct fxt_block *block, uint64_t address, uint32_t module)
{
	struct fxt_local_name *table = block->local_names;
	uint64_t at = fxt_function_hash(address) % LOCAL_SLOTS;

	/* At most half of the slots are of this chunk, so the search ends. */
	while (table[at].chunk == block->chunk_serial &&
	        (table[at].address != address || table[at].module != module))
		at = (at + 1) % LOCAL_SLOTS;
	return &table[at];
}

static bool has_room(const struct fxt_block *block, const struct fxt_thread_slot *slot, uint64_t words)
{
	return load_relaxed(&slot->committed) + words * 8 <= load_relaxed(&block->limit);
}

/* The chunk has no index left. The next one is as large as this one came to be used. */
static void close_own(struct fxt_engine *e, struct fxt_block *block)
{
	uint64_t mask = fxt_lock(&e->lock);

	if (block->chunk && !block->stalled)
		block->chunk_bytes = fxt_chunk_round_up(fxt_slot(e, block->number)->committed - block->chunk);
	fxt_engine_change_begin(e);
	fxt_close_thread(e, block);
	fxt_engine_change_end(e);
	fxt_unlock(&e->lock, mask);
}

uint16_t fxt_local_index(
        struct fxt_engine *e, struct fxt_block *block, uint64_t address, uint32_t module, uint64_t words)
{
	const struct fxt_thread_slot *slot = fxt_slot(e, block->number);
	uint64_t record[FXT_PLACEHOLDER_BYTES / 8 + 1];
	char text[FXT_PLACEHOLDER_BYTES];
	size_t bytes = fxt_placeholder(text, address, module);

	if (!block->local_names)
		block->local_names = sys_map(
		        LOCAL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!block->local_names)
		return 0;
	for (;;) {
		struct fxt_local_name *name = find_local(block, address, module);
		uint16_t index = (uint16_t)(FXT_STRING_LOCAL_FIRST + block->local_strings);
		size_t size = 0;

		if (name->chunk == block->chunk_serial && name->address == address) {
			if (has_room(block, slot, words))
				return name->index;
		} else if (block->local_strings == FXT_STRING_LOCAL_COUNT) {
			close_own(e, block);
		} else {
			size = fxt_put_string(record, sizeof(record) / 8, index, text, bytes);
			/* Noted only once it is written: what is noted is never written again. */
			if (has_room(block, slot, size + words) &&
			        fxt_chunk_try_write(e, block, record, size, 0)) {
				*name = (struct fxt_local_name){address, block->chunk_serial, module, index};
				block->local_strings++;
				return index;
			}
		}
		/* A new chunk knows no names. */
		if (!fxt_chunk_reserve(e, block, words + fxt_words(bytes) + 1))
			return 0;
	}
}

void fxt_local_names_free(struct fxt_block *block)
{
	if (block->local_names)
		sys_unmap(block->local_names, LOCAL_BYTES);
	block->local_names = NULL;
}

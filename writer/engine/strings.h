/*
 * Names: the durable buffer, the string and thread tables of the provider, and the fallback
 * when they are full.
 *
 * Strings and threads are registered once, in the durable buffer, and referred to by index
 * from then on. Tracing goes on after the durable buffer or the indices are used up. A name
 * is then registered in the chunk that uses it, ahead of its use, under an index that holds
 * for that chunk only (FXT_STRING_LOCAL_FIRST on; thread index 255).
 */
#ifndef FXT_WRITER_STRINGS_H
#define FXT_WRITER_STRINGS_H

#include "engine.h"

/* String indices that every provider registers first. */
enum fxt_known_string {
	FXT_KNOWN_FUNCTION = 1, /* the category of calls */
	FXT_KNOWN_FXT,          /* the category of our own slices */
	FXT_KNOWN_WAITED,
	FXT_KNOWN_ABANDONED,
	FXT_KNOWN_RECORDS,
	FXT_KNOWN_PROCESS,
	/* the category of calls that a forked child was created inside of */
	FXT_KNOWN_INHERITED,
	FXT_KNOWN_STRINGS
};

/* Whether a category is that of a function's calls, counted or inherited. */
static inline bool fxt_is_function_category(uint64_t index)
{
	return index == FXT_KNOWN_FUNCTION || index == FXT_KNOWN_INHERITED;
}

/* Room for the longest text the engine registers:
 * "{{{pc:0x0123456789abcdef:4294967295}}}". */
#define FXT_PLACEHOLDER_BYTES 48

/* The longest text that can be registered; small, because that runs on any stack of the
 * program. */
#define FXT_REGISTERED_BYTES 128

/*
 * The text a function's string record holds until it is symbolized:
 * "{{{pc:0x55d0c0de1139:3}}}", address and module id; module 0 = not known. Returns its
 * length.
 */
size_t fxt_placeholder(char text[FXT_PLACEHOLDER_BYTES], uint64_t address, uint32_t module);

/* Copies a record into the durable buffer. `last_eighth`: may use the part kept for
 * modules. False: it is full. With the lock held. */
bool fxt_durable_write(struct fxt_engine *e, const uint64_t *record, uint64_t words, bool last_eighth);

/* Registers a string of at most FXT_REGISTERED_BYTES durably; 0 = no room or no index
 * left. With the lock held. */
uint16_t fxt_string_register(struct fxt_engine *e, const char *text, uint64_t bytes);

#endif

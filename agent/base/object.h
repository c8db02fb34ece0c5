/*
 * An ELF object in memory, by its dynamic section: its symbols, their names and versions,
 * and its relocations. Reads the loader's tables and calls nothing of the loader's. From
 * any context, while the object stays loaded.
 */
#ifndef FXT_AGENT_OBJECT_H
#define FXT_AGENT_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* not the default version; a name without a version means the default one */
#define AGENT_HIDDEN_VERSION 0x8000

/* The parts of an object's dynamic section that a look-up needs. */
struct agent_object {
	uintptr_t base;
	ElfW(Sym) * symbols;
	const char *strings, *soname;
	const uint16_t *versions;         /* NULL: none */
	const ElfW(Verdef) * definitions; /* of versions; NULL: none */
	const ElfW(Verneed) * needed;     /* versions of other objects; NULL: none */
	const uint32_t *gnu_hash;         /* NULL: sysv_hash */
	const uint32_t *sysv_hash;
	struct {
		const ElfW(Rela) * first;
		size_t bytes;
	} data_relocations, call_relocations;
	size_t relative_count; /* this many data relocations, the first ones, have no symbol */
	bool with_hidden;      /* look-ups find hidden symbols too; false at first */
};

/* Reads an object's dynamic section. False: it has no symbols. */
bool agent_object_open(const struct link_map *map, struct agent_object *o);

/* The object's name as others need it (DT_NEEDED). `o` is open on `map`. */
const char *agent_object_name(const struct link_map *map, const struct agent_object *o);

/* Whether the object needs the one of that name. */
bool agent_object_needs(const struct link_map *map, const struct agent_object *o, const char *name);

/* The version of a symbol that the object defines; NULL: none. */
const char *agent_object_version(const struct agent_object *o, uint32_t index);

/* Whether a symbol is defined for other objects. */
bool agent_object_defines(const struct agent_object *o, uint32_t index);

/* The first symbol of the object with that name that `fits`; NULL: none. */
const ElfW(Sym) * agent_object_search(const struct agent_object *o, const char *name,
                          bool (*fits)(const struct agent_object *o, uint32_t index, void *context),
                          void *context);

/* DT_GNU_HASH: the number of buckets, of symbols that are not hashed, and of words of the
 * filter, and the filter's shift; then the filter of 64-bit words, the buckets, and one
 * hash a symbol. Bit 0 of a hash marks the last symbol of its bucket. */
struct agent_gnu_table {
	uint32_t buckets, first_symbol;
	const uint32_t *bucket, *hash;
};

static inline struct agent_gnu_table agent_gnu_table(const uint32_t *at)
{
	const uint32_t *bucket = at + 4 + (size_t)at[2] * 2;

	return (struct agent_gnu_table){at[0], at[1], bucket, bucket + at[0]};
}

#endif

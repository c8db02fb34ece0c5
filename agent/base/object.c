/* Reads the tables of an ELF object (object.h). Must not call the loader. */
#include "object.h"
#include <string.h>

/* The loader adds the base to the addresses in writable dynamic sections. */
static const void *object_address(const struct link_map *map, uintptr_t address)
{
	return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

bool agent_object_open(const struct link_map *map, struct agent_object *o)
{
	size_t soname = 0;

	*o = (struct agent_object){.base = map->l_addr};
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = object_address(map, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			o->symbols = (ElfW(Sym) *)(uintptr_t)at;
			break;
		case DT_STRTAB:
			o->strings = at;
			break;
		case DT_VERSYM:
			o->versions = at;
			break;
		case DT_VERDEF:
			o->definitions = at;
			break;
		case DT_VERNEED:
			o->needed = at;
			break;
		case DT_GNU_HASH:
			o->gnu_hash = at;
			break;
		case DT_HASH:
			o->sysv_hash = at;
			break;
		case DT_SONAME:
			soname = entry->d_un.d_val;
			break;
		case DT_RELA:
			o->data_relocations.first = at;
			break;
		case DT_RELASZ:
			o->data_relocations.bytes = entry->d_un.d_val;
			break;
		case DT_RELACOUNT:
			o->relative_count = entry->d_un.d_val;
			break;
		case DT_JMPREL:
			o->call_relocations.first = at;
			break;
		case DT_PLTRELSZ:
			o->call_relocations.bytes = entry->d_un.d_val;
			break;
		}
	}
	o->soname = soname && o->strings ? o->strings + soname : "";
	return o->symbols && o->strings && (o->gnu_hash || o->sysv_hash);
}

const char *agent_object_name(const struct link_map *map, const struct agent_object *o)
{
	const char *slash = strrchr(map->l_name, '/');

	if (*o->soname)
		return o->soname;
	return slash ? slash + 1 : map->l_name;
}

bool agent_object_needs(const struct link_map *map, const struct agent_object *o, const char *name)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED && strcmp(o->strings + entry->d_un.d_val, name) == 0)
			return true;
	return false;
}

const char *agent_object_version(const struct agent_object *o, uint32_t index)
{
	const ElfW(Verdef) *definition = o->definitions;

	while (definition && o->versions &&
	        definition->vd_ndx != (o->versions[index] & ~AGENT_HIDDEN_VERSION))
		definition = definition->vd_next
		                     ? (const void *)((const uint8_t *)definition + definition->vd_next)
		                     : NULL;
	if (!definition || !o->versions)
		return NULL;
	return o->strings +
	       ((const ElfW(Verdaux) *)((const uint8_t *)definition + definition->vd_aux))->vda_name;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Whether the table's filter passes a hash. It stops most names that the object does not
 * have. */
static bool gnu_may_have(const uint32_t *at, uint32_t hash)
{
	uint64_t word = ((const uint64_t *)(at + 4))[hash / 64 % at[2]];

	return word >> hash % 64 & word >> (hash >> at[3]) % 64 & 1;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

bool agent_object_defines(const struct agent_object *o, uint32_t index)
{
	const ElfW(Sym) *symbol = &o->symbols[index];
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       ELF64_ST_TYPE(symbol->st_info) != STT_TLS && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (o->with_hidden || (visibility != STV_HIDDEN && visibility != STV_INTERNAL));
}

const ElfW(Sym) * agent_object_search(const struct agent_object *o, const char *name,
                          bool (*fits)(const struct agent_object *o, uint32_t index, void *context),
                          void *context)
{
	if (o->gnu_hash) {
		struct agent_gnu_table table = agent_gnu_table(o->gnu_hash);
		uint32_t own = gnu_hash(name), wanted = own | 1, i = 0;

		if (table.buckets && gnu_may_have(o->gnu_hash, own))
			i = table.bucket[own % table.buckets];

		for (; i >= table.first_symbol && i != 0; i++) {
			uint32_t hash = table.hash[i - table.first_symbol];

			if ((hash | 1) == wanted && agent_object_defines(o, i) &&
			        strcmp(o->strings + o->symbols[i].st_name, name) == 0 && fits(o, i, context))
				return &o->symbols[i];
			if (hash & 1)
				break;
		}
		return NULL;
	}
	const uint32_t *bucket = o->sysv_hash + 2, *chain = bucket + o->sysv_hash[0];

	for (uint32_t i = o->sysv_hash[0] ? bucket[sysv_hash(name) % o->sysv_hash[0]] : 0; i; i = chain[i])
		if (agent_object_defines(o, i) && strcmp(o->strings + o->symbols[i].st_name, name) == 0 &&
		        fits(o, i, context))
			return &o->symbols[i];
	return NULL;
}

/*
 * Finds imports and their definitions by the rules of glibc's loader (definitions.h). Runs
 * on the thread that starts or loads a module. Must not call the loader: the program could
 * see its error text.
 */
#include "definitions.h"
#include <link.h>
#include <string.h>
#include "arch.h"
#include "object.h"
#include "symbols.h"

#define VERSION_GLOBAL 1 /* of the object as a whole: no version */
#define VERSION_FIRST  2

static const void *behind(const void *at, uint32_t bytes)
{
	return bytes ? (const uint8_t *)at + bytes : NULL;
}

/* The version that an object wants of another one's symbol; NULL: any. */
static const char *import_version(const struct agent_object *o, uint32_t symbol)
{
	uint16_t wanted = o->versions ? o->versions[symbol] & ~AGENT_HIDDEN_VERSION : VERSION_GLOBAL;

	for (const ElfW(Verneed) *need = wanted > VERSION_GLOBAL ? o->needed : NULL; need;
	        need = behind(need, need->vn_next))
		for (const ElfW(Vernaux) *version = behind(need, need->vn_aux); version;
		        version = behind(version, version->vna_next))
			if ((version->vna_other & ~AGENT_HIDDEN_VERSION) == wanted)
				return o->strings + version->vna_name;
	return NULL;
}

static uint32_t imports_in(const struct agent_object *o, const ElfW(Rela) * first, size_t count,
        bool with_own, struct agent_import *imports, uint32_t most)
{
	uint32_t found = 0;

	for (size_t i = 0; first && i < count; i++) {
		uint32_t number = (uint32_t)ELF64_R_SYM(first[i].r_info);
		uint32_t kind = (uint32_t)ELF64_R_TYPE(first[i].r_info);
		const ElfW(Sym) *symbol = &o->symbols[number];
		uint8_t type = ELF64_ST_TYPE(symbol->st_info);

		if ((kind != ARCH_RELOCATION_CALL && kind != ARCH_RELOCATION_ADDRESS) || !number ||
		        (symbol->st_shndx != SHN_UNDEF && !with_own) ||
		        (type != STT_FUNC && type != STT_NOTYPE) ||
		        ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT)
			continue;
		if (imports && found == most)
			break;
		if (imports)
			imports[found] = (struct agent_import){.slot = o->base + first[i].r_offset,
			        .name = o->strings + symbol->st_name,
			        .version = import_version(o, number),
			        .is_for_calls = kind == ARCH_RELOCATION_CALL};
		found++;
	}
	return found;
}

static bool object_open_at(uint64_t base, const void *dynamic, struct agent_object *o)
{
	const struct link_map map = {.l_addr = base, .l_ld = (ElfW(Dyn) *)(uintptr_t)dynamic};

	return agent_object_open(&map, o);
}

uint32_t agent_imports_find(
        uint64_t base, const void *dynamic, bool with_own, struct agent_import *imports, uint32_t most)
{
	struct agent_object o;
	uint32_t found;

	if (!object_open_at(base, dynamic, &o))
		return 0;
	found = imports_in(&o, o.call_relocations.first, o.call_relocations.bytes / sizeof(ElfW(Rela)),
	        with_own, imports, most);
	return found + imports_in(&o, o.data_relocations.first, o.data_relocations.bytes / sizeof(ElfW(Rela)),
	                       with_own, imports ? imports + found : NULL, most - found);
}

/* A search in one object. */
struct search {
	const char *version;
	const ElfW(Sym) * versioned; /* a symbol with a version, if none is wanted */
	uint32_t versioned_count;
};

/* Whether a symbol is what an import wants. Without a wanted version, this is a symbol
 * without one or of the object's first version, or else the only one. */
static bool search_fits(const struct agent_object *o, uint32_t index, void *context)
{
	struct search *search = context;
	uint16_t mark = o->versions ? o->versions[index] : VERSION_GLOBAL;
	uint16_t number = mark & ~AGENT_HIDDEN_VERSION;
	const char *own = number > VERSION_GLOBAL ? agent_object_version(o, index) : NULL;

	if (!o->versions)
		return true;
	if (search->version)
		return own ? strcmp(own, search->version) == 0 : !(mark & AGENT_HIDDEN_VERSION);
	if (number <= VERSION_FIRST)
		return true;
	if (!search->versioned_count++)
		search->versioned = &o->symbols[index];
	return false;
}

static bool definition_in(
        const struct agent_object *o, const struct agent_import *import, struct agent_definition *definition)
{
	struct search search = {.version = import->version};
	const ElfW(Sym) *symbol = agent_object_search(o, import->name, search_fits, &search);

	if (!symbol && search.versioned_count == 1)
		symbol = search.versioned;
	if (!symbol || symbol->st_shndx == SHN_ABS)
		return false;
	definition->address = o->base + symbol->st_value;
	definition->is_resolver = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
	return true;
}

bool agent_definition_in(uint64_t base, const void *dynamic, const struct agent_import *import,
        struct agent_definition *definition)
{
	struct agent_object o;

	return object_open_at(base, dynamic, &o) && definition_in(&o, import, definition);
}

static bool definition_in_list(const struct link_map *map, const struct link_map *end,
        const struct agent_import *import, struct agent_definition *definition)
{
	struct agent_object o;

	for (; map != end; map = map->l_next)
		if (agent_object_open(map, &o) && definition_in(&o, import, definition))
			return true;
	return false;
}

bool agent_definition_find_behind(const struct agent_import *import, struct agent_definition *definition)
{
	const struct link_map *own = agent_own_object(), *last = agent_last_object();

	if (agent_is_late())
		return definition_in_list(_r_debug.r_map, last->l_next, import, definition);
	return own && definition_in_list(own->l_next, NULL, import, definition);
}

static bool is_object_of_start(uint64_t base)
{
	const struct link_map *end = ((const struct link_map *)agent_last_object())->l_next;

	for (const struct link_map *map = _r_debug.r_map; map != end; map = map->l_next)
		if (map->l_addr == base)
			return true;
	return false;
}

/* Whether an object stays loaded as long as the library at `base`: it is one of the start,
 * or the library needs it. If the loader binds to another one, it keeps that one loaded. */
static bool object_outlives(const struct link_map *map, const struct agent_object *o, uint64_t base)
{
	const struct link_map *library = _r_debug.r_map;
	struct agent_object needing;

	if (is_object_of_start(map->l_addr))
		return true;
	while (library && library->l_addr != base)
		library = library->l_next;
	return library && agent_object_open(library, &needing) &&
	       agent_object_needs(library, &needing, agent_object_name(map, o));
}

static bool definition_find_only(
        uint64_t base, const struct agent_import *import, struct agent_definition *definition)
{
	const struct link_map *own = agent_own_object();
	struct agent_definition other;
	struct agent_object o;
	bool is_found = false;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (map == own || !agent_object_open(map, &o) || !definition_in(&o, import, &other))
			continue;
		if (is_found || !object_outlives(map, &o, base))
			return false;
		*definition = other;
		is_found = true;
	}
	if (is_found && own && agent_object_open(own, &o))
		definition_in(&o, import, definition);
	return is_found;
}

bool agent_definition_find(
        uint64_t base, const struct agent_import *import, struct agent_definition *definition)
{
	const struct link_map *last = agent_last_object();

	if (!last)
		return false;
	return is_object_of_start(base) ? definition_in_list(_r_debug.r_map, last->l_next, import, definition)
	                                : definition_find_only(base, import, definition);
}

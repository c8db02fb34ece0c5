/*
 * Looks up names in the objects of the program's start (symbols.h), from the loader's lists
 * and the ELF tables. Runs on any thread. It must not call the loader: a failed look-up
 * there leaves an error text that the program could see.
 */
#include "symbols.h"
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "arch.h"
#include "attributes.h"
#include "writer/shared/atomics.h"
#include "writer/shared/sys.h"

#define LIBC "libc.so.6"
/* not the default version; a name without a version means the default one */
#define HIDDEN_VERSION 0x8000

extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* The last object of the start. Searches from here skip objects that a dlopen() adds behind
 * it. NULL: the loader has not relocated the agent yet. */
static const struct link_map *last;

/* The parts of an object's dynamic section that a look-up needs. */
struct object {
	uintptr_t base;
	ElfW(Sym) * symbols;
	const char *strings, *soname;
	const uint16_t *versions;         /* NULL: none */
	const ElfW(Verdef) * definitions; /* of versions; NULL: none */
	const uint32_t *gnu_hash;         /* NULL: sysv_hash */
	const uint32_t *sysv_hash;
	struct {
		const ElfW(Rela) * first;
		size_t bytes;
	} data_relocations, call_relocations;
	size_t relative_count; /* this many data relocations, the first ones, have no symbol */
};

/* The loader adds the base to the addresses in writable dynamic sections. */
static const void *object_address(const struct link_map *map, uintptr_t address)
{
	return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

static bool object_open(const struct link_map *map, struct object *o)
{
	size_t soname = 0;

	*o = (struct object){.base = map->l_addr};
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

/* The version of a symbol that the object defines; NULL: none. */
static const char *object_version_at(const struct object *o, uint32_t index)
{
	const ElfW(Verdef) *definition = o->definitions;

	while (definition && o->versions && definition->vd_ndx != (o->versions[index] & ~HIDDEN_VERSION))
		definition = definition->vd_next
		                     ? (const void *)((const uint8_t *)definition + definition->vd_next)
		                     : NULL;
	if (!definition || !o->versions)
		return NULL;
	return o->strings +
	       ((const ElfW(Verdaux) *)((const uint8_t *)definition + definition->vd_aux))->vda_name;
}

static const char *libc_version(const char *name);

/* A program asks for the version that was libc's default when the program was linked. If an
 * object has this version, even if not as its default, the program gets that definition. */
static bool object_has_libcs_version_at(const struct object *o, uint32_t index, const char *name)
{
	const char *own = object_version_at(o, index), *libcs = own ? libc_version(name) : NULL;

	return libcs && strcmp(own, libcs) == 0;
}

static bool object_has_at(const struct object *o, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &o->symbols[index];
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       ELF64_ST_TYPE(symbol->st_info) != STT_TLS && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
	       strcmp(o->strings + symbol->st_name, name) == 0 &&
	       (!(o->versions && (o->versions[index] & HIDDEN_VERSION)) ||
	               (strcmp(o->soname, LIBC) != 0 && object_has_libcs_version_at(o, index, name)));
}

/* DT_GNU_HASH: the number of buckets, of symbols that are not hashed, and of words of the
 * filter, and the filter's shift; then the filter of 64-bit words, the buckets, and one
 * hash a symbol. Bit 0 of a hash marks the last symbol of its bucket. */
struct gnu_table {
	uint32_t buckets, first_symbol;
	const uint32_t *bucket, *hash;
};

static struct gnu_table gnu_table(const uint32_t *at)
{
	const uint32_t *bucket = at + 4 + (size_t)at[2] * 2;

	return (struct gnu_table){at[0], at[1], bucket, bucket + at[0]};
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

static const ElfW(Sym) * object_find(const struct object *o, const char *name)
{
	if (o->gnu_hash) {
		struct gnu_table table = gnu_table(o->gnu_hash);
		uint32_t own = gnu_hash(name), wanted = own | 1, i = 0;

		if (table.buckets && gnu_may_have(o->gnu_hash, own))
			i = table.bucket[own % table.buckets];

		for (; i >= table.first_symbol && i != 0; i++) {
			uint32_t hash = table.hash[i - table.first_symbol];

			if ((hash | 1) == wanted && object_has_at(o, i, name))
				return &o->symbols[i];
			if (hash & 1)
				break;
		}
		return NULL;
	}
	const uint32_t *bucket = o->sysv_hash + 2, *chain = bucket + o->sysv_hash[0];

	for (uint32_t i = o->sysv_hash[0] ? bucket[sysv_hash(name) % o->sysv_hash[0]] : 0; i; i = chain[i])
		if (object_has_at(o, i, name))
			return &o->symbols[i];
	return NULL;
}

static void *object_symbol(const struct link_map *map, const char *name)
{
	struct object o;
	const ElfW(Sym) *symbol = object_open(map, &o) ? object_find(&o, name) : NULL;
	uintptr_t address = symbol ? o.base + symbol->st_value : 0;

	if (!symbol)
		return NULL;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return arch_resolve(address);
	return (void *)address;
}

static const struct link_map *first_object(void)
{
	return _r_debug.r_map;
}

static const struct link_map *own_object(void)
{
	const struct link_map *map = first_object();

	while (map && map->l_ld != own_dynamic)
		map = map->l_next;
	return map;
}

static const struct link_map *object_behind(const struct link_map *map)
{
	return map == last ? NULL : map->l_next;
}

void *agent_next_symbol(const char *name)
{
	const struct link_map *map = own_object();
	void *address = NULL;

	while (map && !address && (map = object_behind(map)))
		address = object_symbol(map, name);
	return address;
}

/* Two threads may do this at once: both store the same address. */
void *agent_next_symbol_kept(void **kept, const char *name)
{
	void *address = load_relaxed(kept);

	if (!address) {
		address = agent_next_symbol(name);
		store_relaxed(kept, address);
	}
	return address;
}

const void *agent_next_object(const char *name)
{
	const struct link_map *map = own_object();
	struct object o;

	while (map && (map = object_behind(map)))
		if (object_open(map, &o) && object_find(&o, name))
			return map;
	return NULL;
}

const void *agent_own_object(void)
{
	return own_object();
}

bool agent_object_has(const void *object, const void *address)
{
	uintptr_t base = ((const struct link_map *)object)->l_addr;
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(base + header->e_phoff);

	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD &&
		        (uintptr_t)address - base - segment[i].p_vaddr < segment[i].p_memsz)
			return true;
	return false;
}

static const struct link_map *libc_object(struct object *o)
{
	const struct link_map *map = first_object();

	while (map && !(object_open(map, o) && strcmp(o->soname, LIBC) == 0))
		map = object_behind(map);
	return map;
}

/* Before glibc 2.34 the thread functions were in a library of their own. */
static bool is_of_libc(const char *soname)
{
	return strcmp(soname, LIBC) == 0 || strcmp(soname, "libpthread.so.0") == 0;
}

void *agent_libc_symbol(const char *name)
{
	struct object o;
	void *address = NULL;

	for (const struct link_map *map = first_object(); map && !address; map = object_behind(map))
		if (object_open(map, &o) && is_of_libc(o.soname))
			address = object_symbol(map, name);
	return address;
}

/* The version of libc's default definition of a name; NULL: it has none. */
static const char *libc_version(const char *name)
{
	struct object o;
	const ElfW(Sym) *symbol = libc_object(&o) ? object_find(&o, name) : NULL;

	return symbol ? object_version_at(&o, (uint32_t)(symbol - o.symbols)) : NULL;
}

void *agent_program_symbol(const char *name)
{
	void *address = NULL;

	for (const struct link_map *map = first_object(); map && !address; map = object_behind(map))
		address = object_symbol(map, name);
	return address;
}

bool agent_symbol_exists(const char *name)
{
	struct object o;

	for (const struct link_map *map = first_object(); map; map = object_behind(map))
		if (object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

bool agent_symbol_is_preceded(const char *name)
{
	struct object o;

	for (const struct link_map *map = first_object(); map && map->l_ld != own_dynamic; map = map->l_next)
		if (object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

/* Adds the slots in a table of relocations, behind the `skipped` first ones. */
static unsigned slots_in(const struct object *o, const ElfW(Rela) * first, size_t bytes, size_t skipped,
        const char *const names[], struct agent_symbol_slot slots[], unsigned most)
{
	unsigned count = 0;

	for (size_t i = skipped; first && i < bytes / sizeof(*first) && count < most; i++) {
		uint32_t index = (uint32_t)ELF64_R_SYM(first[i].r_info);

		for (unsigned name = 0; index && names[name] && count < most; name++)
			if (strcmp(o->strings + o->symbols[index].st_name, names[name]) == 0)
				slots[count++] =
				        (struct agent_symbol_slot){o->base + first[i].r_offset, name};
	}
	return count;
}

/* Searches the relocations: an undefined symbol is in no hash table, and no table has the
 * number of symbols. */
static unsigned slots_of(
        const struct object *o, const char *const names[], struct agent_symbol_slot slots[], unsigned most)
{
	unsigned count =
	        slots_in(o, o->call_relocations.first, o->call_relocations.bytes, 0, names, slots, most);

	return count + slots_in(o, o->data_relocations.first, o->data_relocations.bytes, o->relative_count,
	                       names, slots + count, most - count);
}

unsigned agent_symbol_slots(uint64_t base, const void *dynamic, const char *const names[],
        struct agent_symbol_slot slots[], unsigned most)
{
	const struct link_map map = {.l_addr = base, .l_ld = (ElfW(Dyn) *)(uintptr_t)dynamic};
	struct object o;

	return object_open(&map, &o) ? slots_of(&o, names, slots, most) : 0;
}

bool agent_symbols_are_used(const char *const names[])
{
	struct agent_symbol_slot slot;
	struct object o;

	for (const struct link_map *map = first_object(); map; map = object_behind(map))
		if (object_open(map, &o) && slots_of(&o, names, &slot, 1))
			return true;
	return false;
}

bool agent_is_relocated(void)
{
	return last;
}

/* The loader's state is "adding objects" until it has relocated them and has called libc's
 * early initialization. */
bool agent_objects_are_ready(void)
{
	return last && _r_debug.r_state == RT_CONSISTENT;
}

/* ---- exports of the agent ---- */

static bool is_defined_behind(const struct link_map *own, const char *name)
{
	struct object o;

	for (const struct link_map *map = own->l_next; map; map = map->l_next)
		if (object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

/* Withdraws a symbol, unless an object behind this one defines the name too: the loader
 * skips a symbol without a value. fxt_alert() and fxt_trace_agent stay, because programs look for
 * them to find the agent. */
static void withdraw_if_new(const struct link_map *own, const struct object *o, ElfW(Sym) * symbol)
{
	const char *name = o->strings + symbol->st_name;

	if (symbol->st_shndx == SHN_UNDEF || strcmp(name, "fxt_alert") == 0 ||
	        strcmp(name, "fxt_trace_agent") == 0 || strcmp(name, "__gmon_start__") == 0 ||
	        is_defined_behind(own, name))
		return;
	symbol->st_shndx = SHN_UNDEF;
	symbol->st_value = 0;
}

static void withdraw_what_is_new(const struct link_map *own)
{
	const uintptr_t page = getauxval(AT_PAGESZ) - 1;
	struct object o;

	if (!object_open(own, &o) || !o.gnu_hash)
		return;
	struct gnu_table table = gnu_table(o.gnu_hash);
	uint32_t end = table.first_symbol;

	for (uint32_t i = 0; i < table.buckets; i++)
		end = table.bucket[i] > end ? table.bucket[i] : end;
	while (!(table.hash[end - table.first_symbol] & 1))
		end++;
	uintptr_t low = (uintptr_t)&o.symbols[table.first_symbol] & ~page;
	uintptr_t high = ((uintptr_t)&o.symbols[end + 1] + page) & ~page;

	if (sys_call(SYS_mprotect, (long)low, (long)(high - low), PROT_READ | PROT_WRITE, 0) < 0)
		return;
	for (uint32_t i = table.first_symbol; i <= end; i++)
		withdraw_if_new(own, &o, &o.symbols[i]);
	sys_call(SYS_mprotect, (long)low, (long)(high - low), PROT_READ, 0);
}

/*
 * Called by the loader when it has relocated the agent, and before it relocates the
 * program: a constructor would come too late for weak references. It is the resolver of a
 * function that is never called.
 */
static void symbols_nothing(void)
{
}

static __attribute__((used)) void (*symbols_resolve(void))(void)
{
	const struct link_map *own = own_object();

	for (const struct link_map *map = own; map; map = map->l_next)
		last = map;
	if (own && own != first_object()) /* a test may link the agent into its executable */
		withdraw_what_is_new(own);
	return symbols_nothing;
}

/* Not static: clang exports a static one. */
HIDDEN void symbols_at_relocation(void) __attribute__((ifunc("symbols_resolve")));
static void (*const volatile at_relocation)(void) __attribute__((used)) = symbols_at_relocation;

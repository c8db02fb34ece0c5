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
#include "object.h"
#include "writer/shared/atomics.h"
#include "writer/shared/sys.h"

#define LIBC "libc.so.6"

extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

/* The last object of the start. Searches from here skip objects that a dlopen() adds behind
 * it. NULL: the loader has not relocated the agent yet. */
static const struct link_map *last;
static bool is_late;

static const char *libc_version(const char *name);

/* A program asks for the version that was libc's default when the program was linked. If an
 * object has this version, even if not as its default, the program gets that definition. */
static bool object_has_libcs_version_at(const struct agent_object *o, uint32_t index, const char *name)
{
	const char *own = agent_object_version(o, index), *libcs = own ? libc_version(name) : NULL;

	return libcs && strcmp(own, libcs) == 0;
}

static bool object_fits(const struct agent_object *o, uint32_t index, void *context)
{
	return !(o->versions && (o->versions[index] & AGENT_HIDDEN_VERSION)) ||
	       (strcmp(o->soname, LIBC) != 0 && object_has_libcs_version_at(o, index, context));
}

static const ElfW(Sym) * object_find(const struct agent_object *o, const char *name)
{
	return agent_object_search(o, name, object_fits, (void *)(uintptr_t)name);
}

static void *object_symbol(const struct link_map *map, const char *name)
{
	struct agent_object o;
	const ElfW(Sym) *symbol = agent_object_open(map, &o) ? object_find(&o, name) : NULL;
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

static const struct link_map *object_behind_own(void)
{
	const struct link_map *own = is_late ? NULL : own_object();

	return own ? object_behind(own) : is_late ? first_object() : NULL;
}

void *agent_next_symbol(const char *name)
{
	void *address = NULL;

	for (const struct link_map *map = object_behind_own(); map && !address; map = object_behind(map))
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
	struct agent_object o;

	for (const struct link_map *map = object_behind_own(); map; map = object_behind(map))
		if (agent_object_open(map, &o) && object_find(&o, name))
			return map;
	return NULL;
}

const void *agent_own_object(void)
{
	return own_object();
}

bool agent_is_late(void)
{
	return is_late;
}

void *agent_own_symbol(const char *name)
{
	struct agent_object o;
	const ElfW(Sym) * symbol;

	if (!agent_object_open(own_object(), &o))
		return NULL;
	o.with_hidden = true;
	symbol = object_find(&o, name);
	return symbol ? (void *)(o.base + symbol->st_value) : NULL;
}

const void *agent_last_object(void)
{
	return last;
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

static const struct link_map *libc_object(struct agent_object *o)
{
	const struct link_map *map = first_object();

	while (map && !(agent_object_open(map, o) && strcmp(o->soname, LIBC) == 0))
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
	struct agent_object o;
	void *address = NULL;

	for (const struct link_map *map = first_object(); map && !address; map = object_behind(map))
		if (agent_object_open(map, &o) && is_of_libc(o.soname))
			address = object_symbol(map, name);
	return address;
}

/* The version of libc's default definition of a name; NULL: it has none. */
static const char *libc_version(const char *name)
{
	struct agent_object o;
	const ElfW(Sym) *symbol = libc_object(&o) ? object_find(&o, name) : NULL;

	return symbol ? agent_object_version(&o, (uint32_t)(symbol - o.symbols)) : NULL;
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
	struct agent_object o;

	for (const struct link_map *map = first_object(); map; map = object_behind(map))
		if (agent_object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

bool agent_symbol_is_preceded(const char *name)
{
	struct agent_object o;

	for (const struct link_map *map = is_late ? NULL : first_object(); map && map->l_ld != own_dynamic;
	        map = map->l_next)
		if (agent_object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

/* Adds the slots in a table of relocations, behind the `skipped` first ones. */
static unsigned slots_in(const struct agent_object *o, const ElfW(Rela) * first, size_t bytes, size_t skipped,
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
static unsigned slots_of(const struct agent_object *o, const char *const names[],
        struct agent_symbol_slot slots[], unsigned most)
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
	struct agent_object o;

	return agent_object_open(&map, &o) ? slots_of(&o, names, slots, most) : 0;
}

bool agent_symbols_are_used(const char *const names[])
{
	struct agent_symbol_slot slot;
	struct agent_object o;

	for (const struct link_map *map = first_object(); map; map = object_behind(map))
		if (agent_object_open(map, &o) && slots_of(&o, names, &slot, 1))
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
	struct agent_object o;

	for (const struct link_map *map = own->l_next; map; map = map->l_next)
		if (agent_object_open(map, &o) && object_find(&o, name))
			return true;
	return false;
}

/* Programs look for these to find the agent. */
static const char *const names_that_stay[] = {
        "fxt_alert", "fxt_trace_agent", "__itt_api_init", "__gmon_start__", NULL};
static const char *const names_for_launcher[] = {"fxt_agent_attach", "fxt_agent_detach", NULL};

static bool is_among(const char *const names[], const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Withdraws a symbol, unless an object behind this one defines the name too: the loader
 * skips a symbol without a value. Hides it if the agent is late, which needs the value. */
static void withdraw_if_new(const struct link_map *own, const struct agent_object *o, ElfW(Sym) * symbol)
{
	const char *name = o->strings + symbol->st_name;

	if (symbol->st_shndx == SHN_UNDEF || is_among(names_that_stay, name))
		return;
	if (is_late) {
		if (!is_among(names_for_launcher, name))
			symbol->st_other = STV_HIDDEN;
		return;
	}
	if (is_defined_behind(own, name))
		return;
	symbol->st_shndx = SHN_UNDEF;
	symbol->st_value = 0;
}

static void withdraw_what_is_new(const struct link_map *own)
{
	const uintptr_t page = getauxval(AT_PAGESZ) - 1;
	struct agent_object o;

	if (!agent_object_open(own, &o) || !o.gnu_hash)
		return;
	struct agent_gnu_table table = agent_gnu_table(o.gnu_hash);
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

static bool is_needed(const struct link_map *map, const struct link_map *until)
{
	struct agent_object o, needing;

	if (!agent_object_open(map, &o))
		return false;
	for (const struct link_map *at = first_object();; at = at->l_next) {
		if (agent_object_open(at, &needing) &&
		        agent_object_needs(at, &needing, agent_object_name(map, &o)))
			return true;
		if (at == until)
			return false;
	}
}

/* The last object of the program's start. Each object of the start is preloaded, or an
 * earlier one needs it, and the last one is needed. No object of the start needs a library
 * that dlopen() adds, or the library would be there already. */
static const struct link_map *last_of_start(void)
{
	const struct link_map *end = first_object();

	for (const struct link_map *map = end ? end->l_next : NULL; map; map = map->l_next)
		if (is_needed(map, end))
			end = map;
	return end;
}

static bool is_behind(const struct link_map *own, const struct link_map *map)
{
	while (map && map != own)
		map = map->l_next;
	return map;
}

/* One that is preloaded is before libc. */
static bool is_behind_libc(const struct link_map *own)
{
	struct agent_object o;

	for (const struct link_map *map = first_object(); map; map = map->l_next)
		if (agent_object_open(map, &o) && strcmp(o.soname, LIBC) == 0)
			return own && is_behind(own, map);
	return false;
}

static __attribute__((used)) void (*symbols_resolve(void))(void)
{
	const struct link_map *own = own_object();

	if (is_behind_libc(own))
		last = last_of_start();
	is_late = own && last && is_behind(own, last->l_next);
	for (const struct link_map *map = is_late ? NULL : own; map; map = map->l_next)
		last = map;
	if (own && own != first_object()) /* a test may link the agent into its executable */
		withdraw_what_is_new(own);
	return symbols_nothing;
}

/* Not static: clang exports a static one. */
HIDDEN void symbols_at_relocation(void) __attribute__((ifunc("symbols_resolve")));
static void (*const volatile at_relocation)(void) __attribute__((used)) = symbols_at_relocation;

/*
 * Finds prepared entries and sleds (entry_search.h), on the thread that starts or loads a
 * module, before any thread executes the module's code. It reads the code as it lies in
 * memory.
 */
#include "entry_search.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/symbols.h"
#include "writer/shared/search.h"
#include "writer/shared/sys.h"

#define SECTIONS     1024
#define NAMES_BYTES  (UINT64_C(64) << 10)
#define HEADER_BYTES 4096
#define PAGE         UINT64_C(4096)
#define SLOTS        64

/* ---- a module's file ---- */

static bool search_read(int fd, void *to, size_t bytes, uint64_t offset)
{
	return sys_call(SYS_pread64, fd, to, bytes, offset) == (long)bytes;
}

/* Parts of a file that are read. They are mapped only while modules are searched: memory of
 * this library's own would count towards every program's limit of data. */
static struct file_parts {
	uint8_t headers[HEADER_BYTES];
	ElfW(Shdr) sections[SECTIONS];
	char names[NAMES_BYTES];
} * file;

/* The file's header as it lies in the module's memory; NULL: it does not. */
static const ElfW(Ehdr) * search_header(const struct agent_module_tables *module)
{
	const ElfW(Phdr) *headers = module->headers;
	const ElfW(Ehdr) *header = NULL;

	for (unsigned i = 0; i < module->header_count; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0 &&
		        headers[i].p_filesz >= sizeof(*header))
			header = (const ElfW(Ehdr) *)(module->base + headers[i].p_vaddr);
	return header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 ? header : NULL;
}

/* Whether the file begins as the module in memory does: the same headers of file and
 * segments. They have the sizes and places of everything. A hash of it would prove no more
 * here, because an entry is only used if it leads to no operations. */
static bool search_is_file_of(int fd, const ElfW(Ehdr) * header)
{
	size_t bytes = header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr));

	return bytes <= sizeof(file->headers) && search_read(fd, file->headers, bytes, 0) &&
	       memcmp(file->headers, header, bytes) == 0;
}

/* An element of the list xray_instr_map, at any address. Both places are relative to the
 * word itself. */
struct sled_description {
	int64_t address, function;
	uint8_t kind, is_always, version, rest[13];
} __attribute__((packed));

#define SLED_VERSION 2

static const struct {
	const char *section;
	size_t bytes; /* of an element */
} lists_of_compilers[AGENT_LISTS] = {
        [AGENT_LIST_ENTRIES] = {"__patchable_function_entries", sizeof(uint64_t)},
        [AGENT_LIST_SLEDS] = {"xray_instr_map", sizeof(struct sled_description)},
};

/* The list in a section, as it lies in memory. */
static struct agent_entry_list search_list(
        const struct agent_module_tables *module, const ElfW(Shdr) * section, size_t element_bytes)
{
	uint64_t start = module->base + section->sh_addr, end = start + section->sh_size;

	if (!(section->sh_flags & SHF_ALLOC) ||
	        (element_bytes == sizeof(uint64_t) && start % sizeof(uint64_t)) ||
	        agent_module_readable_end(module, start) < end)
		return (struct agent_entry_list){0};
	return (struct agent_entry_list){(const void *)start, section->sh_size / element_bytes};
}

/* Finds the sections with lists, by the file. False: it has none. */
static bool search_sections(int fd, const ElfW(Ehdr) * header, const struct agent_module_tables *module,
        struct agent_entry_list lists[AGENT_LISTS])
{
	const ElfW(Shdr) *sections = file->sections;
	bool is_found = false;
	size_t bytes;

	if (!search_read(fd, file->sections, header->e_shnum * sizeof(*sections), header->e_shoff))
		return false;
	bytes = sections[header->e_shstrndx].sh_size;
	bytes = bytes < NAMES_BYTES ? bytes : NAMES_BYTES - 1;
	if (!search_read(fd, file->names, bytes, sections[header->e_shstrndx].sh_offset))
		return false;
	file->names[bytes] = 0;
	for (unsigned i = 0; i < header->e_shnum; i++)
		for (unsigned kind = 0; kind < AGENT_LISTS; kind++)
			if (sections[i].sh_name < bytes && strcmp(file->names + sections[i].sh_name,
			                                           lists_of_compilers[kind].section) == 0) {
				lists[kind] =
				        search_list(module, &sections[i], lists_of_compilers[kind].bytes);
				is_found = is_found || lists[kind].count;
			}
	return is_found;
}

/* ---- entries in code ---- */

/* The length of the instruction if it is one that does nothing, else 0. */
static unsigned entry_nop_bytes(const uint8_t *at)
{
	unsigned prefixes = 0, mode, base, bytes;

	while (prefixes < 8 && (at[prefixes] == 0x66 || at[prefixes] == 0x2e))
		prefixes++;
	at += prefixes;
	if (at[0] == 0x90)
		return prefixes + 1;
	if (at[0] != 0x0f || at[1] != 0x1f)
		return 0;
	mode = at[2] >> 6;
	base = at[2] & 7;
	bytes = prefixes + 3 + (mode != 3 && base == 4);
	return bytes + (mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0);
}

static bool entry_is_landing(const uint8_t *at)
{
	static const uint8_t landing[4] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */

	return memcmp(at, landing, sizeof(landing)) == 0;
}

static bool entry_is_nops(const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		unsigned bytes = entry_nop_bytes(at);

		if (!bytes)
			return false;
		at += bytes;
	}
	return at == end;
}

/* The sorted list of functions in the module's unwind table, as linkers write it. */
struct unwind_list {
	uint8_t encodings[4];
	int32_t frames;
	uint32_t count;
	struct {
		int32_t start, description; /* from the list's address */
	} functions[];
};

/* NULL: the module has none. */
static const struct unwind_list *search_unwind_list(const struct agent_module_tables *module)
{
	static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};
	const struct unwind_list *list = (const void *)(uintptr_t)module->unwind;

	return list && memcmp(list->encodings, usual, sizeof(usual)) == 0 ? list : NULL;
}

static uint64_t search_start(const struct unwind_list *list, uint32_t number)
{
	return (uint64_t)(uintptr_t)list + (uint64_t)(int64_t)list->functions[number].start;
}

/* The number of the first function that begins behind an address. */
static uint32_t search_behind(const struct unwind_list *list, uint64_t address)
{
	return partition_point(i, list->count, search_start(list, i) <= address);
}

/*
 * The function of an entry by the unwind table: the entry is at the function's address,
 * behind its landing instruction, or, with room before the function too (N,M), begins
 * there. 0: the table does not tell.
 */
static uint64_t entry_function_by_table(const struct agent_module_tables *module, uint64_t entry)
{
	const struct unwind_list *list = search_unwind_list(module);
	uint32_t behind = list ? search_behind(list, entry) : 0;

	for (uint32_t i = behind ? behind - 1 : 0; list && i <= behind && i < list->count; i++) {
		uint64_t start = search_start(list, i);
		bool is_behind = start > entry && start - entry < AGENT_ENTRY_BYTES_MAX;

		if (start == entry || (start + 4 == entry && entry_is_landing((const uint8_t *)start)) ||
		        (is_behind && entry_is_nops((const uint8_t *)entry, (const uint8_t *)start)))
			return start;
	}
	return 0;
}

/* Whether code of the module is there, and bytes around it can be read: a page is mapped as
 * a whole. */
static bool entry_is_code(const struct agent_module_tables *module, uint64_t entry)
{
	const ElfW(Phdr) *headers = module->headers;

	for (unsigned i = 0; i < module->header_count; i++) {
		uint64_t start = module->base + headers[i].p_vaddr, end = start + headers[i].p_memsz;

		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X &&
		        !(headers[i].p_flags & PF_W) && entry >= start + 4 &&
		        entry + 2 * AGENT_ENTRY_BYTES_MAX <= ((end + PAGE - 1) & ~(uint64_t)(PAGE - 1)))
			return true;
	}
	return false;
}

/* The end of a function, at the latest: the start of the next entry's function, of the next
 * one in the unwind table, or the segment's end. */
static uint64_t entry_end(
        const struct agent_module_tables *module, uint64_t function, const struct agent_entry *next)
{
	const struct unwind_list *list = search_unwind_list(module);
	uint32_t behind = list ? search_behind(list, function) : 0;
	uint64_t end = next ? next->function : agent_module_readable_end(module, function);

	return list && behind < list->count && search_start(list, behind) < end ? search_start(list, behind)
	                                                                        : end;
}

static bool entry_find(const struct agent_module_tables *module, uint64_t entry, struct agent_entry *found)
{
	const uint8_t *at = (const uint8_t *)entry;

	if (!entry_is_code(module, entry))
		return false;
	found->function = entry_function_by_table(module, entry);
	if (!found->function)
		found->function = entry_is_landing(at - 4) ? entry - 4 : entry;
	at = (const uint8_t *)found->function;
	if (entry_is_landing(at))
		at += 4;
	found->address = (uint64_t)(uintptr_t)at;
	found->kind = AGENT_ENTRY;
	for (found->bytes = 0; found->bytes < AGENT_ENTRY_BYTES;) {
		uint32_t bytes = entry_nop_bytes(at + found->bytes);

		if (!bytes)
			return false;
		found->bytes += bytes;
	}
	return true;
}

/* Every module of every process comes here, so the file is compared last. */
bool agent_entry_lists(const struct agent_module_tables *module, struct agent_entry_list lists[AGENT_LISTS])
{
	const ElfW(Ehdr) *header = search_header(module);
	const char *path = module->path[0] ? module->path : "/proc/self/exe";
	bool is_found;
	long fd;

	for (unsigned kind = 0; kind < AGENT_LISTS; kind++)
		lists[kind] = (struct agent_entry_list){0};
	if (!header || header->e_shentsize != sizeof(*file->sections) || header->e_shnum > SECTIONS ||
	        header->e_shstrndx >= header->e_shnum)
		return false;
	if (!file)
		file = sys_map(sizeof(*file), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	fd = file ? sys_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0) : -1;
	if (fd < 0)
		return false;
	is_found = search_sections((int)fd, header, module, lists) && search_is_file_of((int)fd, header);
	sys_close((int)fd);
	return is_found;
}

void agent_entry_lists_end(void)
{
	if (file)
		sys_unmap(file, sizeof(*file));
	file = NULL;
}

/* ---- functions that are left out ---- */

/* The compiler's hooks, and then functions of libc that look at their return address or
 * return twice. */
static const char *const slot_names[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "dlopen",
        "dlsym", "dlvsym", "dlmopen", "setjmp", "_setjmp", "__sigsetjmp", "vfork", "getcontext", NULL};
#define SLOT_NAMES_OF_HOOKS 2

/* The words in which the module keeps their addresses. */
static struct agent_symbol_slot slots[SLOTS];
static unsigned slot_count;
static uint32_t slots_module; /* its id */

static void search_slots(const struct agent_module_tables *module)
{
	const void *dynamic = agent_module_dynamic(module);

	if (slots_module == module->id)
		return;
	slots_module = module->id;
	slot_count = dynamic ? agent_symbol_slots(module->base, dynamic, slot_names, slots, SLOTS) : 0;
}

static uint64_t reference_relative(const uint8_t *from, const uint8_t *distance_at)
{
	int32_t distance;

	memcpy(&distance, distance_at, sizeof(distance));
	return (uint64_t)(uintptr_t)from + (uint64_t)(int64_t)distance;
}

/* Whether the word at that address is one of those slots: of the hooks, or, with `is_any`,
 * of any. */
static bool reference_is_to_slot(uint64_t address, bool is_any)
{
	for (unsigned i = 0; i < slot_count; i++)
		if (slots[i].address == address)
			return is_any || slots[i].name < SLOT_NAMES_OF_HOOKS;
	return false;
}

/* The same for the slot of a stub of the linker's. */
static bool reference_is_to_stub(const struct agent_module_tables *module, uint64_t address, bool is_any)
{
	const uint8_t *at = (const uint8_t *)address;

	if (!entry_is_code(module, address))
		return false;
	if (entry_is_landing(at))
		at += 4;
	if (*at == 0xf2) /* bnd */
		at++;
	return at[0] == 0xff && at[1] == 0x25 &&
	       reference_is_to_slot(reference_relative(at + 6, at + 2), is_any);
}

/* Looks at every byte, whether an instruction begins there or not: a function more is left
 * out at worst. Jumps to functions that see their caller matter for entries alone. */
static bool entry_is_left_out(
        const struct agent_module_tables *module, uint64_t function, uint64_t end, bool replaces_address)
{
	for (const uint8_t *at = (const uint8_t *)function; at + 6 <= (const uint8_t *)end; at++) {
		bool is_near = at[0] == 0xe8 || at[0] == 0xe9;
		bool is_condition = at[0] == 0x0f && (at[1] & 0xf0) == 0x80;

		if (is_near && reference_is_to_stub(module, reference_relative(at + 5, at + 1),
		                       replaces_address && at[0] == 0xe9))
			return true;
		if (is_condition &&
		        reference_is_to_stub(module, reference_relative(at + 6, at + 2), replaces_address))
			return true;
		if (at[0] == 0xff && (at[1] == 0x15 || at[1] == 0x25) &&
		        reference_is_to_slot(
		                reference_relative(at + 6, at + 2), replaces_address && at[1] == 0x25))
			return true;
	}
	return false;
}

static uint64_t entry_address(const struct agent_entry *entry)
{
	return entry->address;
}

static uint64_t entry_function(const struct agent_entry *entry)
{
	return entry->function;
}

/* Sorts by insertion: linkers nearly always leave them in order. Equal ones keep their
 * order. */
static void entries_sort_by(
        struct agent_entry *entries, size_t count, uint64_t (*key)(const struct agent_entry *entry))
{
	for (size_t i = 1; i < count; i++) {
		struct agent_entry entry = entries[i];
		size_t at = i;

		for (; at > 0 && key(&entries[at - 1]) > key(&entry); at--)
			entries[at] = entries[at - 1];
		entries[at] = entry;
	}
}

size_t agent_entry_search(const struct agent_module_tables *module, const struct agent_entry_list *list,
        struct agent_entry *entries, size_t *left_out)
{
	const uint64_t *addresses = list->start;
	size_t found = 0, kept = 0;

	*left_out = 0;
	for (size_t i = 0; i < list->count; i++)
		found += entry_find(module, addresses[i], &entries[found]);
	entries_sort_by(entries, found, entry_address);
	search_slots(module);
	if (!slot_count)
		return found;
	for (size_t i = 0; i < found; i++) {
		uint64_t end = entry_end(module, entries[i].function, i + 1 < found ? &entries[i + 1] : NULL);

		if (entry_is_left_out(module, entries[i].function, end, true))
			++*left_out;
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* ---- sleds ---- */

static bool sled_is_as_made(const uint8_t *at, enum agent_entry_kind kind)
{
	const uint8_t *end = at + AGENT_SLED_BYTES;

	return kind == AGENT_SLED_EXIT ? at[0] == 0xc3 && entry_is_nops(at + 1, end)
	                               : at[0] == 0xeb && at[1] == 9 && entry_is_nops(at + 2, end);
}

static bool sled_is_before_condition(const uint8_t *at)
{
	at += AGENT_SLED_BYTES;
	return (at[0] == 0x0f && (at[1] & 0xf0) == 0x80) || (at[0] & 0xf0) == 0x70;
}

enum sled_answer { SLED_USED, SLED_LEFT_OUT, SLED_OTHER };

static enum sled_answer sled_find(const struct agent_module_tables *module,
        const struct sled_description *description, struct agent_entry *found)
{
	/* By clang's numbers: the fourth is an entry with wanted arguments. */
	static const enum agent_entry_kind kinds[] = {
	        AGENT_SLED_ENTRY, AGENT_SLED_EXIT, AGENT_SLED_TAIL, AGENT_SLED_ENTRY};
	uint64_t here = (uint64_t)(uintptr_t)description, address = here + (uint64_t)description->address;
	const uint8_t *at = (const uint8_t *)address;

	if (description->version != SLED_VERSION)
		return SLED_OTHER;
	if (description->kind >= sizeof(kinds) / sizeof(*kinds))
		return SLED_LEFT_OUT;
	found->address = address;
	found->function =
	        here + offsetof(struct sled_description, function) + (uint64_t)description->function;
	found->bytes = AGENT_SLED_BYTES;
	found->kind = kinds[description->kind];
	if (address % 2 || !entry_is_code(module, address) || !entry_is_code(module, found->function) ||
	        !sled_is_as_made(at, found->kind))
		return SLED_OTHER;
	return found->kind == AGENT_SLED_TAIL && sled_is_before_condition(at) ? SLED_LEFT_OUT : SLED_USED;
}

/* Whether the sleds from `first` to `next`, all of one function, are to be left as they
 * are. */
static bool sleds_are_left_out(const struct agent_module_tables *module, const struct agent_entry *first,
        const struct agent_entry *next, const struct agent_entry *end)
{
	const struct agent_entry *sled = first;

	while (sled < next && sled->kind != AGENT_SLED_ENTRY)
		sled++;
	return sled == next ||
	       (slot_count && entry_is_left_out(module, first->function,
	                              entry_end(module, first->function, next < end ? next : NULL), false));
}

size_t agent_sled_search(const struct agent_module_tables *module, const struct agent_entry_list *list,
        struct agent_entry *sleds, size_t *left_out, bool *without_ends)
{
	const struct sled_description *descriptions = list->start;
	size_t found = 0, kept = 0;

	*left_out = 0;
	*without_ends = true;
	for (size_t i = 0; i < list->count; i++) {
		enum sled_answer answer = sled_find(module, &descriptions[i], &sleds[found]);

		found += answer == SLED_USED;
		*left_out += answer == SLED_LEFT_OUT;
		*without_ends = *without_ends && (descriptions[i].kind == 0 || descriptions[i].kind > 2);
	}
	*without_ends = *without_ends && found;
	entries_sort_by(sleds, found, entry_function);
	search_slots(module);
	for (size_t i = 0, next; i < found; i = next) {
		for (next = i; next < found && sleds[next].function == sleds[i].function;)
			next++;
		if (sleds_are_left_out(module, &sleds[i], &sleds[next], &sleds[found])) {
			*left_out += next - i;
			continue;
		}
		memmove(&sleds[kept], &sleds[i], (next - i) * sizeof(*sleds));
		kept += next - i;
	}
	return kept;
}

bool agent_entry_is_special(const struct agent_module_tables *module, uint64_t function)
{
	search_slots(module);
	return slot_count && entry_is_left_out(module, function, entry_end(module, function, NULL), true);
}

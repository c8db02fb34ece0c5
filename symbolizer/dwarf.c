/*
 * Finds a function's name and source position in DWARF: an index of the units' address
 * ranges, and for each unit used an index of its functions. Runs on its caller's thread. It
 * must never wait for a file: split files are checked before libdw opens them.
 */
#include "dwarf.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "elf.h"
#include "writer/shared/search.h"

/* Namespaces, functions and blocks nest; only a file made to exhaust the stack nests deeper
 * than this. */
#define NESTING_MAX 64

/* The addresses [low, high) of a compilation unit or a function. */
struct range {
	uint64_t low, high;
	Dwarf_Die die;
	struct unit *unit; /* set in a unit's range */
};

struct ranges {
	struct range *table; /* by low */
	size_t count;
	size_t room;
};

/* The indexed part of a unit. Functions stand at the top and in namespaces, where few
 * entries have to be read. But gcc leaves the functions of local classes, including
 * lambdas, inside their enclosing function. */
enum depth { NOT_INDEXED, TOP_INDEXED, ALL_INDEXED };

struct unit {
	Dwarf_Die skeleton; /* has the addresses and lines */
	Dwarf_Die die;      /* has the functions: the same, or the split file's (-gsplit-dwarf) */
	struct ranges functions;
	enum depth depth;
	struct unit *next;
};

struct fxt_dwarf {
	struct ranges unit_ranges;
	struct unit *units;
};

static int add_range(struct ranges *ranges, struct range range)
{
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? ranges->room * 2 : 64;
		struct range *table = reallocarray(ranges->table, room, sizeof(*table));

		if (!table)
			return ENOMEM;
		ranges->table = table;
		ranges->room = room;
	}
	ranges->table[ranges->count++] = range;
	return 0;
}

/* Adds each range of a unit's or function's DIE. */
static int add_ranges(struct ranges *ranges, Dwarf_Die *die, struct unit *unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (low < high && add_range(ranges, (struct range){low, high, *die, unit}) != 0)
			return ENOMEM;
	return 0;
}

static int by_low_then_entry(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->die.addr < y->die.addr ? -1 : x->die.addr > y->die.addr;
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->table, ranges->count, sizeof(*ranges->table), by_low_then_entry);
}

/* Returns the last range that begins at or before the address, if it holds the address.
 * Ranges of one kind do not overlap, except for functions that the linker discarded: their
 * addresses are near 0, where no code is. */
static struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	uint64_t at = partition_point(i, ranges->count, ranges->table[i].low <= address);

	return at > 0 && address < ranges->table[at - 1].high ? &ranges->table[at - 1] : NULL;
}

static int index_children(struct unit *unit, Dwarf_Die *parent, bool deep, int nesting)
{
	Dwarf_Die die;

	if (nesting > NESTING_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram && add_ranges(&unit->functions, &die, unit) != 0)
			return ENOMEM;
		if ((deep || tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		        index_children(unit, &die, deep, nesting + 1) != 0)
			return ENOMEM;
	} while (dwarf_siblingof(&die, &die) == 0);
	return 0;
}

static int index_functions(struct unit *unit, enum depth depth)
{
	if (unit->depth >= depth)
		return 0;
	unit->functions.count = 0;
	unit->depth = depth;
	if (index_children(unit, &unit->die, depth == ALL_INDEXED, 0) != 0)
		return ENOMEM;
	sort_ranges(&unit->functions);
	return 0;
}

/* Reads an attribute of this entry only: a wider search by libdw would open the unit's
 * split file. */
static const char *own_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

__attribute__((format(printf, 1, 2))) static bool is_openable(const char *format, ...)
{
	char path[PATH_MAX];
	va_list values;

	va_start(values, format);
	int length = vsnprintf(path, sizeof(path), format, values);

	va_end(values);
	return length >= (int)sizeof(path) || fxt_elf_is_openable(path);
}

/*
 * True if a unit's split file can be opened without waiting, wherever libdw looks for it:
 * at its name, in the compiler's working directory, both also below the directory of the
 * file itself, and in a package of split files beside it.
 */
static bool is_split_openable(Dwarf_Die *skeleton, const char *path)
{
	const char *name = own_string(skeleton, DW_AT_dwo_name);
	const char *ran_in = own_string(skeleton, DW_AT_comp_dir);
	const char *slash = path ? strrchr(path, '/') : NULL;
	int directory = slash ? (int)(slash - path) : 0;

	if (!name)
		name = own_string(skeleton, DW_AT_GNU_dwo_name);
	if (!name || !slash)
		return false;
	if (!is_openable("%s.dwp", path))
		return false;
	if (name[0] == '/')
		return is_openable("%s", name);
	return is_openable("%.*s/%s", directory, path, name) &&
	       (!ran_in || (is_openable("%s/%s", ran_in, name) &&
	                           is_openable("%.*s/%s/%s", directory, path, ran_in, name)));
}

static int index_units(struct fxt_dwarf *dwarf, Dwarf *debug, const char *path)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(debug, cu, &cu, NULL, &type, &die, NULL) == 0) {
		Dwarf_Die split = {0};

		if (type == DW_UT_skeleton && !is_split_openable(&die, path))
			continue;
		if (type == DW_UT_skeleton)
			dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
		struct unit *unit = calloc(1, sizeof(*unit));

		if (!unit)
			return ENOMEM;
		unit->next = dwarf->units;
		dwarf->units = unit;
		unit->skeleton = die;
		unit->die = type == DW_UT_skeleton && split.addr ? split : die;
		if (add_ranges(&dwarf->unit_ranges, &die, unit) != 0)
			return ENOMEM;
	}
	sort_ranges(&dwarf->unit_ranges);
	return 0;
}

struct fxt_dwarf *fxt_dwarf_open(Dwarf *debug, const char *path)
{
	struct fxt_dwarf *dwarf = calloc(1, sizeof(*dwarf));

	if (dwarf && index_units(dwarf, debug, path) != 0) {
		fxt_dwarf_close(dwarf);
		return NULL;
	}
	return dwarf;
}

static const char *string_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* dwarf_decl_file() takes file 0 for unknown, which was right before DWARF 5; since then
 * file 0 is the unit's main file. The number counts in the unit that holds the attribute,
 * not in the unit of the function's DIE. */
static void find_declaration(Dwarf_Die *function, struct fxt_source_position *source)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	Dwarf_Half version;
	int line;

	if (dwarf_decl_line(function, &line) != 0 || line <= 0 ||
	        dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute), &number) != 0 ||
	        !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	        (number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, NULL) != 0)
		return;
	source->file = dwarf_filesrc(files, number, NULL, NULL);
	source->directory = string_attribute(&unit, DW_AT_comp_dir);
	source->line = (uint32_t)line;
}

/* gcc gives no declaration position to functions that it generates, such as a lambda's. The
 * line of the first instruction serves as well. */
static void find_first_line(struct unit *unit, uint64_t address, struct fxt_source_position *source)
{
	Dwarf_Line *row = dwarf_getsrc_die(&unit->skeleton, address);
	int line;

	source->file = dwarf_linesrc(row, NULL, NULL);
	source->directory = string_attribute(&unit->skeleton, DW_AT_comp_dir);
	source->line = dwarf_lineno(row, &line) == 0 && line > 0 ? (uint32_t)line : 0;
}

int fxt_dwarf_find(struct fxt_dwarf *dwarf, uint64_t address, struct fxt_source_position *source)
{
	struct range *unit = find_range(&dwarf->unit_ranges, address);
	struct range *function = NULL;

	for (enum depth depth = TOP_INDEXED; unit && !function && depth <= ALL_INDEXED; depth++) {
		if (index_functions(unit->unit, depth) != 0)
			return ENOMEM;
		function = find_range(&unit->unit->functions, address);
	}
	*source = (struct fxt_source_position){0};
	if (!function)
		return 0;
	source->start = function->low;
	source->name = string_attribute(&function->die, DW_AT_linkage_name);
	if (!source->name)
		source->name = dwarf_diename(&function->die);
	find_declaration(&function->die, source);
	if (!source->file)
		find_first_line(unit->unit, function->low, source);
	return 0;
}

void fxt_dwarf_close(struct fxt_dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (struct unit *unit = dwarf->units, *next; unit; unit = next) {
		next = unit->next;
		free(unit->functions.table);
		free(unit);
	}
	free(dwarf->unit_ranges.table);
	free(dwarf);
}

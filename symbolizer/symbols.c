/*
 * Reads a module's symbol tables into one sorted table, and finds the symbol of an address.
 * Runs on its caller's thread. A lookup must never take long on a file made to be slow:
 * nesting and aliases are bounded.
 */
#include "symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "plt.h"
#include "writer/shared/search.h"

/* Compilers nest symbols two or three deep (an assembler label in a function). Deeper
 * nesting was made to make lookups slow. */
#define NESTING_MAX 16

/* The number of names at one address that are searched for an indirect function's. */
#define ALIASES_MAX 16

#define HIDDEN_VERSION 0x8000 /* not the default one */

#define TABLES_MAX 4 /* .symtab and .dynsym of two files */

/* Sums of these. A name for others to use comes before one of the implementation: libc has
 * _IO_puts and, weak, puts. */
enum { RANK_SIZED = 1, RANK_GLOBAL = 2, RANK_PLAIN = 4, RANK_NOT_LOCAL = 8, RANK_FUNCTION = 16 };

struct symbol_table {
	Elf *elf;
	Elf_Data *symbols;
	/* sections of symbols in files of more than 65,000 sections, or NULL */
	Elf_Data *extended_indices;
	Elf_Data *versions; /* NULL: none */
	size_t strings;     /* section of the names */
	int count;
};

/* True for a function, an assembler label in code, or a variable. */
static bool is_named(const struct symbol_table *table, const GElf_Sym *symbol, GElf_Word extended_index)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? extended_index : symbol->st_shndx;
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	GElf_Shdr header;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE && type != STT_OBJECT)
		return false;
	if (index == SHN_UNDEF || (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return false;
	if (!gelf_getshdr(elf_getscn(table->elf, index), &header))
		return false;
	return type == STT_OBJECT ? (header.sh_flags & SHF_WRITE) && !(header.sh_flags & SHF_TLS)
	                          : (header.sh_flags & SHF_EXECINSTR) != 0;
}

/* "$x" and "$d" mark the beginning of arm64 code and data; they name nothing. */
static bool is_mapping_symbol(const GElf_Sym *symbol, const char *name)
{
	return name[0] == '$' && GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;
}

/* True for a name that C reserves for the implementation, and for one that new programs are
 * not linked to: cfree@GLIBC_2.2.5 beside free@@GLIBC_2.2.5. Mangled names are not reserved
 * in this sense. */
static bool is_for_others(const struct symbol_table *table, int index, const char *name)
{
	const char *version = strchr(name, '@');
	GElf_Versym mark;

	if (name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')) && name[1] != 'Z')
		return false;
	return !(version && version[1] != '@') &&
	       !(table->versions && gelf_getversym(table->versions, index, &mark) && mark & HIDDEN_VERSION);
}

static uint8_t rank_of(const struct symbol_table *table, int index, const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	unsigned binding = GELF_ST_BIND(symbol->st_info);

	return (uint8_t)((symbol->st_size ? RANK_SIZED : 0) +
	                 (binding != STB_LOCAL && binding != STB_WEAK ? RANK_GLOBAL : 0) +
	                 (is_for_others(table, index, name) ? RANK_PLAIN : 0) +
	                 (binding != STB_LOCAL ? RANK_NOT_LOCAL : 0) +
	                 (type == STT_NOTYPE ? 0 : RANK_FUNCTION));
}

/* Reads the symbol with that index. Returns its name, or NULL if it names neither code nor
 * a variable. */
static const char *read_symbol(const struct symbol_table *table, int index, GElf_Sym *symbol)
{
	GElf_Word section = 0;

	if (!gelf_getsymshndx(table->symbols, table->extended_indices, index, symbol, &section) ||
	        !is_named(table, symbol, section))
		return NULL;
	const char *name = elf_strptr(table->elf, table->strings, symbol->st_name);

	return name && name[0] != '\0' && !is_mapping_symbol(symbol, name) ? name : NULL;
}

static void add_symbols(struct fxt_symbols *symbols, const struct symbol_table *table)
{
	for (int i = 0; i < table->count; i++) {
		GElf_Sym symbol;
		const char *name = read_symbol(table, i, &symbol);

		if (!name)
			continue;
		symbols->table[symbols->count++] = (struct fxt_symbol){
		        .address = symbol.st_value,
		        .size = symbol.st_size > UINT64_MAX - symbol.st_value ? 0 : symbol.st_size,
		        .name = name,
		        .rank = rank_of(table, i, &symbol, name),
		        .is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
		        .is_indirect = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
		};
	}
}

/* The versions of a symbol table's symbols; NULL: they have none. */
static Elf_Data *find_versions(Elf *elf, Elf_Scn *symbols)
{
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym &&
		        header.sh_link == elf_ndxscn(symbols))
			return elf_getdata(section, NULL);
	return NULL;
}

/* Describes the symbol tables of a file, at most `room` of them. */
static size_t find_tables(Elf *elf, struct symbol_table *tables, size_t room)
{
	size_t found = 0;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; found < room && (section = elf_nextscn(elf, section)) != NULL;) {
		if (!gelf_getshdr(section, &header) ||
		        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		struct symbol_table table = {.elf = elf,
		        .symbols = elf_getdata(section, NULL),
		        .versions = find_versions(elf, section),
		        .strings = header.sh_link};

		if (!table.symbols || !table.symbols->d_buf)
			continue;
		int extended = elf_scnshndx(section);

		if (extended > 0)
			table.extended_indices = elf_getdata(elf_getscn(elf, (size_t)extended), NULL);
		table.count = (int)(table.symbols->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT));
		tables[found++] = table;
	}
	return found;
}

/* Describes the symbol tables of the module and of its debug file. */
static size_t find_all_tables(const struct fxt_elf *files, struct symbol_table tables[TABLES_MAX])
{
	size_t found = find_tables(files->module.elf, tables, TABLES_MAX / 2);

	return found + find_tables(files->debug.elf, tables + found, TABLES_MAX / 2);
}

static uint64_t end_of(const struct fxt_symbol *symbol)
{
	return symbol->address + symbol->size;
}

/* Programs use the shorter one of two equal aliases: signal, not bsd_signal. */
static int by_address_then_rank(const void *a, const void *b)
{
	const struct fxt_symbol *x = a, *y = b;
	size_t x_bytes, y_bytes;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	x_bytes = strlen(x->name);
	y_bytes = strlen(y->name);
	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	return -strcmp(x->name, y->name);
}

static void link_enclosing(struct fxt_symbol *table, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t outer = i;

		if (i > 0) {
			outer = i - 1;
			while (end_of(&table[outer]) <= end_of(&table[i]) && table[outer].enclosing != outer)
				outer = table[outer].enclosing;
			if (end_of(&table[outer]) <= end_of(&table[i]))
				outer = i;
		}
		table[i].enclosing = outer;
	}
}

/* Returns the index of the first symbol behind that address; the symbols are sorted. */
static size_t index_behind(const struct fxt_symbols *symbols, uint64_t address)
{
	return partition_point(i, symbols->count, symbols->table[i].address <= address);
}

/* Returns the indirect function that has that resolver, by its best name; NULL if there is
 * none. */
static const struct fxt_symbol *find_indirect(const struct fxt_symbols *symbols, uint64_t resolver)
{
	size_t behind = index_behind(symbols, resolver);

	for (size_t i = 1; i <= ALIASES_MAX && i <= behind; i++) {
		const struct fxt_symbol *symbol = &symbols->table[behind - i];

		if (symbol->address != resolver)
			break;
		if (symbol->is_indirect)
			return symbol;
	}
	return NULL;
}

/* Names the PLT slots after the indirect functions they call. Hooks receive the slot's
 * exact address, so the new symbols have no size. */
static void add_slots(struct fxt_symbols *symbols, const struct fxt_plt *plt)
{
	struct fxt_symbol *next = symbols->table + symbols->count;

	for (size_t i = 0; i < plt->count; i++) {
		const struct fxt_symbol *function =
		        plt->slots[i].address ? find_indirect(symbols, plt->slots[i].resolver) : NULL;

		if (function)
			*next++ = (struct fxt_symbol){.address = plt->slots[i].address,
			        .name = function->name,
			        .is_local = function->is_local,
			        .rank = function->rank};
	}
	symbols->count = (size_t)(next - symbols->table);
}

int fxt_symbols_read(struct fxt_symbols *symbols, const struct fxt_elf *files)
{
	struct fxt_plt plt;
	struct symbol_table tables[TABLES_MAX];
	size_t found = find_all_tables(files, tables);
	size_t total = 0;

	for (size_t i = 0; i < found; i++)
		total += (size_t)tables[i].count;
	*symbols = (struct fxt_symbols){0};
	if (total == 0)
		return 0;
	if (fxt_plt_read(&plt, files->module.elf) != 0)
		return ENOMEM;
	symbols->table = malloc((total + plt.count) * sizeof(*symbols->table));
	if (!symbols->table) {
		fxt_plt_free(&plt);
		return ENOMEM;
	}
	for (size_t i = 0; i < found; i++)
		add_symbols(symbols, &tables[i]);
	qsort(symbols->table, symbols->count, sizeof(*symbols->table), by_address_then_rank);
	if (plt.count) {
		add_slots(symbols, &plt);
		qsort(symbols->table, symbols->count, sizeof(*symbols->table), by_address_then_rank);
	}
	fxt_plt_free(&plt);
	link_enclosing(symbols->table, symbols->count);
	return 0;
}

bool fxt_symbols_define(const struct fxt_elf *files, const char *name)
{
	struct symbol_table tables[TABLES_MAX];
	size_t found = find_all_tables(files, tables);

	for (size_t i = 0; i < found; i++)
		for (int k = 0; k < tables[i].count; k++) {
			GElf_Sym symbol;
			const char *defined = read_symbol(&tables[i], k, &symbol);

			if (defined && strcmp(defined, name) == 0)
				return true;
		}
	return false;
}

static bool symbol_contains(const struct fxt_symbol *symbol, uint64_t address)
{
	return symbol->address == address || (symbol->address < address && address < end_of(symbol));
}

const struct fxt_symbol *fxt_symbols_find(const struct fxt_symbols *symbols, uint64_t address)
{
	size_t behind = index_behind(symbols, address);

	if (behind == 0)
		return NULL;
	const struct fxt_symbol *symbol = &symbols->table[behind - 1];

	for (int depth = 0; depth < NESTING_MAX; depth++) {
		if (symbol_contains(symbol, address))
			return symbol;
		if (symbol->enclosing == symbol - symbols->table)
			break;
		symbol = &symbols->table[symbol->enclosing];
	}
	return NULL;
}

void fxt_symbols_free(struct fxt_symbols *symbols)
{
	free(symbols->table);
	*symbols = (struct fxt_symbols){0};
}

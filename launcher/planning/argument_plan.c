/*
 * Makes argument plans (argument_plan.h), on the manager's thread. Collects a list of
 * items. An item is a value and the address of its function. The sorted list becomes the
 * plan.
 */
#include "argument_plan.h"
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch.h"
#include "argument_paths.h"
#include "argument_places.h"
#include "prototypes.h"
#include "symbolizer/demangle.h"
#include "symbolizer/symbols.h"

#define PARAMETERS       64
#define ENUMERATORS      512 /* of a type */
#define RETURN_ADDRESS   8   /* bytes below the frame's address (CFA) */
#define DWARF_XMM0       17
#define VECTOR_REGISTERS 16

/* The source of an item, best first. */
enum source { BY_HAND, BY_PROTOTYPE, BY_DEBUG_INFORMATION };

struct item {
	uint64_t address;
	enum source by;
	uint32_t number; /* in the order of discovery */
	struct fxt_planned_value value;
};

struct making {
	struct fxt_argument_requests *requests;
	struct fxt_elf files;
	struct fxt_symbols symbols;
	struct item *items;
	size_t count, room;
	struct fxt_planned_enumerator *enumerators;
	size_t enumerators_count, enumerators_room;
	char *texts;
	size_t text_bytes, text_room;
	bool is_short; /* of memory */
	char readable[FXT_NAME_ROOM + 1];
};

/* ---- lists ---- */

/* Room for `more` elements behind `count`. */
static bool making_grow(struct making *m, void **list, size_t count, size_t *room, size_t more, size_t bytes)
{
	size_t wanted = *room;
	void *larger;

	while (wanted < count + more)
		wanted = wanted ? 2 * wanted : 256;
	if (wanted == *room)
		return true;
	larger = reallocarray(*list, wanted, bytes);
	if (!larger) {
		m->is_short = true;
		return false;
	}
	*list = larger;
	*room = wanted;
	return true;
}

static uint32_t making_text(struct making *m, const char *text)
{
	size_t bytes = strnlen(text, 127), at = m->text_bytes;

	if (!making_grow(m, (void **)&m->texts, at, &m->text_room, bytes + 1, 1))
		return 0;
	memcpy(m->texts + at, text, bytes);
	m->texts[at + bytes] = 0;
	m->text_bytes += bytes + 1;
	return (uint32_t)at;
}

static void making_add(
        struct making *m, uint64_t address, enum source by, struct fxt_planned_value value, const char *name)
{
	if (!making_grow(m, (void **)&m->items, m->count, &m->room, 1, sizeof(*m->items)))
		return;
	if (value.source == FXT_VALUE_NOWHERE)
		value = (struct fxt_planned_value){.is_result = value.is_result};
	value.name = making_text(m, name);
	m->items[m->count] = (struct item){address, by, (uint32_t)m->count, value};
	m->count++;
}

/* The enumerators of the value's type. */
static void making_enumerate(struct making *m, Dwarf_Die *type, struct fxt_planned_value *value)
{
	Dwarf_Die child;

	value->enumerator = (uint32_t)m->enumerators_count;
	if (value->type != FXT_VALUE_ENUM || value->source == FXT_VALUE_NOWHERE ||
	        dwarf_child(type, &child) != 0)
		return;
	do {
		struct fxt_planned_enumerator *list;
		const char *name = dwarf_diename(&child);
		Dwarf_Attribute attribute;
		Dwarf_Sword is;

		if (dwarf_tag(&child) != DW_TAG_enumerator || !name ||
		        !dwarf_attr(&child, DW_AT_const_value, &attribute) ||
		        dwarf_formsdata(&attribute, &is) != 0 || value->enumerators == ENUMERATORS ||
		        !making_grow(m, (void **)&m->enumerators, m->enumerators_count, &m->enumerators_room,
		                1, sizeof(*m->enumerators)))
			continue;
		list = m->enumerators;
		list[m->enumerators_count++] = (struct fxt_planned_enumerator){is, making_text(m, name)};
		value->enumerators++;
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* ---- functions by their symbols ---- */

/* The name as a user knows it, if it is another one; else NULL. */
static const char *making_readable(struct making *m, const char *symbol)
{
	if (!symbol || symbol[0] != '_')
		return NULL;
	m->readable[fxt_demangle(symbol, m->readable)] = 0;
	return m->readable;
}

static void making_add_prototype(struct making *m, const struct fxt_argument_request *r,
        const struct fxt_prototype *prototype, uint64_t address)
{
	static const uint8_t general[] = {5, 4, 1, 2, 8, 9};
	const char *at = prototype->arguments;
	uint8_t integers = 0, floats = 0;

	while (*at && r->wants_arguments) {
		size_t type_bytes = strcspn(at, " "), bytes = strcspn(at, ",");
		struct fxt_planned_value value = {0};
		char type[8], name[32];

		snprintf(type, sizeof(type), "%.*s", (int)type_bytes, at);
		snprintf(name, sizeof(name), "%.*s", (int)(bytes - type_bytes - 1), at + type_bytes + 1);
		at += bytes + (at[bytes] == ',');
		if (!fxt_argument_type_read(type, &value))
			continue;
		value.source = value.type == FXT_VALUE_FLOATING ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
		value.number = value.type == FXT_VALUE_FLOATING ? floats++ : general[integers++];
		if (!r->path || strcmp(r->path, name) == 0)
			making_add(m, address, BY_PROTOTYPE, value, name);
	}
	if (r->wants_result && prototype->result) {
		struct fxt_planned_value value = {.is_result = 1};

		fxt_argument_type_read(prototype->result, &value);
		value.source = value.type == FXT_VALUE_FLOATING ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
		making_add(m, address, BY_PROTOTYPE, value, "return");
	}
}

static void making_read_symbols(struct making *m, const char *path)
{
	bool is_c_library = fxt_is_c_library(path);

	for (size_t i = 0; i < m->symbols.count; i++) {
		const struct fxt_symbol *symbol = &m->symbols.table[i];
		const char *readable = making_readable(m, symbol->name);

		for (size_t n = 0; n < m->requests->count; n++) {
			struct fxt_argument_request *r = &m->requests->list[n];
			const struct fxt_prototype *prototype;

			if (!fxt_argument_request_matches(r, symbol->name, readable))
				continue;
			r->has_values |= r->count > 0;
			for (size_t v = 0; v < r->count; v++)
				making_add(m, symbol->address, BY_HAND, r->by_hand[v], r->names[v]);
			prototype = is_c_library && !r->count ? fxt_prototype_find(symbol->name) : NULL;
			if (prototype)
				making_add_prototype(m, r, prototype, symbol->address);
			r->has_values |= prototype != NULL;
		}
	}
}

/* ---- functions by their debug information ---- */

enum location {
	NOT_THERE, /* or not known at the entry */
	IN_REGISTER,
	BEHIND_REGISTER, /* at an address in a register */
	IN_FRAME,        /* in memory; at the entry perhaps not yet */
	ELSEWHERE,       /* in several registers, or a constant */
};

struct parameter {
	Dwarf_Die die;
	enum location location;
	unsigned number; /* DWARF's, of the register */
	int64_t offset;
	struct fxt_parameter_place predicted;
};

struct function {
	Dwarf_Die die;
	Dwarf_Addr entry;
	const struct fxt_symbol *symbol;
	bool frame_is_cfa; /* offsets count from the frame's address */
	struct parameter parameters[PARAMETERS];
	size_t count;
};

static void parameter_locate(const struct function *f, struct parameter *p)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operations[2];
	size_t counts[2];
	const Dwarf_Op *op;

	p->location = NOT_THERE;
	if (!dwarf_attr_integrate(&p->die, DW_AT_location, &attribute) ||
	        dwarf_getlocation_addr(&attribute, f->entry, operations, counts, 2) <= 0 || counts[0] == 0)
		return;
	op = operations[0];
	p->location = ELSEWHERE;
	if (op->atom == DW_OP_fbreg) {
		p->location = IN_FRAME;
		/* With a DW_OP_deref behind it, the frame has the parameter's address. */
		p->offset = counts[0] == 1 ? (int64_t)op->number : -1;
	} else if (counts[0] == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		p->location = IN_REGISTER;
		p->number = op->atom - DW_OP_reg0;
	} else if (counts[0] == 1 && op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		p->location = BEHIND_REGISTER;
		p->number = op->atom - DW_OP_breg0;
		p->offset = (int64_t)op->number;
	}
}

/* False: the agent cannot read that register at an entry. */
static bool place_in_register(struct fxt_parameter_place *place, unsigned number)
{
	bool is_vector = number >= DWARF_XMM0 && number < DWARF_XMM0 + VECTOR_REGISTERS;

	if (!is_vector && !(number < 3 || number == 4 || number == 5 || (number >= 8 && number <= 11)))
		return false;
	place->source = is_vector ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
	place->number = (uint8_t)(is_vector ? number - DWARF_XMM0 : number);
	return true;
}

/* Whether the ABI's rules hold for a function: others can call it, or the debug information
 * says nothing else of any parameter. */
static bool function_obeys(const struct function *f)
{
	if (!f->symbol || strchr(f->symbol->name, '.'))
		return false;
	if (!f->symbol->is_local)
		return true;
	for (size_t i = 0; i < f->count; i++) {
		const struct parameter *p = &f->parameters[i];
		struct fxt_parameter_place is;

		if (p->location == NOT_THERE || p->location == ELSEWHERE)
			return false;
		if (p->location == IN_REGISTER &&
		        (!place_in_register(&is, p->number) || is.source != p->predicted.source ||
		                is.number != p->predicted.number))
			return false;
	}
	return true;
}

static struct fxt_parameter_place function_place(
        const struct function *f, const struct parameter *p, bool obeys)
{
	struct fxt_parameter_place place = {.source = FXT_VALUE_NOWHERE};

	switch (p->location) {
	case IN_REGISTER:
		place_in_register(&place, p->number);
		return place;
	case BEHIND_REGISTER:
		place.is_address = true;
		if (p->number == 7) { /* rsp points at the return address */
			place.source = FXT_VALUE_STACK;
			place.offset = (int32_t)(p->offset - RETURN_ADDRESS);
		} else if (place_in_register(&place, p->number)) {
			place.inside = (int32_t)p->offset;
		}
		return place;
	case IN_FRAME:
		if (f->frame_is_cfa && p->offset >= 0) {
			place.source = FXT_VALUE_STACK;
			place.offset = (int32_t)p->offset;
			place.is_address = true;
			return place;
		}
		break;
	case NOT_THERE:
	case ELSEWHERE: /* it comes as the ABI says, if others can call the function */
		break;
	}
	return obeys ? p->predicted : place;
}

/* Finds the place that the ABI gives each parameter. */
static void function_predict(struct function *f)
{
	Dwarf_Die type;
	int tag = fxt_type_of(&f->die, &type);
	struct fxt_argument_registers registers = fxt_registers_begin(&type, tag);

	for (size_t i = 0; i < f->count; i++) {
		struct parameter *p = &f->parameters[i];
		struct fxt_planned_value value = {0};
		bool by_address;

		tag = fxt_type_of(&p->die, &type);
		fxt_registers_take(&registers, &type, tag, &value, &by_address);
		p->predicted = (struct fxt_parameter_place){.source = value.source,
		        .number = value.number,
		        .offset = value.offset,
		        .is_address = by_address || value.source == FXT_VALUE_STACK};
		if (by_address && value.source == FXT_VALUE_STACK) /* the address of an address */
			p->predicted.source = FXT_VALUE_NOWHERE;
	}
}

static void function_read_parameters(struct function *f)
{
	Dwarf_Die child;

	f->count = 0;
	if (dwarf_child(&f->die, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || f->count == PARAMETERS)
			continue;
		f->parameters[f->count].die = child;
		parameter_locate(f, &f->parameters[f->count]);
		f->count++;
	} while (dwarf_siblingof(&child, &child) == 0);
	function_predict(f);
}

static void making_add_parameters(
        struct making *m, const struct function *f, const struct fxt_argument_request *r)
{
	bool obeys = function_obeys(f);

	for (size_t i = 0; i < f->count; i++) {
		const struct parameter *p = &f->parameters[i];
		Dwarf_Die die = p->die, type;
		const char *name = dwarf_diename(&die);
		struct fxt_parameter_place place = function_place(f, p, obeys);
		struct fxt_planned_value value = {0};
		size_t bytes = r->path ? strcspn(r->path, ".-") : 0;

		if (!name)
			name = "?";
		if (r->path && (strlen(name) != bytes || memcmp(name, r->path, bytes) != 0))
			continue;
		if (!fxt_argument_value(&place, &die, r->path ? r->path + bytes : "", &value, &type))
			continue;
		making_enumerate(m, &type, &value);
		making_add(m, f->entry, BY_DEBUG_INFORMATION, value, r->path ? r->path : name);
	}
}

/* Whether clang may have compiled a function with optimization. Without it each parameter
 * has a place in the frame. */
static bool function_is_optimized_by_clang(struct function *f)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	const char *producer =
	        dwarf_diecu(&f->die, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &attribute)
	                ? dwarf_formstring(&attribute)
	                : NULL;

	if (producer && !strstr(producer, "clang"))
		return false;
	for (size_t i = 0; i < f->count; i++)
		if (f->parameters[i].location != IN_FRAME)
			return true;
	return f->count == 0;
}

/* Whether a function returns what its debug information says. Compilers remove results that no
 * caller uses: gcc in a clone, clang in any local function. */
static bool function_has_result(struct function *f)
{
	if (!f->symbol || strchr(f->symbol->name, '.'))
		return false;
	return !f->symbol->is_local || !function_is_optimized_by_clang(f);
}

static void making_add_result(struct making *m, struct function *f)
{
	struct fxt_planned_value value = {.is_result = 1};
	Dwarf_Die type;
	int tag = fxt_type_of(&f->die, &type);

	if (!tag)
		return;
	fxt_result_place(&type, tag, &value);
	if (!function_has_result(f) || !fxt_type_is_shown(&type, tag, &value))
		value.source = FXT_VALUE_NOWHERE;
	making_enumerate(m, &type, &value);
	making_add(m, f->entry, BY_DEBUG_INFORMATION, value, "return");
}

/* The address of the function's first instruction. False: it has no code. */
static bool function_find_entry(Dwarf_Die *die, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;

	if (dwarf_hasattr(die, DW_AT_declaration))
		return false;
	return dwarf_lowpc(die, entry) == 0 || dwarf_ranges(die, 0, &base, entry, &end) > 0;
}

static const char *function_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute)
	                                                                 : NULL;
}

static bool function_has_cfa_base(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operations;
	size_t count;

	return dwarf_attr(die, DW_AT_frame_base, &attribute) &&
	       dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 &&
	       operations->atom == DW_OP_call_frame_cfa;
}

static int making_read_function(Dwarf_Die *die, void *context)
{
	struct making *m = context;
	static struct function f; /* large; plans are made by one thread */
	const char *linkage, *name = dwarf_diename(die), *readable;
	bool is_read = false;

	if (!name || !function_find_entry(die, &f.entry))
		return DWARF_CB_OK;
	f.die = *die;
	f.symbol = fxt_symbols_find(&m->symbols, f.entry);
	if (f.symbol && f.symbol->address != f.entry)
		f.symbol = NULL;
	linkage = function_linkage_name(die);
	readable = making_readable(m, linkage);
	for (size_t i = 0; i < m->requests->count; i++) {
		struct fxt_argument_request *r = &m->requests->list[i];

		if (r->count || !fxt_argument_request_matches(r, linkage ? linkage : name, readable))
			continue;
		if (!is_read) {
			f.frame_is_cfa = function_has_cfa_base(die);
			function_read_parameters(&f);
			is_read = true;
		}
		r->has_values = true;
		if (r->wants_arguments)
			making_add_parameters(m, &f, r);
		if (r->wants_result)
			making_add_result(m, &f);
	}
	return m->is_short ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void making_read_debug_information(struct making *m, Dwarf *dwarf)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	while (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header, &unit))
			dwarf_getfuncs(&unit, making_read_function, m, 0);
		offset = next;
	}
}

/* ---- the plan ---- */

static int item_compare(const void *a, const void *b)
{
	const struct item *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->by != right->by)
		return left->by < right->by ? -1 : 1;
	/* Results come behind arguments. */
	if (left->value.is_result != right->value.is_result)
		return left->value.is_result ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* True if the function's earlier items make this one needless. Several patterns may ask for
 * one value. A prototype replaces the C library's debug information: not all systems have
 * that, and so names are the same everywhere. */
static bool item_is_known(
        const struct making *m, const struct item *first, size_t count, const struct item *item)
{
	if (count == FXT_PLANNED_VALUES)
		return true;
	for (size_t i = 0; i < count; i++)
		if ((item->by == BY_DEBUG_INFORMATION && first[i].by == BY_PROTOTYPE) ||
		        (first[i].value.is_result == item->value.is_result &&
		                strcmp(m->texts + first[i].value.name, m->texts + item->value.name) == 0))
			return true;
	return false;
}

/* Sorts the items, and drops needless ones. Returns the number of functions with items. */
static uint32_t making_sort(struct making *m)
{
	size_t kept = 0, first = 0;
	uint32_t calls = 0;

	if (m->count)
		qsort(m->items, m->count, sizeof(*m->items), item_compare);
	for (size_t i = 0; i < m->count; i++) {
		if (!kept || m->items[kept - 1].address != m->items[i].address) {
			first = kept;
			calls++;
		}
		if (!item_is_known(m, m->items + first, kept - first, &m->items[i]))
			m->items[kept++] = m->items[i];
	}
	m->count = kept;
	return calls;
}

static void *making_put(uint8_t **at, const void *data, size_t bytes)
{
	void *to = *at;

	if (bytes)
		memcpy(to, data, bytes);
	*at += bytes;
	return to;
}

static const char *making_finish(struct making *m, struct fxt_argument_plan **plan, size_t *bytes)
{
	struct fxt_argument_plan head = {.magic = FXT_ARGUMENT_PLAN_MAGIC};
	struct fxt_planned_call call = {0};
	uint8_t *at;

	making_text(m, "");
	head.calls = making_sort(m);
	head.values = (uint32_t)m->count;
	head.enumerators = (uint32_t)m->enumerators_count;
	head.text_bytes = (uint32_t)m->text_bytes;
	*bytes = sizeof(head) + head.calls * sizeof(call) + m->count * sizeof(m->items->value) +
	         m->enumerators_count * sizeof(*m->enumerators) + m->text_bytes;
	if (m->is_short || !(at = malloc(*bytes)))
		return "there is no memory for it";
	*plan = making_put(&at, &head, sizeof(head));
	for (size_t i = 0; i < m->count; i += call.values) {
		call = (struct fxt_planned_call){.address = m->items[i].address, .value = (uint32_t)i};
		while (i + call.values < m->count && m->items[i + call.values].address == call.address)
			call.values++;
		making_put(&at, &call, sizeof(call));
	}
	for (size_t i = 0; i < m->count; i++)
		making_put(&at, &m->items[i].value, sizeof(m->items[i].value));
	making_put(&at, m->enumerators, m->enumerators_count * sizeof(*m->enumerators));
	making_put(&at, m->texts, m->text_bytes);
	return NULL;
}

static void making_open(struct making *m, Elf *elf, const char *path)
{
	const void *note;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &note);
	char build_id[FXT_BUILD_ID_MAX_DIGITS + 1] = "";

	for (ssize_t i = 0; i < bytes && bytes <= FXT_BUILD_ID_MAX_DIGITS / 2; i++)
		snprintf(build_id + 2 * i, 3, "%02x", ((const unsigned char *)note)[i]);
	m->files.module =
	        (struct fxt_elf_file){.elf = elf, .dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL)};
	fxt_elf_open_debug(&m->files, path, build_id);
	if (fxt_symbols_read(&m->symbols, &m->files) != 0)
		m->is_short = true;
	making_read_symbols(m, path);
	if (fxt_elf_sources(&m->files, build_id)->dwarf)
		making_read_debug_information(m, fxt_elf_sources(&m->files, build_id)->dwarf);
}

const char *fxt_argument_plan_make(Elf *elf, const char *path, struct fxt_argument_requests *requests,
        struct fxt_argument_plan **plan, size_t *bytes)
{
	struct making *m = calloc(1, sizeof(*m));
	const char *why;
	GElf_Ehdr header;

	*plan = NULL;
	if (!gelf_getehdr(elf, &header) || header.e_machine != ARCH_PLANNED_MACHINE)
		why = "it is for another processor";
	else
		why = m ? NULL : "there is no memory for it";
	if (why) {
		elf_end(elf);
		free(m);
		return why;
	}
	m->requests = requests;
	making_open(m, elf, path);
	why = making_finish(m, plan, bytes);
	fxt_symbols_free(&m->symbols);
	fxt_elf_close(&m->files);
	free(m->items);
	free(m->enumerators);
	free(m->texts);
	free(m);
	return why;
}

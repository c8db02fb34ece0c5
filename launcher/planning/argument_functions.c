/* Reads parameters and results (argument_functions.h), on the manager's thread. */
#include "argument_functions.h"
#include <dwarf.h>
#include <stdint.h>
#include <string.h>
#include "argument_paths.h"
#include "argument_places.h"
#include "symbolizer/demangle.h"

#define PARAMETERS       64
#define RETURN_ADDRESS   8 /* bytes below the frame's address (CFA) */
#define DWARF_XMM0       17
#define VECTOR_REGISTERS 16

struct reading {
	struct fxt_argument_list *list;
	struct fxt_argument_requests *requests;
	const struct fxt_symbols *symbols;
};

const char *fxt_argument_readable(const char *symbol)
{
	static char readable[FXT_NAME_ROOM + 1];

	if (!symbol || symbol[0] != '_')
		return NULL;
	readable[fxt_demangle(symbol, readable)] = 0;
	return readable;
}

/* ---- places ---- */

enum location {
	NOT_THERE, /* or not known at the entry */
	IN_REGISTERS,
	CONSTANT,
	BEHIND_REGISTER, /* at an address in a register */
	IN_FRAME,        /* in memory; at the entry perhaps not yet */
	ELSEWHERE,
};

struct parameter {
	Dwarf_Die die;
	enum location location;
	int64_t offset;
	struct fxt_argument_place place; /* as the debug information says */
	struct fxt_argument_place predicted;
};

struct function {
	Dwarf_Die die;
	Dwarf_Addr entry;
	const struct fxt_symbol *symbol;
	bool frame_is_cfa; /* offsets count from the frame's address */
	struct parameter parameters[PARAMETERS];
	size_t count;
};

/* Sets a word of the place to a register of DWARF's, if the agent can read that at an
 * entry. */
static void place_set_register(struct fxt_argument_place *place, size_t word, unsigned number)
{
	bool is_vector = number >= DWARF_XMM0 && number < DWARF_XMM0 + VECTOR_REGISTERS;

	if (!is_vector && !(number < 3 || number == 4 || number == 5 || (number >= 8 && number <= 11)))
		return;
	place->words[word].source = is_vector ? FXT_VALUE_VECTOR : FXT_VALUE_GENERAL;
	place->words[word].number = (uint8_t)(is_vector ? number - DWARF_XMM0 : number);
}

/* A register, or two with eight bytes in the first one. */
static bool place_is_in_registers(struct fxt_argument_place *place, const Dwarf_Op *ops, size_t count)
{
	if (count != 1 && !(count == 4 && ops[1].atom == DW_OP_piece && ops[1].number == 8 &&
	                          ops[3].atom == DW_OP_piece))
		return false;
	for (size_t i = 0; i < count; i += 2) {
		if (ops[i].atom < DW_OP_reg0 || ops[i].atom > DW_OP_reg31)
			return false;
		place_set_register(place, i / 2, ops[i].atom - DW_OP_reg0);
	}
	return true;
}

static enum location parameter_locate_constant(struct parameter *p, int64_t number)
{
	p->place.words[0].source = FXT_VALUE_CONSTANT;
	p->place.offset = (int32_t)number;
	return p->place.offset == number ? CONSTANT : ELSEWHERE;
}

static enum location parameter_locate(const struct function *f, struct parameter *p)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *operations[2];
	Dwarf_Sword number;
	size_t counts[2];
	const Dwarf_Op *op;

	if (dwarf_attr_integrate(&p->die, DW_AT_const_value, &attribute) &&
	        dwarf_formsdata(&attribute, &number) == 0)
		return parameter_locate_constant(p, number);
	if (!dwarf_attr_integrate(&p->die, DW_AT_location, &attribute) ||
	        dwarf_getlocation_addr(&attribute, f->entry, operations, counts, 2) <= 0 || counts[0] == 0)
		return NOT_THERE;
	op = operations[0];
	if (op->atom == DW_OP_fbreg) {
		/* With a DW_OP_deref behind it, the frame has the parameter's address. */
		p->offset = counts[0] == 1 ? (int64_t)op->number : -1;
		return IN_FRAME;
	}
	if (counts[0] == 1 && op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		place_set_register(&p->place, 0, op->atom - DW_OP_breg0);
		p->place.inside = (int32_t)op->number;
		p->place.is_address = true;
		if (op->atom == DW_OP_breg7) /* rsp points at the return address */
			p->place = (struct fxt_argument_place){.words = {{FXT_VALUE_STACK, 0}},
			        .offset = (int32_t)((int64_t)op->number - RETURN_ADDRESS),
			        .is_address = true};
		return BEHIND_REGISTER;
	}
	if (counts[0] == 2 && op[1].atom == DW_OP_stack_value && op->atom >= DW_OP_lit0 &&
	        op->atom <= DW_OP_lit31)
		return parameter_locate_constant(p, op->atom - DW_OP_lit0);
	return place_is_in_registers(&p->place, op, counts[0]) ? IN_REGISTERS : ELSEWHERE;
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

		if (p->location == NOT_THERE || p->location == CONSTANT || p->location == ELSEWHERE)
			return false;
		if (p->location == IN_REGISTERS &&
		        memcmp(p->place.words, p->predicted.words, sizeof(p->place.words)) != 0)
			return false;
	}
	return true;
}

static struct fxt_argument_place function_place(
        const struct function *f, const struct parameter *p, bool obeys)
{
	if (p->location == IN_REGISTERS || p->location == CONSTANT || p->location == BEHIND_REGISTER)
		return p->place;
	if (p->location == IN_FRAME && f->frame_is_cfa && p->offset >= 0)
		return (struct fxt_argument_place){
		        .words = {{FXT_VALUE_STACK, 0}}, .offset = (int32_t)p->offset, .is_address = true};
	/* It comes as the ABI says, if others can call the function. */
	return obeys ? p->predicted : (struct fxt_argument_place){0};
}

/* Finds the place that the ABI gives each parameter. */
static void function_predict(struct function *f)
{
	Dwarf_Die type;
	int tag = fxt_type_of(&f->die, &type);
	struct fxt_argument_registers registers = fxt_registers_begin(&type, tag);

	for (size_t i = 0; i < f->count; i++) {
		tag = fxt_type_of(&f->parameters[i].die, &type);
		f->parameters[i].predicted = fxt_registers_take(&registers, &type, tag);
	}
}

/* Reads the parameters below a function, or below its pack of parameters as gcc has it. */
static void function_read_parameters(struct function *f, Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_GNU_formal_parameter_pack && die == &f->die)
			function_read_parameters(f, &child);
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || f->count == PARAMETERS)
			continue;
		f->parameters[f->count] = (struct parameter){.die = child};
		f->parameters[f->count].location = parameter_locate(f, &f->parameters[f->count]);
		f->count++;
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* Adds the enumerators of the value's type. */
static void reading_enumerate(struct reading *r, Dwarf_Die *type, struct fxt_planned_value *value)
{
	Dwarf_Die child;

	if (value->type != FXT_VALUE_ENUM || value->source == FXT_VALUE_NOWHERE ||
	        dwarf_child(type, &child) != 0)
		return;
	do {
		const char *name = dwarf_diename(&child);
		Dwarf_Attribute attribute;
		Dwarf_Sword is;

		if (dwarf_tag(&child) == DW_TAG_enumerator && name &&
		        dwarf_attr(&child, DW_AT_const_value, &attribute) &&
		        dwarf_formsdata(&attribute, &is) == 0)
			fxt_argument_list_enumerate(r->list, value, name, is);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void reading_add_parameters(
        struct reading *r, const struct function *f, const struct fxt_argument_request *request)
{
	bool obeys = function_obeys(f);

	for (size_t i = 0; i < f->count; i++) {
		const struct parameter *p = &f->parameters[i];
		Dwarf_Die die = p->die, type;
		const char *name = dwarf_diename(&die);
		struct fxt_argument_place place = function_place(f, p, obeys);
		struct fxt_planned_value value = {0};
		size_t bytes = request->path ? strcspn(request->path, ".-") : 0;

		if (!name)
			name = "?";
		if (request->path && (strlen(name) != bytes || memcmp(name, request->path, bytes) != 0))
			continue;
		if (!fxt_argument_value(
		            &place, &die, request->path ? request->path + bytes : "", &value, &type))
			continue;
		reading_enumerate(r, &type, &value);
		fxt_argument_list_add(r->list, f->entry, FXT_ARGUMENT_BY_DEBUG_INFORMATION, value,
		        request->path ? request->path : name);
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

/* Whether a function's result is as its debug information says. Compilers remove results
 * that no caller uses: gcc in a clone, clang in any local function. */
static bool function_has_result(struct function *f)
{
	if (!f->symbol || strchr(f->symbol->name, '.'))
		return false;
	return !f->symbol->is_local || !function_is_optimized_by_clang(f);
}

static void reading_add_result(struct reading *r, struct function *f)
{
	struct fxt_planned_value value = {.is_result = 1};
	Dwarf_Die type;
	int tag = fxt_type_of(&f->die, &type);

	if (!tag)
		return;
	fxt_result_place(&type, tag, &value);
	if (!function_has_result(f) || !fxt_type_is_shown(&type, tag, &value))
		value.source = FXT_VALUE_NOWHERE;
	reading_enumerate(r, &type, &value);
	fxt_argument_list_add(r->list, f->entry, FXT_ARGUMENT_BY_DEBUG_INFORMATION, value, "return");
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

static int reading_read_function(Dwarf_Die *die, void *context)
{
	struct reading *r = context;
	static struct function f; /* large; plans are made by one thread */
	const char *linkage, *name = dwarf_diename(die), *readable;
	bool is_read = false;

	if (!name || !function_find_entry(die, &f.entry))
		return DWARF_CB_OK;
	f.die = *die;
	f.symbol = fxt_symbols_find(r->symbols, f.entry);
	if (f.symbol && f.symbol->address != f.entry)
		f.symbol = NULL;
	linkage = function_linkage_name(die);
	readable = fxt_argument_readable(linkage);
	for (size_t i = 0; i < r->requests->count; i++) {
		struct fxt_argument_request *request = &r->requests->list[i];

		if (request->count ||
		        !fxt_argument_request_matches(request, linkage ? linkage : name, readable))
			continue;
		if (!is_read) {
			f.frame_is_cfa = function_has_cfa_base(die);
			f.count = 0;
			function_read_parameters(&f, &f.die);
			function_predict(&f);
			is_read = true;
		}
		request->has_values = true;
		if (request->wants_arguments)
			reading_add_parameters(r, &f, request);
		if (request->wants_result)
			reading_add_result(r, &f);
	}
	return r->list->is_short ? DWARF_CB_ABORT : DWARF_CB_OK;
}

void fxt_argument_functions_read(struct fxt_argument_list *list, struct fxt_argument_requests *requests,
        const struct fxt_symbols *symbols, Dwarf *dwarf)
{
	struct reading reading = {list, requests, symbols};
	Dwarf_Off offset = 0, next;
	size_t header;

	while (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header, &unit))
			dwarf_getfuncs(&unit, reading_read_function, &reading, 0);
		offset = next;
	}
}

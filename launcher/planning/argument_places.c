/* Classifies types (argument_places.h), on the manager's thread. The debug information
 * comes from a file that anybody may have written, so each walk is bounded. */
#include "argument_places.h"
#include <dwarf.h>
#include <string.h>
#include "arch.h"

#define NAMES_DEEP   32 /* names of names of a type */
#define STRUCTS_DEEP 8  /* structures in structures, of at most 16 bytes */

#define VECTOR 8

/* ---- types ---- */

int fxt_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die at = *die;

	for (unsigned deep = 0; deep < NAMES_DEEP; deep++) {
		Dwarf_Attribute attribute;
		int tag;

		if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) ||
		        !dwarf_formref_die(&attribute, type))
			return 0;
		tag = dwarf_tag(type);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
			return tag == DW_TAG_unspecified_type ? DW_TAG_pointer_type : tag;
		at = *type;
	}
	return 0;
}

static bool type_attribute(Dwarf_Die *type, unsigned name, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(type, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

static bool type_is_address(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

bool fxt_type_is_record(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

uint64_t fxt_type_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes;
	int tag = dwarf_tag(type);

	if (type_is_address(tag))
		return 8;
	/* The size of an array follows from its elements. */
	if (tag == DW_TAG_array_type)
		return dwarf_aggregate_size(type, &bytes) == 0 ? bytes : 0;
	return type_attribute(type, DW_AT_byte_size, &bytes) ? bytes : 0;
}

static bool type_is_named(Dwarf_Die *type, const char *beginning)
{
	const char *name = dwarf_diename(type);

	return name && strncmp(name, beginning, strlen(beginning)) == 0;
}

/* libstdc++'s; libc++'s has 24 bytes, and another layout. */
static bool type_is_string(Dwarf_Die *type, int tag)
{
	return fxt_type_is_record(tag) && fxt_type_bytes(type) == 32 &&
	       type_is_named(type, "basic_string<char,");
}

static bool type_show_base(Dwarf_Die *type, uint64_t bytes, struct fxt_planned_value *value)
{
	Dwarf_Word encoding = 0;

	type_attribute(type, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		value->type = FXT_VALUE_BOOL;
		return bytes == 1;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		value->type = FXT_VALUE_SIGNED;
		return true;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		value->type = FXT_VALUE_UNSIGNED;
		return true;
	case DW_ATE_float:
		value->type = FXT_VALUE_FLOATING;
		return bytes == 4 || bytes == 8;
	default:
		return false;
	}
}

bool fxt_type_is_shown(Dwarf_Die *type, int tag, struct fxt_planned_value *value)
{
	uint64_t bytes = tag ? fxt_type_bytes(type) : 0;
	Dwarf_Die target;
	int of;

	value->bytes = (uint8_t)bytes;
	if (type_is_string(type, tag)) {
		value->type = FXT_VALUE_STRING;
		value->bytes = 8;
		return true;
	}
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	if (tag == DW_TAG_base_type)
		return type_show_base(type, bytes, value);
	if (tag == DW_TAG_enumeration_type) {
		value->type = FXT_VALUE_ENUM;
		return true;
	}
	value->type = FXT_VALUE_POINTER;
	if (!type_is_address(tag))
		return false;
	of = fxt_type_of(type, &target);
	if (of == DW_TAG_base_type && tag == DW_TAG_pointer_type && type_is_named(&target, "char") &&
	        fxt_type_bytes(&target) == 1)
		value->type = FXT_VALUE_TEXT;
	else if (of && type_is_string(&target, of))
		value->type = FXT_VALUE_STRING;
	return true;
}

/* ---- classes of the ABI ---- */

enum abi_class { CLASS_NONE, CLASS_VECTOR, CLASS_GENERAL, CLASS_MEMORY, CLASS_UNKNOWN };

/* The class of a type that is no record and no array, of up to eight bytes. */
static enum abi_class class_of_scalar(Dwarf_Die *type, int tag, uint64_t bytes)
{
	Dwarf_Word encoding = 0;

	if (type_is_address(tag) || tag == DW_TAG_enumeration_type)
		return CLASS_GENERAL;
	if (tag == DW_TAG_ptr_to_member_type && bytes == 8)
		return CLASS_GENERAL;
	if (tag != DW_TAG_base_type || !type_attribute(type, DW_AT_encoding, &encoding) || !bytes ||
	        bytes > 8)
		return CLASS_UNKNOWN;
	if (encoding == DW_ATE_float)
		return CLASS_VECTOR;
	return encoding == DW_ATE_boolean || encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ||
	                       encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
	                       encoding == DW_ATE_UTF
	               ? CLASS_GENERAL
	               : CLASS_UNKNOWN;
}

static void class_merge(enum abi_class *into, enum abi_class more)
{
	if (more > *into)
		*into = more;
}

/* Merges the classes of a type at `offset` of a record into those of its two words. */
static void class_of_part(Dwarf_Die *type, int tag, uint64_t offset, enum abi_class words[2], unsigned deep);

static void class_of_members(Dwarf_Die *type, uint64_t offset, enum abi_class words[2], unsigned deep)
{
	Dwarf_Die child;

	if (dwarf_child(type, &child) != 0)
		return;
	do {
		Dwarf_Word at = 0, bits;
		Dwarf_Die part;
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration))
			continue; /* a static member */
		if (type_attribute(&child, DW_AT_data_bit_offset, &bits))
			at = bits / 8;
		else if (dwarf_hasattr(&child, DW_AT_data_member_location) &&
		         !type_attribute(&child, DW_AT_data_member_location, &at))
			words[0] = CLASS_UNKNOWN;
		tag = fxt_type_of(&child, &part);
		if (dwarf_hasattr(&child, DW_AT_bit_size)) {
			if (offset + at < 16)
				class_merge(&words[(offset + at) / 8], CLASS_GENERAL);
			continue;
		}
		if (tag)
			class_of_part(&part, tag, offset + at, words, deep + 1);
		else
			words[0] = CLASS_UNKNOWN;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void class_of_part(Dwarf_Die *type, int tag, uint64_t offset, enum abi_class words[2], unsigned deep)
{
	uint64_t bytes = fxt_type_bytes(type);
	Dwarf_Die element;
	int of;

	if (deep > STRUCTS_DEEP || offset + bytes > 16) {
		words[0] = CLASS_UNKNOWN;
	} else if (fxt_type_is_record(tag)) {
		class_of_members(type, offset, words, deep);
	} else if (tag == DW_TAG_array_type) {
		of = fxt_type_of(type, &element);
		uint64_t step = of ? fxt_type_bytes(&element) : 0;

		if (!step || dwarf_hasattr_integrate(type, DW_AT_GNU_vector))
			words[0] = CLASS_UNKNOWN;
		for (uint64_t at = 0; step && at < bytes; at += step)
			class_of_part(&element, of, offset + at, words, deep + 1);
	} else if (bytes && offset % bytes) {
		words[0] = CLASS_UNKNOWN; /* packed */
	} else {
		enum abi_class class = class_of_scalar(type, tag, bytes);

		class_merge(&words[class == CLASS_UNKNOWN ? 0 : offset / 8], class);
	}
}

/* Finds out whether objects of the type are passed by address, as C++ does with objects
 * that are more than their bytes. CLASS_UNKNOWN: an old compiler does not say. */
static enum abi_class class_by_address(Dwarf_Die *type, bool *by_address)
{
	Dwarf_Word convention = 0;
	Dwarf_Die unit;
	int language;

	*by_address = type_is_string(type, dwarf_tag(type));
	if (*by_address)
		return CLASS_NONE;
	if (type_attribute(type, DW_AT_calling_convention, &convention)) {
		*by_address = convention == DW_CC_pass_by_reference;
		return CLASS_NONE;
	}
	language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;
	return language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11 ||
	                       language == DW_LANG_C || dwarf_tag(type) == DW_TAG_union_type
	               ? CLASS_NONE
	               : CLASS_UNKNOWN;
}

/* The classes of a type's one or two words; words[1] is CLASS_NONE for one. */
static void class_of(Dwarf_Die *type, int tag, enum abi_class words[2], bool *by_address)
{
	uint64_t bytes = fxt_type_bytes(type);

	words[0] = words[1] = CLASS_NONE;
	*by_address = false;
	if (!tag) {
		words[0] = CLASS_UNKNOWN;
	} else if (fxt_type_is_record(tag)) {
		words[0] = class_by_address(type, by_address);
		if (*by_address)
			words[0] = CLASS_GENERAL;
		else if (bytes > 16)
			words[0] = words[0] == CLASS_NONE ? CLASS_MEMORY : words[0];
		else if (bytes && words[0] == CLASS_NONE)
			class_of_members(type, 0, words, 0);
		if (words[0] == CLASS_NONE) /* empty */
			words[0] = CLASS_UNKNOWN;
	} else if (tag == DW_TAG_base_type && bytes == 16 && type_is_named(type, "long double")) {
		words[0] = CLASS_MEMORY;
	} else {
		words[0] = class_of_scalar(type, tag, bytes);
	}
	if (words[1] == CLASS_UNKNOWN)
		words[0] = CLASS_UNKNOWN;
}

/* True if a record may need alignment to 16 bytes on the stack, because it contains a long
 * double or the like. */
static bool class_is_wide(Dwarf_Die *type, int tag, unsigned deep)
{
	Dwarf_Die child, part;

	if (deep > STRUCTS_DEEP)
		return true;
	if (tag == DW_TAG_array_type)
		return dwarf_hasattr_integrate(type, DW_AT_GNU_vector) ||
		       class_is_wide(&part, fxt_type_of(type, &part), deep + 1);
	if (!fxt_type_is_record(tag))
		return !tag || fxt_type_bytes(type) > 8;
	if (dwarf_hasattr(type, DW_AT_alignment))
		return true;
	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		if ((dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance) &&
		        !dwarf_hasattr(&child, DW_AT_external) &&
		        (dwarf_hasattr(&child, DW_AT_alignment) ||
		                class_is_wide(&part, fxt_type_of(&child, &part), deep + 1)))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

struct fxt_argument_registers fxt_registers_begin(Dwarf_Die *result, int tag)
{
	struct fxt_argument_registers registers = {.is_certain = true};
	enum abi_class words[2];
	bool by_address;

	if (!tag)
		return registers;
	class_of(result, tag, words, &by_address);
	registers.is_certain = words[0] != CLASS_UNKNOWN;
	/* The caller passes where the result is to be stored. */
	registers.general = by_address || (words[0] == CLASS_MEMORY && fxt_type_is_record(tag));
	return registers;
}

/* The place on the stack of an argument of that many bytes. */
static struct fxt_argument_place registers_take_stack(
        struct fxt_argument_registers *registers, Dwarf_Die *type, int tag, uint64_t bytes)
{
	struct fxt_argument_place place = {.is_address = true};

	if (tag == DW_TAG_base_type && bytes == 16)
		registers->stack = (registers->stack + 15) & ~UINT64_C(15);
	else if (fxt_type_is_record(tag) && class_is_wide(type, tag, 0))
		registers->is_certain = false;
	if (registers->is_certain)
		place.words[0].source = FXT_VALUE_STACK;
	place.offset = (int32_t)registers->stack;
	registers->stack += (bytes + 7) & ~UINT64_C(7);
	if (registers->stack > 1 << 20)
		registers->is_certain = false;
	return place;
}

struct fxt_argument_place fxt_registers_take(
        struct fxt_argument_registers *registers, Dwarf_Die *type, int tag)
{
	struct fxt_argument_place place = {0};
	enum abi_class words[2];
	unsigned general = 0, vector = 0;

	class_of(type, tag, words, &place.is_address);
	if (words[0] == CLASS_UNKNOWN)
		registers->is_certain = false;
	if (!registers->is_certain)
		return place;
	for (unsigned i = 0; i < 2; i++) {
		general += words[i] == CLASS_GENERAL;
		vector += words[i] == CLASS_VECTOR;
	}
	if (words[0] == CLASS_MEMORY || registers->general + general > ARCH_ARGUMENT_REGISTERS ||
	        registers->vector + vector > VECTOR) {
		if (!place.is_address)
			return registers_take_stack(registers, type, tag, fxt_type_bytes(type));
		registers->stack += 8; /* the address of an address is of no use */
		return place;
	}
	for (unsigned i = 0; i < 2; i++) {
		if (words[i] == CLASS_GENERAL) {
			place.words[i].source = FXT_VALUE_GENERAL;
			place.words[i].number = arch_argument_register(registers->general++);
		} else if (words[i] == CLASS_VECTOR) {
			place.words[i].source = FXT_VALUE_VECTOR;
			place.words[i].number = (uint8_t)registers->vector++;
		}
	}
	return place;
}

void fxt_result_place(Dwarf_Die *type, int tag, struct fxt_planned_value *value)
{
	enum abi_class words[2];
	bool by_address;

	class_of(type, tag, words, &by_address);
	value->number = 0; /* rax, xmm0 */
	value->source = words[1] != CLASS_NONE     ? FXT_VALUE_NOWHERE
	                : words[0] == CLASS_VECTOR ? FXT_VALUE_VECTOR
	                : words[0] == CLASS_GENERAL || (by_address && fxt_type_is_record(tag))
	                        ? FXT_VALUE_GENERAL
	                        : FXT_VALUE_NOWHERE;
}

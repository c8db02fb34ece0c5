/* Makes values (argument_paths.h), on the manager's thread. */
#include "argument_paths.h"
#include <dwarf.h>
#include <stdint.h>
#include <string.h>
#include "argument_places.h"

#define RECORDS_DEEP 8 /* base classes, and records without a name, in records */

/* The state of a path. The source and the steps give a value or an address. The path has
 * come to `inside` bytes behind the address, or into a record in registers. */
struct path {
	const struct fxt_argument_place *place;
	struct fxt_planned_value *value;
	bool is_address;
	int64_t inside;
};

/* Takes the value from its register; a record may have two. */
static void path_take(struct path *p)
{
	const bool is_second = p->inside >= 8;

	p->value->source = p->inside < 16 ? p->place->words[is_second].source : FXT_VALUE_NOWHERE;
	p->value->number = p->place->words[is_second].number;
	p->value->shift = (uint8_t)(p->inside % 8 * 8);
	p->inside = 0;
}

/* Loads what is at the address. False: it takes too many steps. */
static bool path_load(struct path *p)
{
	struct fxt_planned_value *v = p->value;

	if (!p->is_address) {
		if (!v->steps)
			path_take(p);
		return true;
	}
	if (v->steps == FXT_PLANNED_STEPS || p->inside != (int32_t)p->inside)
		return false;
	v->offsets[v->steps++] = (int32_t)p->inside;
	p->is_address = false;
	p->inside = 0;
	return true;
}

/* Finds the member of that name, and its distance from the record's beginning. Records
 * without a name and base classes count as parts of the record. */
static bool path_find_member(
        Dwarf_Die *record, const char *name, size_t bytes, Dwarf_Die *member, int64_t *inside, unsigned deep)
{
	Dwarf_Die child;

	if (deep > RECORDS_DEEP || dwarf_child(record, &child) != 0)
		return false;
	do {
		const char *is = dwarf_diename(&child);
		Dwarf_Attribute attribute;
		Dwarf_Word at = 0;
		Dwarf_Die part;
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		        dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_bit_size) ||
		        (dwarf_attr(&child, DW_AT_data_member_location, &attribute) &&
		                (dwarf_formudata(&attribute, &at) != 0 || at > INT32_MAX)))
			continue;
		if (tag == DW_TAG_member && is && strlen(is) == bytes && memcmp(is, name, bytes) == 0) {
			*member = child;
			*inside = (int64_t)at;
			return true;
		}
		if ((tag == DW_TAG_inheritance || !is) && fxt_type_is_record(fxt_type_of(&child, &part)) &&
		        path_find_member(&part, name, bytes, member, inside, deep + 1)) {
			*inside += (int64_t)at;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Follows one "->name" or ".name". `type` becomes the member's. */
static bool path_follow(struct path *p, const char **text, Dwarf_Die *type, int *tag)
{
	bool is_arrow = strncmp(*text, "->", 2) == 0;
	const char *name = *text + (is_arrow ? 2 : 1);
	size_t bytes = strcspn(name, ".-");
	Dwarf_Die member, target = *type;
	int64_t inside;

	if ((!is_arrow && **text != '.') || !bytes)
		return false;
	if (is_arrow || *tag == DW_TAG_reference_type || *tag == DW_TAG_rvalue_reference_type) {
		if ((is_arrow && *tag != DW_TAG_pointer_type && *tag != DW_TAG_reference_type) ||
		        !path_load(p))
			return false;
		*tag = fxt_type_of(type, &target);
		p->is_address = true;
	}
	if (!fxt_type_is_record(*tag) || !path_find_member(&target, name, bytes, &member, &inside, 0))
		return false;
	p->inside += inside;
	*tag = fxt_type_of(&member, type);
	*text = name + bytes;
	return *tag != 0;
}

/* A text that lies in the record itself. */
static bool path_is_text(Dwarf_Die *type, int tag, uint64_t bytes)
{
	Dwarf_Die element;
	const char *name;

	if (tag != DW_TAG_array_type || fxt_type_of(type, &element) != DW_TAG_base_type)
		return false;
	name = dwarf_diename(&element);
	return name && strcmp(name, "char") == 0 && bytes > 0;
}

static bool path_end(struct path *p, Dwarf_Die *type, int tag)
{
	struct fxt_planned_value *v = p->value;
	uint64_t bytes = fxt_type_bytes(type);

	if (p->is_address && path_is_text(type, tag, bytes)) {
		v->type = FXT_VALUE_TEXT;
		v->bytes = 8;
		v->limit = bytes < UINT16_MAX ? (uint16_t)bytes : UINT16_MAX;
		v->last = (int32_t)p->inside;
		return true;
	}
	if (!fxt_type_is_shown(type, tag, v))
		return false;
	if (fxt_type_is_record(tag)) { /* a std::string */
		v->last = (int32_t)p->inside;
		return p->is_address;
	}
	return path_load(p);
}

bool fxt_argument_value(const struct fxt_argument_place *place, Dwarf_Die *parameter, const char *path,
        struct fxt_planned_value *value, Dwarf_Die *type)
{
	struct path p = {place, value, place->is_address, place->inside};
	int tag = fxt_type_of(parameter, type);

	value->source = place->words[0].source;
	value->number = place->words[0].number;
	value->offset = place->offset;
	while (*path) {
		if (!path_follow(&p, &path, type, &tag)) {
			value->source = FXT_VALUE_NOWHERE;
			return false;
		}
	}
	if (value->source == FXT_VALUE_NOWHERE || !path_end(&p, type, tag)) {
		value->source = FXT_VALUE_NOWHERE;
		value->steps = 0;
	}
	return true;
}

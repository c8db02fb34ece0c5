/*
 * Types of C and C++ in DWARF, and the places in which the System V ABI for x86-64 passes
 * their values.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARGUMENT_PLACES_H
#define FXT_LAUNCHER_PLANNING_ARGUMENT_PLACES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include "writer/shared/argument_plan.h"

/* The type of a parameter, a member, a pointer's target, or a function's result, without
 * names and qualifiers. Returns its tag; 0: it has none (void), or cannot be read. */
int fxt_type_of(Dwarf_Die *die, Dwarf_Die *type);

/* The bytes of a type; 0: not known. */
uint64_t fxt_type_bytes(Dwarf_Die *type);

/* Whether a type with that tag has members. */
bool fxt_type_is_record(int tag);

/* Sets `type` and `bytes` of a value of that type, by which it is shown. False: it is shown
 * as "?". */
bool fxt_type_is_shown(Dwarf_Die *type, int tag, struct fxt_planned_value *value);

/* The place of an argument. */
struct fxt_argument_place {
	struct {
		uint8_t source; /* enum fxt_value_source */
		uint8_t number;
	} words[2]; /* the second one is that of a record in two registers */
	int32_t offset;
	bool is_address; /* the source has an address, and the argument lies `inside` bytes
	                  * behind it */
	int32_t inside;
};

/* The registers and the stack that the arguments so far take. */
struct fxt_argument_registers {
	unsigned general, vector;
	uint64_t stack;
	bool is_certain;
};

/* Begins a function's list of arguments, by the type of its result. `tag` 0: void. */
struct fxt_argument_registers fxt_registers_begin(Dwarf_Die *result, int tag);

/* Takes the registers of the next argument, which has that type. Returns its place, from
 * FXT_VALUE_NOWHERE if that is not certain. */
struct fxt_argument_place fxt_registers_take(
        struct fxt_argument_registers *registers, Dwarf_Die *type, int tag);

/* Sets the value's source and number for a result of that type. */
void fxt_result_place(Dwarf_Die *type, int tag, struct fxt_planned_value *value);

#endif

/*
 * Types of C and C++ in DWARF, and where the System V ABI for x86-64 passes values of them.
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

/* How values of that type are shown: `type` and `bytes` of the value. False: as "?". */
bool fxt_type_is_shown(Dwarf_Die *type, int tag, struct fxt_planned_value *value);

/* Which registers are taken so far, and whether all arguments so far were understood. */
struct fxt_argument_registers {
	unsigned general, vector;
	uint64_t stack;
	bool is_certain;
};

/* Where the first argument of a function is, by the type of its result. `tag` 0: void. */
struct fxt_argument_registers fxt_registers_begin(Dwarf_Die *result, int tag);

/*
 * Takes the registers of the next argument, which has that type. Sets source, number and
 * offset of the value; FXT_VALUE_NOWHERE: it is in several registers, or not certain.
 * FXT_VALUE_STACK: it is at that place. `by_address`: what is passed is an address of it.
 */
void fxt_registers_take(struct fxt_argument_registers *registers, Dwarf_Die *type, int tag,
        struct fxt_planned_value *value, bool *by_address);

/* Where a result of that type is returned. */
void fxt_result_place(Dwarf_Die *type, int tag, struct fxt_planned_value *value);

#endif

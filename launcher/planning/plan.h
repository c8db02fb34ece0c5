/*
 * Makes the plan of a file (writer/shared/plan.h). Finds the functions that can be recorded
 * by a jump over their first bytes, and moves the instructions there to another place.
 *
 * Decodes the file's whole code for this. A function is left out if a jump, or a table of
 * jumps, may lead into the overwritten bytes. It is also left out if it jumps to its own
 * beginning, because each round would count as a call.
 */
#ifndef FXT_LAUNCHER_PLANNING_PLAN_H
#define FXT_LAUNCHER_PLANNING_PLAN_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include "writer/shared/plan.h"

/* Receives a function that is left out. `name` is its symbol; NULL: it has none. */
typedef void fxt_plan_tell(
        void *context, const char *name, uint64_t address, enum fxt_plan_obstacle obstacle);

/*
 * Makes the plan of an open file. Stores it and its size; the caller frees it. Calls
 * `tell`, unless it is NULL, for each function that is left out, but not for parts of
 * functions. Returns NULL, or the reason for no plan as half a sentence.
 */
const char *fxt_plan_make(
        Elf *elf, struct fxt_plan **plan, size_t *bytes, fxt_plan_tell *tell, void *context);

/* The text of an obstacle, for a person: half a sentence. */
const char *fxt_plan_obstacle_text(enum fxt_plan_obstacle obstacle);

#endif

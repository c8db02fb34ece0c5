/*
 * Makes the plan of a file (writer/shared/plan.h): which of its functions can be recorded by
 * a jump written over their first bytes, and what these bytes do elsewhere.
 *
 * The whole code is decoded for that. A function is left out if a jump or a table of jumps
 * may lead into the bytes that are written over, or if it jumps to its own beginning, where
 * each round would count as a call.
 */
#ifndef FXT_LAUNCHER_PLANNING_PLAN_H
#define FXT_LAUNCHER_PLANNING_PLAN_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include "writer/shared/plan.h"

/* Is told of a function that is left out. `name` is its symbol; NULL: it has none. */
typedef void fxt_plan_tell(
        void *context, const char *name, uint64_t address, enum fxt_plan_obstacle obstacle);

/*
 * Makes the plan of an open file. Stores it and its size; the caller frees it. `tell` is
 * called for each function that is left out, but not for parts of functions; NULL: it is not
 * called. Returns NULL, or why there is no plan as half a sentence.
 */
const char *fxt_plan_make(
        Elf *elf, struct fxt_plan **plan, size_t *bytes, fxt_plan_tell *tell, void *context);

/* What stands in the way, for a person; half a sentence. */
const char *fxt_plan_obstacle_text(enum fxt_plan_obstacle obstacle);

#endif

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

/*
 * Makes the plan of an open file. Stores it and its size; the caller frees it. Returns NULL,
 * or why there is none as half a sentence.
 */
const char *fxt_plan_make(Elf *elf, struct fxt_plan **plan, size_t *bytes);

/* What stands in the way, for a person; half a sentence. */
const char *fxt_plan_obstacle_text(enum fxt_plan_obstacle obstacle);

#endif

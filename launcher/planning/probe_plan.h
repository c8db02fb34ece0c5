/*
 * Makes plans of probes (writer/shared/probe_plan.h). A site is an instruction that does
 * nothing, mostly of one byte. A jump of five bytes overwrites it and its neighbours. It
 * leads to a copy of the overwritten instructions, with a call of the agent among them. A
 * site is left out if a jump, a call or an address leads among these instructions.
 */
#ifndef FXT_LAUNCHER_PLANNING_PROBE_PLAN_H
#define FXT_LAUNCHER_PLANNING_PROBE_PLAN_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include "writer/shared/probe_plan.h"

/*
 * Makes the plan of an open file, of the probes that the values of --usdt want. Stores the
 * plan, its size, and the names of all the file's probes with commas between them. The
 * caller frees plan and names. A file without such probes has no plan, which is no error.
 * Returns NULL, or the reason for no plan as half a sentence.
 */
const char *fxt_probe_plan_make(Elf *elf, const char *const *values, unsigned value_count,
        struct fxt_probe_plan **plan, size_t *bytes, char **names);

#endif

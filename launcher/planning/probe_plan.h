/*
 * Makes plans of probes (writer/shared/probe_plan.h). A site is an instruction that does
 * nothing, mostly of one byte. A jump of five bytes leads from there, or from a few
 * instructions before, to a copy of the instructions that it is written over, with a call of
 * the agent among them. A site is left out if something leads among these instructions.
 */
#ifndef FXT_LAUNCHER_PLANNING_PROBE_PLAN_H
#define FXT_LAUNCHER_PLANNING_PROBE_PLAN_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include "writer/shared/probe_plan.h"

/*
 * Makes the plan of an open file: of those of its probes that the values of --usdt want.
 * Stores it and its size, and the names of all the file's probes with commas between them;
 * the caller frees both. A file without such probes has no plan, and no reason for that.
 * Returns NULL, or why there is none as half a sentence.
 */
const char *fxt_probe_plan_make(Elf *elf, const char *const *values, unsigned value_count,
        struct fxt_probe_plan **plan, size_t *bytes, char **names);

#endif

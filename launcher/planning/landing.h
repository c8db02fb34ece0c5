/*
 * Landing pads: the addresses at which an unwinder continues in a function. No instruction
 * leads to them. The unwind table's entries lead to tables of them.
 */
#ifndef FXT_LAUNCHER_PLANNING_LANDING_H
#define FXT_LAUNCHER_PLANNING_LANDING_H

#include <elfutils/libdw.h>
#include <stdint.h>

/* Calls `found` for each landing pad of a file. */
void fxt_landing_each(Elf *elf, void (*found)(void *context, uint64_t address), void *context);

#endif

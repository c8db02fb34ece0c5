/*
 * Where exceptions land: the unwind table's entries lead to tables of landing pads, the
 * addresses by which an unwinder goes on in a function. No instruction has them.
 */
#ifndef FXT_LAUNCHER_PLANNING_LANDING_H
#define FXT_LAUNCHER_PLANNING_LANDING_H

#include <elfutils/libdw.h>
#include <stdint.h>

/* Calls `found` for each landing pad of a file. */
void fxt_landing_each(Elf *elf, void (*found)(void *context, uint64_t address), void *context);

#endif

/*
 * The processor whose code is planned: the moved instructions are its own.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARCH_H
#define FXT_LAUNCHER_PLANNING_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define ARCH_PLANNED_MACHINE EM_X86_64 /* e_machine */

/* Whether a relocation of that type puts the address of a function of another module there. */
static inline bool arch_is_import(uint32_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

#endif

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

/* The registers of arguments that are no floating-point numbers, by DWARF's numbers: rdi,
 * rsi, rdx, rcx, r8, r9. `number` is that of the argument, from 0. */
#define ARCH_ARGUMENT_REGISTERS 6
static inline uint8_t arch_argument_register(unsigned number)
{
	static const uint8_t registers[ARCH_ARGUMENT_REGISTERS] = {5, 4, 1, 2, 8, 9};

	return registers[number];
}

#endif

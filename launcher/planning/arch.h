/*
 * The processor whose code is planned: the moved instructions are its own.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARCH_H
#define FXT_LAUNCHER_PLANNING_ARCH_H

#include <elf.h>

#define ARCH_PLANNED_MACHINE EM_X86_64 /* e_machine */

#endif

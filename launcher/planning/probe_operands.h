/*
 * The places of a probe's arguments. The note has them in the assembler's words:
 *
 *     -4@%eax  8@$17  1@%ah  -8@-24(%rbp)  4@8(%rax,%rcx,4)  8@counter+8(%rip)  8f@%xmm0
 *
 * The size stands before the @. A signed number has a negative size, a floating-point
 * number an f.
 */
#ifndef FXT_LAUNCHER_PLANNING_PROBE_OPERANDS_H
#define FXT_LAUNCHER_PLANNING_PROBE_OPERANDS_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include "writer/shared/probe_plan.h"

/* Reads the arguments of a note; `elf` has the symbols that they name. An argument that is
 * not understood is FXT_OPERAND_UNKNOWN. Returns their number. */
size_t fxt_operands_read(Elf *elf, const char *text, struct fxt_operand operands[FXT_PROBE_ARGUMENTS]);

#endif

/*
 * Makes thunks (thunks.h) and tells unwinders about them. Has the memory where they lie,
 * inside this library.
 */
#include "thunks.h"
#include <stddef.h>
#include <string.h>
#include "returns.h"

#if ARCH_HAS_THUNKS

#define THUNK_TAIL 18 /* where the jump for tail calls is */

/*
 * Unwind rules of a thunk, as DWARF expressions (rip is register 16, rsp register 7). They
 * find the return address by `o`, the offset of the next instruction within the thunk:
 *
 *   o == 0        the return address is on top of the stack
 *   o == 5        it is replaced if the word two below rsp is this instruction's address,
 *                 which agent_prepared_enter leaves there; otherwise it is on top
 *   o == 18       it is on top of the stack
 *   other         it is replaced, and in agent_returns: place = rsp - 8
 *
 * A frame must have bytes of its own, because libgcc knows a frame by its address (CFA)
 * alone, and aborts in its second phase if two have the same one. So the address is rsp + 1
 * and rsp has a rule too.
 */
/* clang-format off */
#define IS_ON_TOP(there, words)                                                              \
	"0x80,0x00, 0x08,0x3f, 0x1a,"               /* breg16 0, const1u 63, and: o */       \
	"0x12, 0x30, 0x29, 0x28," there(0)          /* dup, lit0, eq, bra */                 \
	"0x12, 0x42, 0x29, 0x28," there(1)          /* dup, lit18, eq, bra */                \
	"0x35, 0x2e, 0x28," words(0)                /* lit5, ne, bra */                      \
	"0x77,0x70, 0x06, 0x80,0x00, 0x29, 0x28," words(1) /* breg7 -16, deref, breg16 0, eq, bra */

/* A branch counts from its own end. Behind the 31 bytes above come those for "on top", with
 * a skip of the others: 6 for the address, 5 for rsp. AGENT_RETURNS_RULE has 37. */
#define TO_TOP(n)      TO_TOP_##n
#define TO_TOP_0       "20,0,"
#define TO_TOP_1       "14,0,"
#define TO_ADDRESS(n)  TO_ADDRESS_##n
#define TO_ADDRESS_0   "15,0,"
#define TO_ADDRESS_1   "6,0,"
#define TO_RSP(n)      TO_RSP_##n
#define TO_RSP_0       "14,0,"
#define TO_RSP_1       "5,0,"

#define THUNK_FRAME                                                                          \
	".cfi_def_cfa 7, 1\n"                                                                \
	".cfi_escape 0x16, 16, 76,"                                                          \
	IS_ON_TOP(TO_TOP, TO_ADDRESS)                                                        \
	"0x77,0x00, 0x06, 0x2f,39,0,"               /* breg7 0, deref, skip */               \
	"0x77,0x78," AGENT_RETURNS_RULE "\n"                  /* breg7 -8 */                           \
	".cfi_escape 0x16, 7, 38,"                                                           \
	IS_ON_TOP(TO_TOP, TO_RSP)                                                            \
	"0x77,0x08, 0x2f,2,0,"                      /* breg7 8, skip */                      \
	"0x77,0x00\n"                               /* breg7 0 */

/* clang-format on */

static void thunk_put_distance(uint8_t *at, uint64_t address, const uint8_t *target)
{
	int32_t distance = (int32_t)((uint64_t)(uintptr_t)target - (address + 4));

	memcpy(at, &distance, sizeof(distance));
}

struct agent_thunk agent_thunk_for(uint64_t address, uint64_t body, uint64_t function,
        const struct agent_thunk_code *code, bool has_arguments)
{
	struct agent_thunk thunk = {
	        .code = {0xe8, 0, 0, 0, 0,            /* call enter */
	                0x74, THUNK_TAIL - 7,         /* jz tail */
	                0xff, 0x15, 24 - 13, 0, 0, 0, /* call *body */
	                0xe9, 0, 0, 0, 0,             /* jmp leave */
	                0xff, 0x25, 0, 0, 0, 0},      /* tail: jmp *body */
	        .body = body,
	        .function = function,
	        .has_arguments = has_arguments,
	};

	_Static_assert(sizeof(thunk) == AGENT_THUNK_BYTES && offsetof(struct agent_thunk, body) == 24,
	        "as in the instructions");
	thunk_put_distance(thunk.code + 1, address + 1, has_arguments ? code->enter_arguments : code->enter);
	thunk_put_distance(
	        thunk.code + 14, address + 14, has_arguments ? code->leave_arguments : code->leave);
	return thunk;
}

struct agent_thunk_page agent_thunk_page_for(uint64_t address)
{
	return (struct agent_thunk_page){.returns = (int64_t)((uint64_t)(uintptr_t)agent_returns - address)};
}

#else
#define THUNK_FRAME ""
#endif

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

/*
 * Zeros that cannot be written to: writable memory would count towards the program's limit
 * of data, whether it has prepared entries or not. Pages of code and tables are mapped
 * there when they are needed. The linker gives the section a segment of its own (Makefile),
 * or it would write the zeros into the file.
 */
/* clang-format off */
__asm__(
	".section .agent_thunks, \"a\", %nobits\n"
	".hidden agent_thunks\n .globl agent_thunks\n"
	".hidden agent_returns\n .globl agent_returns\n"
	".p2align 12\n"
	"	.cfi_startproc\n"
	THUNK_FRAME
	"agent_thunks:\n"
	"	.skip " VALUE(AGENT_THUNKS_BYTES) "\n"
	"	.cfi_endproc\n"
	".p2align 12\n"
	"agent_returns:\n"
	"	.skip " VALUE(8 << (47 - 31)) "\n"
	".text\n");
/* clang-format on */

_Static_assert(AGENT_RETURNS_BITS == 47 && AGENT_RETURNS_MIDDLE_BITS == 31, "as in the section");

/*
 * A thunk is the code between a call and its function. The jump in a prepared entry leads
 * to it (agent/patch/entries.h), or the slot of an import (agent/patch/imports.h). For an
 * import the body is the function itself. Each function has one thunk.
 *
 *     function: jmp --> stub, if the thunk is not near: jmp *thunk
 *               rest of the function  <--------------------.
 *     thunk:    call agent_prepared_enter                  |
 *               jz 1f                                      |
 *               call *body  -------------------------------+
 *               jmp agent_prepared_leave                   |
 *            1: jmp *body  --------------------------------'
 *
 * The thunk calls the rest of the function, so the function returns into the thunk. A table
 * keeps the true return address by its place on the stack (returns.h). The thunk puts it
 * back before it returns. Every `ret` thus meets its `call`: the processor predicts both,
 * and a shadow stack in hardware agrees.
 *
 * A function may be entered by a jump from another one, at the other's place (a tail call).
 * The word there is a thunk's address already. So the other call ends, and the thunk only
 * jumps. Otherwise a loop of tail calls would use up the stack.
 *
 * The thunks lie in this library's own memory, because an unwinder looks for rules in the
 * object that an address belongs to. They are described there as frames without bytes of
 * their own, at each of their instructions.
 */
#ifndef FXT_AGENT_THUNKS_H
#define FXT_AGENT_THUNKS_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/base/arch.h"
#include "agent/base/attributes.h"

#define AGENT_THUNK_BYTES      64
#define AGENT_THUNK_PAGE_BYTES 4096 /* the first thunk's room of a page is agent_thunk_page's */
#define AGENT_THUNKS_BYTES     (16 << 20)

/* Behind the call that begins a thunk, and behind that of the function. */
#define AGENT_THUNK_ENTERED 5
#define AGENT_THUNK_CALLED  13

struct agent_thunk {
	uint8_t code[24];
	uint64_t body;          /* the function's code behind the jump */
	uint64_t function;      /* its address */
	uint64_t has_arguments; /* arguments of its calls are recorded (arguments.h) */
	uint64_t rest[2];
};

/* The head of a page of thunks. Unwinders find agent_returns by it. */
struct agent_thunk_page {
	int64_t returns; /* from here */
	uint64_t rest[7];
};

/* Room for thunks. entries.c maps pages of code there. */
extern HIDDEN uint8_t agent_thunks[AGENT_THUNKS_BYTES];

static inline bool agent_is_thunk(uint64_t address)
{
	return ARCH_HAS_THUNKS && address - (uint64_t)(uintptr_t)agent_thunks < AGENT_THUNKS_BYTES;
}

/* The function of the thunk with that return address; 0: no thunk has it. */
static inline uint64_t agent_thunk_function(uint64_t address)
{
	const uint64_t thunk = address & ~(uint64_t)(AGENT_THUNK_BYTES - 1);

	return agent_is_thunk(address) ? ((const struct agent_thunk *)(uintptr_t)thunk)->function : 0;
}

/* The thunk with that return address, for which agent_is_thunk() is true. */
static inline const struct agent_thunk *agent_thunk_at(uint64_t address)
{
	return (const struct agent_thunk *)(uintptr_t)(address & ~(uint64_t)(AGENT_THUNK_BYTES - 1));
}

/* The code that thunks call at a function's entry and exit (prepared.c). The second pair
 * serves functions with planned arguments. */
struct agent_thunk_code {
	const uint8_t *enter, *leave;
	const uint8_t *enter_arguments, *leave_arguments;
};

/* Makes the thunk that is to lie at `address`, for a function that goes on at `body`. */
struct agent_thunk agent_thunk_for(uint64_t address, uint64_t body, uint64_t function,
        const struct agent_thunk_code *code, bool has_arguments);

/* Makes the head of a page of thunks that is to lie at `address`. */
struct agent_thunk_page agent_thunk_page_for(uint64_t address);

#endif

/*
 * XRay sleds: 11 bytes that clang leaves at each entry and exit of a function
 * (-fxray-instrument), and the forms that they get here:
 *
 *              as it was compiled    off                         on
 *     entry    jmp +9; nop           eb 09 .. .. .. jmp+4 f      e8 09 .. .. .. jmp+4 f
 *     exit     ret; nop              c3 .. .. .. ..              e9 .. .. .. ..
 *     tail     jmp +9; nop           eb 09 e9 .. .. .. ..        eb 00 e9 .. .. .. ..
 *
 * An entry that is on calls a stub, which jumps to agent_xray_enter (agent/hook/xray.c).
 * `f` is the distance from behind the call to the function, so a call tells its function
 * without a look-up. A tail is before the jump to another function. Exits and tails that
 * are on jump to a thunk of their own:
 *
 *     exit:  push function            tail:  lea -128(%rsp), %rsp
 *            jmp agent_xray_leave            push function
 *                                            call agent_xray_leave_by_jump
 *                                            lea 136(%rsp), %rsp
 *                                            jmp behind the sled
 *
 * The rules of unwind tables for such a place may still name words below the stack pointer,
 * where registers were kept until the epilogue. So an exit does not come back, and a tail
 * leaves 128 bytes alone, as signal handlers do.
 *
 * All bytes are written while no thread executes the code. From then on only one of them
 * changes. Clang's runtime changes two at once; a write through /proc/self/mem may store
 * these one by one. Therefore an entry's second byte is 09 in both forms, which is also the
 * lowest byte of the way to the stub: there is a stub for each remainder of a sled's
 * address.
 */
#ifndef FXT_AGENT_SLEDS_H
#define FXT_AGENT_SLEDS_H

#include <stdint.h>
#include "entry_search.h"

#define AGENT_SLED_STUBS_BYTES 4096 /* of a module */
#define AGENT_SLED_THUNK_BYTES 64

struct agent_sled_thunk {
	uint8_t code[32];
	uint64_t function, leave;
	uint64_t behind; /* the sled */
	uint64_t rest;
};

/* The code that stubs and thunks lead to. */
struct agent_sled_code {
	const uint8_t *enter, *leave, *leave_by_jump;
};

/* The byte of a sled that changes. */
struct agent_sled_switch {
	uint64_t address;
	uint8_t on, off;
};

/* The function of the entry with the call that returns there. */
static inline uint64_t agent_sled_function(uint64_t from)
{
	return from + (uint64_t)(int64_t) * (const int32_t *)(uintptr_t)(from + 2);
}

struct agent_sled_switch agent_sled_switch_of(const struct agent_entry *sled);

/* Makes a module's stubs. */
void agent_sled_make_stubs(uint8_t stubs[AGENT_SLED_STUBS_BYTES], const struct agent_sled_code *to);

/* Makes the thunk of an exit or a tail. */
struct agent_sled_thunk agent_sled_thunk_of(const struct agent_entry *sled, const struct agent_sled_code *to);

/* Makes a sled's bytes, in the form that is off. `stubs` are the module's, `thunk` is the
 * sled's own. */
void agent_sled_make(
        uint8_t code[AGENT_SLED_BYTES], const struct agent_entry *sled, uint64_t stubs, uint64_t thunk);

#endif

/*
 * The program's code, as it lies in memory: where a call of a hook is, what else can be behind that call, and
 * how one byte of it is changed. All reading and writing goes through /proc/self/mem, which never faults,
 * needs no page to be writable and executable at once, and gives the program a copy of its own of the page.
 *
 *   call     e8 rel32      a9 imm32       test $imm32,%eax
 *            ff 15 disp32  84 15 disp32   test %dl,disp32(%rip)
 *   jump     e9 rel32      c3             ret
 *            ff 25 disp32  c3
 *
 * Each is turned into the other by its first byte: so a thread that is at it executes the one or the other,
 * and one that is inside of the hook returns behind it. What a test changes, the flags, no call preserves.
 *
 * Which functions a call of a hook may be for is not in the call: compilers let those that are inlined into
 * one function share it, with the function's address in a register since long before. So what is looked for
 * is every address of code that a function has in its instructions, found byte by byte: what only looks like
 * an address is taken for one. Where one of them is recorded they are followed to the hooks (flow.h).
 */
#ifndef FXT_AGENT_CODE_H
#define FXT_AGENT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_CODE_REST 4

/* A byte of the program's that calls a hook, what stands there instead of it, and what follows it. */
struct agent_patch {
	uint64_t address;
	uint8_t before, after;
	uint8_t is_exit;
	uint8_t rest[AGENT_CODE_REST];
};

/* Opens the memory of this process, in the helper's thread, which gets a table of descriptors of its own for
 * it, without those of the program. False: the system does not allow it. */
bool agent_code_open(void);

/* The same in any other thread, for a moment. */
bool agent_code_open_shared(void);
void agent_code_close(void);

bool agent_code_write(uint64_t address, uint8_t byte);
bool agent_code_read(uint64_t address, void *bytes, size_t count);

/* Whether that is code of a file, mapped privately and not writable. */
bool agent_code_is_of_file(uint64_t address);

/* What there is to know about memory may have changed. */
void agent_code_forget(void);

/* Finds the call of `hook` that returns to that address. With the engine's lock held, as the next ones. */
bool agent_code_find_call(uint64_t return_address, uint64_t hook, struct agent_patch *patch);

/* The patch of a jump to a hook (agent_code_function), unless it was patched already. */
bool agent_code_find_jump(uint64_t address, struct agent_patch *patch);

#define AGENT_CODE_TAILS 64

/* A function's code, by the unwind table. */
struct agent_code_function {
	uint64_t start, end;
	bool is_shared; /* with a function that is not left out, inlined into it */
	uint32_t tail_count;
	uint64_t
	        tails[AGENT_CODE_TAILS]; /* jumps to the hook that are of functions that are left out alone */
};

/* Whether a function begins at that address. */
bool agent_code_is_function(uint64_t address);

struct agent_code_questions {
	uint64_t hooks[2]; /* of entries and of exits */

	/* Whether it is a function that is left out. */
	bool (*left_out)(uint64_t function);

	/* Puts back what was patched, in a copy of the code. */
	void (*restore)(uint64_t start, uint8_t *copy, uint64_t bytes);

	/* Of code that is shared, for each call of a hook: whether it is of functions that are left out
	 * alone. */
	void (*tell)(uint64_t call, bool may_go);
};

/*
 * Looks at the function in whose code `address` is, and finds what it shares with functions inlined into it:
 * addresses of functions in its instructions are followed to the hooks they are given to (flow.h). Returns
 * false if it cannot be told, or if `named` is not among those functions.
 */
bool agent_code_look(uint64_t address, uint64_t named, const struct agent_code_questions *questions,
        struct agent_code_function *function);

#endif

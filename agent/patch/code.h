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
struct agent_patch_site {
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

/* Addresses that the loader writes may have changed: what the functions below find out of them holds until
 * this is called again. With the engine's lock held, as all of them. */
void agent_code_begin(void);

/* Finds the call of a hook that returns to that address, of the one for exits or of the other. */
bool agent_code_find_call(
        uint64_t return_address, const uint64_t hooks[2], bool is_exit, struct agent_patch_site *patch);

/* Finds the call of a hook, or the jump to that of exits, that begins at that address. */
bool agent_code_find(uint64_t address, const uint64_t hooks[2], struct agent_patch_site *patch);

/* Where the code begins that an address belongs to, by the unwind table; 0: nobody knows. */
uint64_t agent_code_start(uint64_t address);

/* Whether a function begins at that address. */
bool agent_code_is_function(uint64_t address);

enum agent_code_answer { AGENT_CODE_RECORDED, AGENT_CODE_EXCLUDED, AGENT_CODE_UNDECIDED };

struct agent_code_questions {
	uint64_t hooks[2]; /* of entries and of exits */

	/* What becomes of the calls of a function. */
	enum agent_code_answer (*ask)(uint64_t function);

	/* Puts back what was patched, in a copy of the code. */
	void (*restore)(uint64_t start, uint8_t *copy, uint64_t bytes);

	/* Of each call of a hook, and jump to one, that is not patched: whether it is of functions that are
	 * left out alone. */
	void (*tell)(uint64_t call, bool may_go);
};

/*
 * Looks at the function in whose code `address` is, and finds what it shares with functions inlined into it:
 * if all functions whose addresses are in its instructions are left out, all its calls of hooks may go; else
 * the addresses are followed to the hooks that they are given to (flow.h). Returns false, and tells nothing,
 * if that is not understood, if one of the functions is not decided on, or if `named` is not among them.
 */
bool agent_code_look(uint64_t address, uint64_t named, const struct agent_code_questions *questions);

#endif

/*
 * The program's code as it lies in memory: where a hook is called, which other functions
 * that call may serve, and how one byte of it is changed. All reading and writing goes
 * through /proc/self/mem. It never faults, needs no page to be writable and executable at
 * once, and gives the program a copy of its own of the page.
 *
 *   call     e8 rel32      a9 imm32       test $imm32,%eax
 *            ff 15 disp32  84 15 disp32   test %dl,disp32(%rip)
 *   jump     e9 rel32      c3             ret
 *            ff 25 disp32  c3
 *
 * Each is turned into the other by its first byte. A thread at that place executes the one
 * or the other, and a thread inside the hook returns behind it. A test changes only the
 * flags, and no call preserves them.
 *
 * A call of a hook does not show which functions it may be for. Compilers let functions
 * inlined into one function share a call, with the address loaded into a register long
 * before. Therefore the agent searches a function's instructions, byte by byte, for every
 * address of code; bytes that only look like an address count as one. If one of these
 * functions is recorded, the addresses are followed to the hooks (flow.h).
 */
#ifndef FXT_AGENT_CODE_H
#define FXT_AGENT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_CODE_REST 4

/* One byte of a hook call in the program: its address, the byte before and after patching,
 * and the bytes that follow it. */
struct agent_patch_site {
	uint64_t address;
	uint8_t before, after;
	uint8_t is_exit;
	uint8_t rest[AGENT_CODE_REST];
};

/* Opens the memory of this process, in the helper's thread. The thread gets a table of
 * descriptors of its own for this, without the program's. False: the system does not allow
 * it. */
bool agent_code_open(void);

/* Opens the memory for a moment, in any other thread. */
bool agent_code_open_shared(void);
void agent_code_close(void);

/* The same in a thread that holds the engine's lock, while the helper may have the memory
 * open: `kept` keeps the helper's opening. */
bool agent_code_open_for_now(int *kept);
void agent_code_close_again(int kept);

bool agent_code_write(uint64_t address, uint8_t byte);
bool agent_code_write_bytes(uint64_t address, const void *bytes, size_t count);
bool agent_code_read(uint64_t address, void *bytes, size_t count);

/* Whether the address is in code of a file, mapped privately and not writable. */
bool agent_code_is_of_file(uint64_t address);

/* Facts about mapped memory may have changed. */
void agent_code_forget(void);

/* Begins a new look: addresses that the loader writes may have changed. The functions below
 * keep their findings until the next call. Needs the engine's lock, as do all of them. */
void agent_code_begin(void);

/* Finds the call of a hook that returns to that address: of the exit hook if `is_exit`,
 * otherwise of the entry hook. */
bool agent_code_find_call(
        uint64_t return_address, const uint64_t hooks[2], bool is_exit, struct agent_patch_site *patch);

/* Matches a call of either hook, or a tail jump to the exit hook, that begins at
 * `address`. */
bool agent_code_find(uint64_t address, const uint64_t hooks[2], struct agent_patch_site *patch);

/* The start of the code that an address belongs to, by the unwind table; 0: unknown. */
uint64_t agent_code_start(uint64_t address);

/* Whether a function begins at that address. */
bool agent_code_is_function(uint64_t address);

enum agent_code_answer { AGENT_CODE_RECORDED, AGENT_CODE_EXCLUDED, AGENT_CODE_UNDECIDED };

struct agent_code_questions {
	uint64_t hooks[2]; /* of entries and of exits */

	/* Whether the calls of a function are recorded. */
	enum agent_code_answer (*ask)(uint64_t function);

	/* Puts patched bytes back, in a copy of the code. */
	void (*restore)(uint64_t start, uint8_t *copy, uint64_t bytes);

	/* Called for each unpatched call of a hook, and jump to one. `may_go`: it serves
	 * excluded functions only. */
	void (*tell)(uint64_t call, bool may_go);
};

/*
 * Looks at the function that contains `address`, and at the functions inlined into
 * it. If all functions whose addresses are in its instructions are excluded, all its calls
 * of hooks may go. Otherwise the addresses are followed to the hooks that they are passed
 * to (flow.h). Returns false, and reports nothing, if the code is not understood, if one of
 * the functions is not decided on, or if `named` is not among them.
 */
bool agent_code_look(uint64_t address, uint64_t named, const struct agent_code_questions *questions);

#endif

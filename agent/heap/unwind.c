/* Walks the calling thread's stack (unwind.h), in allocations on any thread and in
 * handlers. Rules of instructions are cached without a lock. A walk must never fault,
 * whatever the stack or the tables contain, and never lock, allocate or change errno. */
#include "unwind.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include "agent/base/attributes.h"
#include "agent/hook/returns.h"
#include "agent/hook/thunks.h"
#include "cfi.h"
#include "heap_state.h"
#include "writer/shared/sys.h"

/* ---- memory ---- */

/* The part of the stack that is read directly. */
struct stack {
	uint64_t low, bytes; /* of places where a whole word can be read */
};

/* Reads words elsewhere, and code. Unmapped memory is an error, not a fault. */
static COLD bool unwind_read(uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};

	return sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&local, 1, (long)&remote, 1, 0) ==
	       (long)bytes;
}

static inline bool unwind_load(const struct stack *stack, uint64_t address, uint64_t *word)
{
	if (unlikely(address - stack->low >= stack->bytes))
		return unwind_read(address, word, sizeof(*word));
	__builtin_memcpy(word, (const void *)(uintptr_t)address, sizeof(*word));
	return true;
}

/* ---- rules ---- */

/*
 * A table's rule for an instruction, as one word. An ordinary frame's address (CFA) is the
 * stack pointer or the base pointer plus an offset; return address and base pointer are
 * saved at offsets from it. An odd frame's address is a word in memory there, or registers
 * are saved at offsets from others: the compiler has aligned the stack. Offsets count in
 * words. All other frames need all registers.
 */
enum { RULE_ORDINARY, RULE_ODD, RULE_OUTERMOST, RULE_WITH_ALL_REGISTERS, RULE_UNKNOWN };

enum place { PLACE_FRAME, PLACE_SP, PLACE_BP, PLACE_REGISTER /* it is in its register still */ };

#define OFFSET_BITS 18

struct rule {
	uint64_t kind : 3;
	uint64_t frame_from_bp : 1; /* else from the stack pointer */
	uint64_t frame_is_loaded : 1;
	uint64_t return_place : 2; /* enum place */
	uint64_t bp_place : 2;
	uint64_t : 1;
	int64_t bp_offset : OFFSET_BITS;
	int64_t return_offset : OFFSET_BITS;
	int64_t frame_offset : OFFSET_BITS;
};

static bool rule_offset(uint64_t bytes, int64_t *words)
{
	*words = (int64_t)bytes / 8;
	return (int64_t)bytes % 8 == 0 && *words >= -(1 << (OFFSET_BITS - 1)) &&
	       *words < 1 << (OFFSET_BITS - 1);
}

static inline uint64_t rule_bytes(int64_t words)
{
	return (uint64_t)words * 8;
}

/* Stack pointer and base pointer are unknowns. */
struct unknowns {
	struct agent_cfi_source source;
	uint64_t pc;
};

static bool rule_get(const struct agent_cfi_source *source, unsigned number, struct agent_cfi_value *value)
{
	*value = (struct agent_cfi_value){0, AGENT_CFI_NUMBER, false};
	if (number == ARCH_SP)
		value->base = AGENT_CFI_SP;
	else if (number == ARCH_BP)
		value->base = AGENT_CFI_BP;
	else if (number == ARCH_PC)
		value->offset = ((const struct unknowns *)source)->pc;
	else
		return false;
	return true;
}

static bool rule_of_frame(const struct agent_cfi *cfi, const struct unknowns *unknowns, struct rule *rule)
{
	struct agent_cfi_value value;
	int64_t words;

	if (cfi->address.kind == AGENT_CFI_REGISTER) {
		if (!rule_get(&unknowns->source, cfi->address.base, &value))
			return false;
		value.offset += (uint64_t)(int64_t)cfi->address.value;
	} else if (!agent_cfi_compute(cfi, cfi->address.value, NULL, &unknowns->source, &value)) {
		return false;
	}
	if ((value.base != AGENT_CFI_SP && value.base != AGENT_CFI_BP) || !rule_offset(value.offset, &words))
		return false;
	rule->frame_from_bp = value.base == AGENT_CFI_BP;
	rule->frame_is_loaded = value.is_loaded;
	rule->frame_offset = words;
	return true;
}

/* The place where a register is saved. */
static bool rule_of_register(const struct agent_cfi *cfi, const struct unknowns *unknowns, unsigned number,
        enum place *place, int64_t *words)
{
	const struct agent_cfi_value frame = {0, AGENT_CFI_FRAME, false};
	struct agent_cfi_value value = frame;

	*place = PLACE_REGISTER;
	*words = 0;
	switch (cfi->registers[number].kind) {
	case AGENT_CFI_SAME:
		return true;
	case AGENT_CFI_AT_CFA:
		value.offset = (uint64_t)(int64_t)cfi->registers[number].value;
		break;
	case AGENT_CFI_AT:
		if (!agent_cfi_compute(cfi, cfi->registers[number].value, &frame, &unknowns->source, &value))
			return false;
		break;
	default:
		return false;
	}
	*place = value.base == AGENT_CFI_FRAME ? PLACE_FRAME
	         : value.base == AGENT_CFI_SP  ? PLACE_SP
	                                       : PLACE_BP;
	return value.base != AGENT_CFI_NUMBER && !value.is_loaded && rule_offset(value.offset, words);
}

static struct rule rule_make(const struct agent_cfi *cfi, uint64_t pc)
{
	const struct unknowns unknowns = {{rule_get, NULL}, pc};
	struct rule rule = {.kind = RULE_ORDINARY};
	enum place return_place, bp_place;
	int64_t return_words, bp_words;

	if (cfi->registers[ARCH_RETURN].kind == AGENT_CFI_UNDEFINED)
		return (struct rule){.kind = RULE_OUTERMOST};
	if (!rule_of_frame(cfi, &unknowns, &rule) ||
	        !rule_of_register(cfi, &unknowns, ARCH_RETURN, &return_place, &return_words) ||
	        return_place == PLACE_REGISTER ||
	        !rule_of_register(cfi, &unknowns, ARCH_BP, &bp_place, &bp_words) ||
	        cfi->registers[ARCH_SP].kind != AGENT_CFI_SAME || cfi->is_signal)
		return (struct rule){.kind = RULE_WITH_ALL_REGISTERS};
	if (rule.frame_is_loaded || return_place != PLACE_FRAME ||
	        (bp_place != PLACE_FRAME && bp_place != PLACE_REGISTER))
		rule.kind = RULE_ODD;
	rule.return_place = return_place;
	rule.return_offset = return_words;
	rule.bp_place = bp_place;
	rule.bp_offset = bp_words;
	return rule;
}

/* ---- remembered rules ---- */

#define RULES_BITS 14

/*
 * Rules by a hash of the instruction's address; a later rule replaces an earlier one.
 * Threads write and read without a lock: the key is xored with the rule, so that halves of
 * two writes form no valid entry. `forgotten` counts unloaded modules and is a part of the
 * key, so rules from before an unload are no longer found.
 */
static struct remembered {
	uint64_t key, rule;
} * remembered;
static uint64_t forgotten;

bool agent_unwind_prepare(void)
{
	if (!remembered)
		remembered = sys_map(sizeof(*remembered) << RULES_BITS, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	return remembered != NULL;
}

void agent_unwind_forget(void)
{
	add_relaxed(&forgotten, UINT64_C(1) << 48);
}

/* True if a signal handler returns to that address: then the kernel saved all registers. */
static bool unwind_is_sigreturn(uint64_t pc)
{
	uint8_t code[sizeof(arch_sigreturn)];

	return unwind_read(pc, code, sizeof(code)) && memcmp(code, arch_sigreturn, sizeof(code)) == 0;
}

static COLD struct rule unwind_find_rule(uint64_t pc, uint64_t key, struct remembered *place)
{
	struct rule rule = {.kind = RULE_UNKNOWN};
	struct agent_cfi cfi;
	uint64_t word;

	if (agent_cfi_find(pc, &cfi))
		rule = rule_make(&cfi, pc);
	else if (unwind_is_sigreturn(pc + 1))
		rule.kind = RULE_WITH_ALL_REGISTERS;
	else
		return rule; /* a module may be loaded there */
	__builtin_memcpy(&word, &rule, sizeof(word));
	store_relaxed(&place->rule, word);
	store_relaxed(&place->key, key ^ word);
	return rule;
}

/* The rule for the instruction at `pc`. */
static inline struct rule unwind_rule(uint64_t pc)
{
	struct remembered *place = &remembered[(pc ^ pc >> RULES_BITS) & ((UINT64_C(1) << RULES_BITS) - 1)];
	uint64_t key = pc + load_relaxed(&forgotten), word = load_relaxed(&place->rule);
	struct rule rule;

	if (unlikely((load_relaxed(&place->key) ^ word) != key))
		return unwind_find_rule(pc, key, place);
	__builtin_memcpy(&rule, &word, sizeof(rule));
	return rule;
}

/* ---- walks ---- */

/* The progress of a walk. */
struct progress {
	uint64_t caller; /* not met yet; 0: it was met */
	unsigned frames;
};

/* Adds a frame that continues at that address. False: the walk has enough frames. */
static inline bool unwind_add(struct progress *progress, struct agent_walk *walk, uint64_t address)
{
	unsigned at = progress->frames;

	if (progress->caller) {
		if (address != progress->caller)
			return ++walk->count < AGENT_WALK_MAX; /* one of ours */
		progress->caller = 0;
	}
	if (unlikely(walk->is_of_library) && !agent_heap_is_library(address))
		return false;
	if (unlikely(at >= AGENT_WALK_MAX))
		at = AGENT_WALK_INNER + (at - AGENT_WALK_INNER) % (AGENT_WALK_MAX - AGENT_WALK_INNER);
	walk->addresses[at] = address;
	return ++progress->frames < AGENT_WALK_FAR;
}

static void unwind_reverse(uint64_t *addresses, unsigned from, unsigned to)
{
	while (from + 1 < to) {
		uint64_t first = addresses[from];

		addresses[from++] = addresses[--to];
		addresses[to] = first;
	}
}

/* Brings the frames into order: the outer ones were written into a ring. */
static void unwind_finish(const struct progress *progress, struct agent_walk *walk)
{
	unsigned oldest = progress->frames % (AGENT_WALK_MAX - AGENT_WALK_INNER) + AGENT_WALK_INNER;

	walk->count = progress->caller ? 0 : progress->frames;
	if (walk->count <= AGENT_WALK_MAX)
		return;
	_Static_assert(AGENT_WALK_INNER % (AGENT_WALK_MAX - AGENT_WALK_INNER) == 0, "see `oldest`");
	unwind_reverse(walk->addresses, AGENT_WALK_INNER, oldest);
	unwind_reverse(walk->addresses, oldest, AGENT_WALK_MAX);
	unwind_reverse(walk->addresses, AGENT_WALK_INNER, AGENT_WALK_MAX);
	walk->addresses[AGENT_WALK_INNER] = AGENT_WALK_LEFT_OUT;
	walk->count = AGENT_WALK_MAX;
	if (progress->frames == AGENT_WALK_FAR)
		walk->addresses[AGENT_WALK_MAX - 1] = AGENT_WALK_LEFT_OUT;
}

/* ---- with all registers ---- */

struct machine {
	struct agent_cfi_source source;
	const struct stack *stack;
	uint64_t known; /* a bit for each register */
	uint64_t registers[ARCH_REGISTERS];
};

static bool machine_get(const struct agent_cfi_source *source, unsigned number, struct agent_cfi_value *value)
{
	const struct machine *machine = (const struct machine *)source;

	*value = (struct agent_cfi_value){machine->registers[number], AGENT_CFI_NUMBER, false};
	return machine->known >> number & 1;
}

static bool machine_load(const struct agent_cfi_source *source, uint64_t address, uint64_t *word)
{
	return unwind_load(((const struct machine *)source)->stack, address, word);
}

static bool machine_has(const struct machine *machine, unsigned number, uint64_t *value)
{
	*value = machine->registers[number];
	return machine->known >> number & 1;
}

static bool machine_frame(const struct machine *machine, const struct agent_cfi *cfi, uint64_t *frame)
{
	struct agent_cfi_value value;

	if (cfi->address.kind == AGENT_CFI_REGISTER) {
		bool is_known = machine_has(machine, cfi->address.base, frame);

		*frame += (uint64_t)(int64_t)cfi->address.value;
		return is_known;
	}
	if (!agent_cfi_compute(cfi, cfi->address.value, NULL, &machine->source, &value))
		return false;
	*frame = value.offset;
	return true;
}

/* Computes a register's value in the caller. */
static bool machine_restore(const struct machine *machine, const struct agent_cfi *cfi, uint64_t frame,
        unsigned number, uint64_t *value)
{
	const struct agent_cfi_rule *rule = &cfi->registers[number];
	const struct agent_cfi_value begin = {frame, AGENT_CFI_NUMBER, false};
	struct agent_cfi_value computed;

	switch (rule->kind) {
	case AGENT_CFI_SAME:
		if (number == ARCH_SP)
			*value = frame;
		else
			return machine_has(machine, number, value);
		return true;
	case AGENT_CFI_AT_CFA:
		return unwind_load(machine->stack, frame + (uint64_t)(int64_t)rule->value, value);
	case AGENT_CFI_FROM_CFA:
		*value = frame + (uint64_t)(int64_t)rule->value;
		return true;
	case AGENT_CFI_REGISTER:
		return rule->value >= 0 && rule->value < ARCH_REGISTERS &&
		       machine_has(machine, (unsigned)rule->value, value);
	case AGENT_CFI_AT:
	case AGENT_CFI_COMPUTED:
		if (!agent_cfi_compute(cfi, rule->value, &begin, &machine->source, &computed))
			return false;
		*value = computed.offset;
		return rule->kind == AGENT_CFI_COMPUTED ||
		       unwind_load(machine->stack, computed.offset, value);
	default:
		return false;
	}
}

/* Continues in the caller of the frame. False: there is none, or it cannot be found. */
static bool machine_step(struct machine *machine, const struct agent_cfi *cfi)
{
	struct machine caller = *machine;
	uint64_t frame;

	if (!machine_frame(machine, cfi, &frame))
		return false;
	caller.known = 0;
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (machine_restore(machine, cfi, frame, i, &caller.registers[i]))
			caller.known |= UINT64_C(1) << i;
	if (!(caller.known >> ARCH_RETURN & 1))
		return false;
	caller.registers[ARCH_PC] = arch_code_address(caller.registers[ARCH_RETURN]);
	/* The call has put another address there. */
	if (!cfi->is_signal && ARCH_RETURN != ARCH_PC)
		caller.known &= ~(UINT64_C(1) << ARCH_RETURN);
	caller.known |= UINT64_C(1) << ARCH_PC;
	/* A stack grows downwards, except when a signal handler runs on another one. */
	if (!cfi->is_signal && caller.registers[ARCH_SP] < machine->registers[ARCH_SP])
		return false;
	*machine = caller;
	return true;
}

/* The same from the place that a handler returns to. */
static bool machine_step_from_handler(struct machine *machine)
{
	uint64_t stack_pointer = machine->registers[ARCH_SP];

	if (!unwind_is_sigreturn(machine->registers[ARCH_PC]))
		return false;
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		if (!unwind_load(
		            machine->stack, stack_pointer + arch_saved_offset(i), &machine->registers[i]))
			return false;
	machine->known = (UINT64_C(1) << ARCH_REGISTERS) - 1;
	return true;
}

/* The return address of a frame whose caller has that stack pointer: not that of a thunk
 * (agent/hook/thunks.h). */
static inline uint64_t unwind_through_thunk(
        struct progress *progress, uint64_t returns, uint64_t stack_pointer)
{
	uint64_t address;

	if (likely(!agent_is_thunk(returns)))
		return returns;
	address = agent_return_address(stack_pointer - sizeof(uint64_t));
	if (progress->caller == returns) /* a tail call of ours */
		progress->caller = address;
	return address;
}

static COLD void unwind_with_all_registers(const struct stack *stack,
        const uint64_t registers[ARCH_REGISTERS], uint64_t caller, struct agent_walk *walk)
{
	struct machine machine = {{machine_get, machine_load}, stack,
	        ARCH_KEPT_REGISTERS | UINT64_C(1) << ARCH_PC | UINT64_C(1) << ARCH_RETURN, {0}};
	struct progress progress = {caller, 0};
	/* A signal interrupted this place; no call was made there. */
	bool is_exact = true, is_found;
	struct agent_cfi cfi;

	walk->count = 0;
	__builtin_memcpy(machine.registers, registers, sizeof(machine.registers));
	for (;;) {
		uint64_t pc = machine.registers[ARCH_PC];

		is_found = agent_cfi_find(pc - !is_exact, &cfi);
		if (is_found ? !machine_step(&machine, &cfi) : !machine_step_from_handler(&machine))
			break;
		is_exact = !is_found || cfi.is_signal;
		machine.registers[ARCH_PC] = unwind_through_thunk(
		        &progress, machine.registers[ARCH_PC], machine.registers[ARCH_SP]);
		if (!machine.registers[ARCH_PC] ||
		        !unwind_add(&progress, walk, machine.registers[ARCH_PC] + is_exact))
			break;
	}
	unwind_finish(&progress, walk);
}

/* ---- with two of them ---- */

/* The caller of an odd frame; 0: it cannot be found. */
static COLD uint64_t unwind_odd(
        const struct stack *stack, struct rule rule, uint64_t sp, uint64_t *bp, uint64_t *frame)
{
	uint64_t bases[3] = {*frame, sp, *bp}, returns;

	if (rule.frame_is_loaded && !unwind_load(stack, *frame, frame))
		return 0;
	bases[PLACE_FRAME] = *frame;
	if (!unwind_load(stack, bases[rule.return_place] + rule_bytes(rule.return_offset), &returns) ||
	        (rule.bp_place != PLACE_REGISTER &&
	                !unwind_load(stack, bases[rule.bp_place] + rule_bytes(rule.bp_offset), bp)))
		return 0;
	return returns;
}

/* A word of the stack; 0: it cannot be read. */
static inline uint64_t unwind_word(const struct stack *stack, uint64_t address)
{
	uint64_t word = 0;

	if (likely(address - stack->low < stack->bytes))
		__builtin_memcpy(&word, (const void *)(uintptr_t)address, sizeof(word));
	else
		unwind_read(address, &word, sizeof(word));
	return word;
}

void agent_unwind(uint64_t caller, uint64_t stack_end, bool is_of_library, struct agent_walk *walk)
{
	uint64_t registers[ARCH_REGISTERS], sp, bp, pc, frame, returns;
	struct progress progress = {caller, 0};
	struct stack stack = {0, 0};
	struct rule rule;

	walk->count = 0;
	walk->is_of_library = is_of_library;
	if (!remembered)
		return;
	arch_store_registers(registers);
	sp = registers[ARCH_SP];
	bp = registers[ARCH_BP];
	pc = registers[ARCH_PC];
	if (stack_end >= sp + sizeof(uint64_t))
		stack = (struct stack){sp, stack_end - sp - sizeof(uint64_t) + 1};
	do {
		rule = unwind_rule(pc);
		frame = (rule.frame_from_bp ? bp : sp) + rule_bytes(rule.frame_offset);
		if (likely(rule.kind == RULE_ORDINARY)) {
			returns = unwind_word(&stack, frame + rule_bytes(rule.return_offset));
			if (rule.bp_place == PLACE_FRAME)
				bp = unwind_word(&stack, frame + rule_bytes(rule.bp_offset));
		} else if (rule.kind == RULE_ODD) {
			uint64_t odd_frame = frame, odd_bp = bp;

			returns = unwind_odd(&stack, rule, sp, &odd_bp, &odd_frame);
			frame = odd_frame;
			bp = odd_bp;
		} else {
			break;
		}
		if (frame <= sp)
			break;
		sp = frame;
		returns = unwind_through_thunk(&progress, returns, sp);
		/* The call itself, which may be its function's last instruction. */
		pc = arch_code_address(returns) - 1;
	} while (returns && unwind_add(&progress, walk, pc + 1));
	if (rule.kind == RULE_WITH_ALL_REGISTERS)
		unwind_with_all_registers(&stack, registers, caller, walk);
	else
		unwind_finish(&progress, walk);
}

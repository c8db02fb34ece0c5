/*
 * Follows addresses of functions through a function's instructions, to the hooks (flow.h).
 * Runs on the helper's thread, on a copy of the code. It must never guess: a piece of code
 * that it does not understand makes the whole answer false.
 */
#include "flow.h"
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/sys.h"

/* The state before an instruction. It has a half for each kind of function, with a bit for
 * each register, and one for memory, that may hold the address of such a function. */
#define KIND_BITS  32
#define MEMORY     UINT64_C(0x10000)
#define CONTENTS   (MEMORY | AGENT_REGISTERS)
#define BEGINS     (UINT64_C(1) << 17) /* an instruction begins here */
#define MARK       UINT64_C(0x40000)   /* at this byte it has an address of this kind */
#define OF(kind)   ((kind)*KIND_BITS)
#define BOTH(bits) ((uint64_t)(bits) | (uint64_t)(bits) << KIND_BITS)

#define BEHIND 32u /* bytes that may be read behind a part */
#define ROUNDS 200

bool agent_flow_begin(struct agent_flow *flow)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (!flow->states)
		flow->states = sys_map(AGENT_FLOW_BYTES * sizeof(*flow->states), protection, flags, -1);
	if (!flow->code)
		flow->code = sys_map(AGENT_FLOW_BYTES, protection, flags, -1);
	flow->part_count = flow->used = 0;
	flow->has_handlers = false;
	flow->anywhere = 0;
	return flow->states && flow->code;
}

struct agent_flow_part *agent_flow_add(struct agent_flow *flow, uint64_t start, uint64_t end)
{
	struct agent_flow_part *part = &flow->parts[flow->part_count];

	if (flow->part_count == AGENT_FLOW_PARTS || end - start > AGENT_FLOW_BYTES - BEHIND ||
	        end - start + BEHIND > AGENT_FLOW_BYTES - flow->used)
		return NULL;
	flow->part_count++;
	*part = (struct agent_flow_part){.start = start, .end = end, .first = flow->used};
	flow->used += (uint32_t)(end - start) + BEHIND;
	memset(flow->states + part->first, 0, (end - start) * sizeof(*flow->states));
	memset(flow->code + part->first + (end - start), 0xcc, BEHIND);
	return part;
}

void agent_flow_mark(struct agent_flow *flow, uint32_t at, enum agent_flow_kind kind)
{
	flow->states[at] |= MARK << OF(kind);
}

static const struct agent_flow_part *flow_part(const struct agent_flow *flow, uint64_t address)
{
	for (const struct agent_flow_part *part = flow->parts; part < flow->parts + flow->part_count; part++)
		if (address - part->start < part->end - part->start)
			return part;
	return NULL;
}

uint32_t agent_flow_place(const struct agent_flow *flow, uint64_t address)
{
	const struct agent_flow_part *part = flow_part(flow, address);

	return part ? part->first + (uint32_t)(address - part->start) : AGENT_FLOW_BYTES;
}

/* The registers and memory that may hold an address of one kind after an instruction.
 * `is_marked`: the instruction contains such an address. */
static uint64_t flow_behind(uint64_t state, const struct agent_instruction *i, bool is_marked)
{
	uint64_t rest = state & ~(uint64_t)i->to, memory;

	switch (i->kind) {
	case AGENT_COPIES:
		return (state & i->from) ? rest | i->to : rest;
	case AGENT_SETS:
		return is_marked ? rest | i->to : rest;
	case AGENT_LOADS:
		return is_marked || (state & MEMORY) ? rest | i->to : rest;
	case AGENT_STORES:
		return is_marked || (state & i->from) ? state | MEMORY : state;
	case AGENT_MOVES:
		memory = i->uses_memory ? MEMORY : 0;
		return is_marked || (state & (i->from | (i->from ? memory : 0))) ? state | i->to | memory
		                                                                 : state;
	default:
		return state;
	}
}

static uint64_t flow_marks(const struct agent_flow *flow, uint32_t place, unsigned length)
{
	uint64_t marks = 0;

	for (unsigned i = 0; i < length; i++)
		marks |= flow->states[place + i];
	return marks & BOTH(MARK);
}

static bool flow_join(uint64_t *states, uint64_t more)
{
	uint64_t before = *states;

	*states |= more;
	return *states != before;
}

/* Passes the state on to a jump's target. False: the target is in the middle of an
 * instruction. */
static bool flow_follow_jump(struct agent_flow *flow, const struct agent_instruction *i, uint64_t state,
        bool is_first, bool *has_changed)
{
	uint32_t place;

	if (!i->target) {
		*has_changed = flow_join(&flow->anywhere, state) || *has_changed;
		return true;
	}
	place = agent_flow_place(flow, i->target);
	if (place == AGENT_FLOW_BYTES) /* a tail call, out of this code */
		return true;
	*has_changed = flow_join(&flow->states[place], state) || *has_changed;
	return is_first || (flow->states[place] & BEGINS);
}

static bool flow_follow_part(struct agent_flow *flow, const struct agent_flow_part *part, bool is_first,
        bool (*is_hook)(const struct agent_instruction *), bool *has_changed)
{
	uint64_t state = 0, marks;
	struct agent_instruction i;

	for (uint64_t address = part->start; address < part->end; address += i.length) {
		uint32_t place = part->first + (uint32_t)(address - part->start);

		if (!agent_instruction_decode(flow->code + place, address, &i) ||
		        i.length > part->end - address)
			return false;
		state |= (flow->states[place] & BOTH(CONTENTS)) | flow->anywhere;
		*has_changed = flow_join(&flow->states[place], state | BEGINS) || *has_changed;
		marks = flow_marks(flow, place, i.length);
		if (marks && i.kind >= AGENT_CALLS)
			return false;
		if (i.kind == AGENT_CALLS && is_hook(&i))
			state &= ~BOTH(AGENT_REGISTERS_OF_CALLEE);
		else if (i.kind == AGENT_CALLS && flow->has_handlers)
			*has_changed = flow_join(&flow->anywhere, state) || *has_changed;
		else if ((i.kind == AGENT_JUMPS || i.kind == AGENT_BRANCHES) && !is_hook(&i) &&
		         !flow_follow_jump(flow, &i, state, is_first, has_changed))
			return false;
		else
			state = flow_behind(state & CONTENTS, &i, (marks & MARK) != 0) |
			        flow_behind(state >> KIND_BITS & CONTENTS, &i, (marks >> KIND_BITS) != 0)
			                << KIND_BITS;
		if (i.kind == AGENT_JUMPS || i.kind == AGENT_ENDS)
			state = 0;
	}
	return true;
}

bool agent_flow_follow(struct agent_flow *flow, bool (*is_hook)(const struct agent_instruction *))
{
	bool has_changed = true;

	for (int round = 0; has_changed; round++) {
		has_changed = false;
		if (round == ROUNDS)
			return false;
		for (uint32_t i = 0; i < flow->part_count; i++)
			if (!flow_follow_part(flow, &flow->parts[i], round == 0, is_hook, &has_changed))
				return false;
	}
	return true;
}

bool agent_flow_is_excluded(const struct agent_flow *flow, uint64_t address)
{
	uint32_t place = agent_flow_place(flow, address);
	uint64_t state = place == AGENT_FLOW_BYTES ? 0 : flow->states[place];

	return (state & BEGINS) && (state >> OF(AGENT_FLOW_EXCLUDED) & AGENT_REGISTER_RDI) &&
	       !(state >> OF(AGENT_FLOW_RECORDED) & AGENT_REGISTER_RDI);
}

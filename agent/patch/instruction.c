/*
 * Decodes x86-64 instructions (instruction.h), one function for each table of opcodes. Runs
 * on the helper's thread, on a copy of the code. It must refuse every instruction that it
 * does not know: a wrong length or effect would let a needed hook call be patched.
 */
#include "instruction.h"
#include <string.h>

/* as the register of an operand in memory, without a displacement of its own */
#define BY_DISPLACEMENT 5
#define BY_INDEX        4

/* The parts of an instruction that are decoded so far. */
struct decoding {
	const uint8_t *at;
	uint64_t address;
	const uint8_t *begin;
	uint8_t rex;
	bool has_66;
	/* of the ModRM byte: mod 3 = `rm` is a register; reg and rm with REX */
	uint8_t mod, reg, rm;
	uint32_t address_registers;
	bool is_relative; /* the operand in memory is relative to the next instruction */
	int32_t displacement;
	struct agent_instruction *i;
};

static int32_t instruction_take(struct decoding *d, unsigned bytes)
{
	int32_t number = 0;

	if (bytes == 1)
		number = (int8_t)*d->at;
	else if (bytes == 4)
		memcpy(&number, d->at, sizeof(number));
	d->at += bytes;
	return number;
}

/* Prefixes, in whatever order, and REX behind them. */
static bool instruction_take_prefixes(struct decoding *d)
{
	for (; d->at - d->begin < 8; d->at++) {
		uint8_t byte = *d->at;

		d->has_66 = d->has_66 || byte == 0x66;
		if (byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
		        byte == 0x64 || byte == 0x65 || (byte & 0xe7) == 0x26)
			continue;
		if ((byte & 0xf0) == 0x40)
			d->rex = *d->at++;
		return true;
	}
	return false;
}

static void instruction_take_operands(struct decoding *d)
{
	uint8_t byte = *d->at++;

	d->mod = byte >> 6;
	d->reg = (uint8_t)((byte >> 3 & 7) | (d->rex & 4) << 1);
	d->rm = byte & 7;
	if (d->mod == 3) {
		d->rm |= (uint8_t)((d->rex & 1) << 3);
		return;
	}
	if (d->rm == BY_INDEX) {
		uint8_t sib = *d->at++;

		d->address_registers = AGENT_REGISTER((sib >> 3 & 7) | (d->rex & 2) << 2) |
		                       AGENT_REGISTER((sib & 7) | (d->rex & 1) << 3);
		if (d->mod == 0 && (sib & 7) == BY_DISPLACEMENT)
			instruction_take(d, 4);
	} else if (d->mod == 0 && d->rm == BY_DISPLACEMENT) {
		d->is_relative = true;
		d->displacement = instruction_take(d, 4);
	} else {
		d->address_registers = AGENT_REGISTER(d->rm | (d->rex & 1) << 3);
	}
	if (d->mod == 1)
		instruction_take(d, 1);
	else if (d->mod == 2)
		instruction_take(d, 4);
}

/* An instruction whose result cannot be an address, unless the instruction contains one;
 * that goes to `to`. */
static bool instruction_counts(struct decoding *d, uint32_t to, unsigned constant_bytes)
{
	instruction_take(d, constant_bytes);
	d->i->kind = AGENT_MOVES;
	d->i->to = to;
	return true;
}

/* An instruction that may move values between registers. */
static bool instruction_moves(struct decoding *d, uint32_t registers, unsigned constant_bytes)
{
	instruction_counts(d, registers, constant_bytes);
	d->i->from = registers;
	return true;
}

/* Moves values between its operands and `others`; operands of other kinds count as
 * memory. */
static bool instruction_mixes(
        struct decoding *d, uint32_t others, bool has_other_kinds, unsigned constant_bytes)
{
	uint32_t registers = AGENT_REGISTER(d->reg);

	if (d->mod == 3)
		registers |= AGENT_REGISTER(d->rm);
	d->i->uses_memory = d->mod != 3 || has_other_kinds;
	return instruction_moves(d, registers | others, constant_bytes);
}

/* Adds a number to an operand in memory or a register, or compares it. */
static bool instruction_counts_operand(struct decoding *d, unsigned constant_bytes)
{
	d->i->uses_memory = d->mod != 3;
	return instruction_counts(d, d->mod == 3 ? AGENT_REGISTER(d->rm) : 0, constant_bytes);
}

static bool instruction_sets(struct decoding *d, uint8_t to, unsigned constant_bytes)
{
	instruction_take(d, constant_bytes);
	d->i->kind = AGENT_SETS;
	d->i->to = AGENT_REGISTER(to);
	return true;
}

static bool instruction_loads(struct decoding *d, uint32_t to)
{
	d->i->kind = AGENT_LOADS;
	d->i->to = to;
	return true;
}

static bool instruction_stores(struct decoding *d, uint32_t from)
{
	d->i->kind = AGENT_STORES;
	d->i->from = from;
	return true;
}

static bool instruction_copies(struct decoding *d, uint32_t from, uint32_t to)
{
	d->i->kind = AGENT_COPIES;
	d->i->from = from;
	d->i->to = to;
	return true;
}

static bool instruction_goes(struct decoding *d, enum agent_instruction_kind kind, unsigned bytes)
{
	int32_t distance = instruction_take(d, bytes);

	if (d->has_66 && !(d->rex & 8)) /* processors differ */
		return false;
	d->i->kind = kind;
	d->i->target = d->address + (uint64_t)(d->at - d->begin) + (uint64_t)(int64_t)distance;
	return true;
}

static bool instruction_ends(struct decoding *d, unsigned bytes)
{
	instruction_take(d, bytes);
	d->i->kind = AGENT_ENDS;
	return true;
}

/* Instructions with all operands in their opcode. `number` is the register there. */
static bool instruction_decode_without_operands(struct decoding *d, uint8_t opcode)
{
	uint8_t number = (uint8_t)((opcode & 7) | (d->rex & 1) << 3);
	unsigned constant = d->has_66 && !(d->rex & 8) ? 2 : 4;

	if (opcode >= 0x50 && opcode <= 0x57)
		return instruction_stores(d, AGENT_REGISTER(number));
	if (opcode >= 0x58 && opcode <= 0x5f)
		return instruction_loads(d, AGENT_REGISTER(number));
	if (opcode >= 0x70 && opcode <= 0x7f)
		return instruction_goes(d, AGENT_BRANCHES, 1);
	if (opcode >= 0x90 && opcode <= 0x97)
		return instruction_moves(d, AGENT_REGISTER(number) | AGENT_REGISTER(0), 0);
	if (opcode >= 0xb0 && opcode <= 0xb7)
		return instruction_counts(d, 0, 1); /* a byte is no address */
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return instruction_sets(d, number, d->rex & 8 ? 8 : constant);
	if (opcode < 0x40) /* rax and a constant */
		return (opcode & 7) <= 5 &&
		       instruction_moves(d, AGENT_REGISTER(0), opcode & 1 ? constant : 1);
	switch (opcode) {
	case 0x68: /* push */
		instruction_take(d, constant);
		return instruction_stores(d, 0);
	case 0x6a:
		return instruction_counts(d, 0, 1);
	case 0x98: /* cltq, cqto, fwait, and flags */
	case 0x99:
	case 0x9e:
	case 0x9f:
	case 0x9b:
	case 0x9c:
	case 0x9d:
	case 0xf5:
	case 0xf8:
	case 0xf9:
	case 0xfc:
	case 0xfd:
		return instruction_counts(d, 0, 0);
	case 0xa4: /* string instructions */
	case 0xa5:
	case 0xa6:
	case 0xa7:
	case 0xaa:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xae:
	case 0xaf:
		d->i->uses_memory = true;
		return instruction_moves(d, AGENT_REGISTER(0), 0);
	case 0xa8:
		return instruction_counts(d, 0, 1);
	case 0xa9:
		return instruction_counts(d, 0, constant);
	case 0xc2:
		return instruction_ends(d, 2);
	case 0xc3:
	case 0xf4:
		return instruction_ends(d, 0);
	case 0xc9: /* leave */
		return instruction_loads(d, AGENT_REGISTER(5));
	case 0xe0: /* loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return instruction_goes(d, AGENT_BRANCHES, 1);
	case 0xe8:
		return instruction_goes(d, AGENT_CALLS, 4);
	case 0xe9:
		return instruction_goes(d, AGENT_JUMPS, 4);
	case 0xeb:
		return instruction_goes(d, AGENT_JUMPS, 1);
	default: /* also for a breakpoint: the original byte is not known */
		return false;
	}
}

static bool instruction_has_operands(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) ||
	       opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
	       (opcode >= 0xd0 && opcode <= 0xd3) || (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xf6 ||
	       opcode == 0xf7 || opcode >= 0xfe;
}

/* Group 5: a call, a jump, an increment or a push. */
static bool instruction_decode_group(struct decoding *d)
{
	unsigned what = d->reg & 7;

	if (what != 2 && what != 4)
		return (what < 2 || what == 6) && instruction_counts_operand(d, 0);
	d->i->kind = what == 2 ? AGENT_CALLS : AGENT_JUMPS;
	return true;
}

/* Whether its operands have fewer bits than addresses of functions here. */
static bool instruction_is_narrow(const struct decoding *d)
{
	return d->has_66 || (!(d->rex & 8) && d->address >> 32);
}

/* Two operands; one may get the other's value. */
static bool instruction_decode_arithmetic(struct decoding *d, uint8_t opcode)
{
	if (!(opcode & 1) || opcode >= 0x38) /* a byte; a comparison */
		return instruction_counts(d, 0, 0);
	if (opcode >= 0x28 && d->mod == 3 && d->reg == d->rm && !d->has_66) /* sub, xor */
		return instruction_sets(d, d->reg, 0);
	return instruction_is_narrow(d) ? instruction_counts(d, 0, 0) : instruction_mixes(d, 0, false, 0);
}

static bool instruction_decode_one_byte(struct decoding *d, uint8_t opcode)
{
	unsigned constant = d->has_66 && !(d->rex & 8) ? 2 : 4;

	if (!instruction_has_operands(opcode))
		return instruction_decode_without_operands(d, opcode);
	instruction_take_operands(d);
	if (opcode < 0x40)
		return instruction_decode_arithmetic(d, opcode);
	switch (opcode) {
	case 0x69: /* imul */
		return instruction_sets(d, d->reg, constant);
	case 0x6b:
		return instruction_sets(d, d->reg, 1);
	case 0x81:
		return instruction_counts_operand(d, constant);
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return instruction_counts(d, 0, 1);
	case 0x86: /* xchg */
	case 0x87:
		return instruction_mixes(d, 0, false, 0);
	case 0x89:
		if (instruction_is_narrow(d))
			return instruction_counts(d, 0, 0);
		return d->mod == 3 ? instruction_copies(d, AGENT_REGISTER(d->reg), AGENT_REGISTER(d->rm))
		                   : instruction_stores(d, AGENT_REGISTER(d->reg));
	case 0x63: /* movslq */
	case 0x8b:
		if (instruction_is_narrow(d))
			return d->has_66 ? instruction_counts(d, 0, 0) : instruction_sets(d, d->reg, 0);
		return d->mod == 3 ? instruction_copies(d, AGENT_REGISTER(d->rm), AGENT_REGISTER(d->reg))
		                   : instruction_loads(d, AGENT_REGISTER(d->reg));
	case 0x8d: /* lea */
		if (d->is_relative)
			return instruction_sets(d, d->reg, 0);
		return instruction_copies(d, d->address_registers, AGENT_REGISTER(d->reg));
	case 0x8f: /* pop; else another manufacturer's */
		return (d->reg & 7) == 0 && instruction_counts(d, 0, 0);
	case 0xc7:
		if (d->mod == 3 && !d->has_66)
			return (d->reg & 7) == 0 && instruction_sets(d, d->rm, constant);
		return (d->reg & 7) == 0 && instruction_counts_operand(d, constant);
	case 0xf6:
		return instruction_counts(d, 0, (d->reg & 7) < 2);
	case 0xf7:
		return instruction_counts(d, 0, (d->reg & 7) < 2 ? constant : 0);
	case 0xff:
		return instruction_decode_group(d);
	default: /* one operand, bytes, or floating point */
		return instruction_counts(d, 0, 0);
	}
}

static bool instruction_has_byte(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba ||
	       opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

/* Whether a two-byte opcode has both general registers and others as operands; the others
 * count as memory here. */
static bool instruction_is_between_kinds(uint8_t opcode)
{
	return opcode == 0x6e || opcode == 0x7e || opcode == 0xc4 || opcode == 0xc5 || opcode == 0xd6;
}

static bool instruction_is_refused(uint8_t opcode)
{
	if (opcode < 0x10)
		return opcode != 0x01 && opcode != 0x0d;
	return (opcode >= 0x20 && opcode < 0x28) || (opcode >= 0x30 && opcode < 0x40) ||
	       (opcode & 0xf6) == 0xa0 || opcode == 0xaa || opcode == 0xff;
}

static bool instruction_decode_two_bytes(struct decoding *d)
{
	uint8_t opcode = *d->at++;

	if (opcode == 0x0b) /* ud2 */
		return instruction_ends(d, 0);
	if (opcode >= 0x80 && opcode <= 0x8f)
		return instruction_goes(d, AGENT_BRANCHES, 4);
	/* syscall, rdtsc, cpuid */
	if (opcode == 0x05 || opcode == 0x31 || opcode == 0xa2 || opcode == 0x77)
		return instruction_counts(d, 0, 0);
	if (opcode >= 0xc8 && opcode <= 0xcf) /* bswap */
		return instruction_counts(d, 0, 0);
	if (opcode == 0x38 || opcode == 0x3a) {
		d->at++;
		instruction_take_operands(d);
		return instruction_mixes(d, 0, true, opcode == 0x3a);
	}
	if (instruction_is_refused(opcode))
		return false;
	instruction_take_operands(d);
	if ((opcode & 0xf6) == 0xb6 && !d->has_66) /* a byte or two, extended */
		return instruction_sets(d, d->reg, 0);
	if ((opcode & 0xf0) == 0x40) /* cmov */
		return instruction_mixes(d, 0, false, 0);
	if (opcode == 0xb1 || opcode == 0xc1 || opcode == 0xc7) /* cmpxchg, xadd, cmpxchg16b */
		return instruction_mixes(d, 0xf, true, 0);
	if (opcode == 0xc3) /* movnti */
		return instruction_stores(d, AGENT_REGISTER(d->reg));
	if (instruction_is_between_kinds(opcode))
		return instruction_mixes(d, 0, true, instruction_has_byte(opcode));
	return instruction_counts(d, 0, instruction_has_byte(opcode));
}

/* An instruction with a prefix of two to four bytes that contains the opcode's `map`.
 * General registers are not distinguished from each other here. */
static bool instruction_decode_vector(struct decoding *d, unsigned prefix_bytes)
{
	unsigned map = prefix_bytes == 2 ? 1 : d->at[1] & (prefix_bytes == 3 ? 0x1f : 7), constant;
	uint8_t opcode;

	d->at += prefix_bytes;
	opcode = *d->at++;
	if (map < 1 || map > 3)
		return false;
	if (map != 1 || opcode != 0x77)
		instruction_take_operands(d);
	constant = map == 3 || (map == 1 && instruction_has_byte(opcode));
	if (map == 1 && !instruction_is_between_kinds(opcode))
		return instruction_counts(d, 0, constant);
	return instruction_mixes(d, AGENT_REGISTERS, true, constant);
}

bool agent_instruction_decode(const uint8_t *code, uint64_t address, struct agent_instruction *instruction)
{
	struct decoding d = {.at = code, .begin = code, .address = address, .i = instruction};
	bool is_known;
	uint64_t next;

	*instruction = (struct agent_instruction){0};
	if (!instruction_take_prefixes(&d))
		return false;
	if (*d.at == 0x62 || *d.at == 0xc4 || *d.at == 0xc5)
		is_known = instruction_decode_vector(&d, *d.at == 0x62 ? 4 : *d.at == 0xc4 ? 3 : 2);
	else if (*d.at == 0x0f)
		is_known = (d.at++, instruction_decode_two_bytes(&d));
	else
		is_known = (d.at++, instruction_decode_one_byte(&d, d.at[-1]));
	instruction->length = (uint8_t)(d.at - d.begin);
	next = address + instruction->length;
	if (d.is_relative)
		instruction->slot = next + (uint64_t)(int64_t)d.displacement;
	return is_known && instruction->length <= AGENT_INSTRUCTION_BYTES;
}

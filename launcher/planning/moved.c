/*
 * Moves instructions (moved.h), with Zydis as the decoder. It must refuse whatever it
 * cannot make work at another address.
 */
#include "moved.h"
#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <string.h>

/* The most bytes of one instruction at its new place. */
#define INSTRUCTION_ROOM 25

static void moved_put(struct fxt_moved *m, const void *bytes, size_t count)
{
	memcpy(m->code + m->code_bytes, bytes, count);
	m->code_bytes = (uint8_t)(m->code_bytes + count);
}

/* Puts the distance to `target` from behind it and `behind` more bytes. False: it is too
 * far, or there are too many. */
static bool moved_put_distance(struct fxt_moved *m, uint64_t address, uint64_t target, unsigned behind)
{
	int64_t distance = (int64_t)(target - (address + m->code_bytes + 4 + behind));
	int32_t value = (int32_t)distance;

	if (value != distance || m->fixup_count == FXT_PLAN_FIXUPS)
		return false;
	m->fixups[m->fixup_count++] = m->code_bytes;
	moved_put(m, &value, sizeof(value));
	return true;
}

static bool moved_jump(struct fxt_moved *m, uint64_t address, uint64_t target)
{
	moved_put(m, "\xe9", 1);
	return moved_put_distance(m, address, target, 0);
}

/* Moves an instruction that changes only in the distance to its operand in memory. */
static bool moved_copy(struct fxt_moved *m, const uint8_t *from, uint64_t address, uint64_t at,
        const ZydisDecodedInstruction *i)
{
	unsigned before = i->raw.disp.offset, behind = i->length - before - 4u;

	if (!(i->attributes & ZYDIS_ATTRIB_IS_RELATIVE)) {
		moved_put(m, from, i->length);
		return true;
	}
	if (i->raw.disp.size != 32)
		return false;
	moved_put(m, from, before);
	if (!moved_put_distance(m, address, at + i->length + (uint64_t)i->raw.disp.value, behind))
		return false;
	moved_put(m, from + before + 4, behind);
	return true;
}

/* Moves a call: pushes the return address of the old place, and jumps. That address lies
 * behind the code. No instruction is moved after a call. */
static bool moved_call(struct fxt_moved *m, uint64_t address, uint64_t at, const ZydisDecodedInstruction *i)
{
	uint64_t back = at + i->length;
	bool is_direct = i->raw.imm[0].is_relative;
	uint64_t target = back + (uint64_t)(is_direct ? i->raw.imm[0].value.s : i->raw.disp.value);
	unsigned jump_bytes = is_direct ? 5 : 6;

	moved_put(m, "\xff\x35", 2); /* push constant(%rip) */
	if (!moved_put_distance(m, address, address + m->code_bytes + 4 + jump_bytes, 0))
		return false;
	m->fixups[--m->fixup_count] = 0; /* both move */
	moved_put(m, is_direct ? "\xe9" : "\xff\x25", is_direct ? 1 : 2);
	if (!moved_put_distance(m, address, target, 0))
		return false;
	m->constant = m->code_bytes;
	moved_put(m, &back, sizeof(back));
	return true;
}

static bool moved_branch(struct fxt_moved *m, uint64_t address, uint64_t at, const ZydisDecodedInstruction *i)
{
	uint64_t target = at + i->length + (uint64_t)i->raw.imm[0].value.s;
	uint8_t condition = (uint8_t)(0x80 | (i->opcode & 0xf));

	if (i->meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		return moved_jump(m, address, target);
	moved_put(m, (uint8_t[]){0x0f, condition}, 2);
	return moved_put_distance(m, address, target, 0);
}

static bool moved_is_conditional(const ZydisDecodedInstruction *i)
{
	return (i->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (i->opcode & 0xf0) == 0x70) ||
	       (i->opcode_map == ZYDIS_OPCODE_MAP_0F && (i->opcode & 0xf0) == 0x80);
}

/* call *slot(%rip): no far one, and with no segment before it. */
static bool moved_is_call_of_slot(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_IS_RELATIVE && i->opcode == 0xff && i->raw.modrm.reg == 2 &&
	       !(i->attributes & ZYDIS_ATTRIB_HAS_SEGMENT);
}

/* Moves one instruction. `*ends`: it never continues with the next one. */
static bool moved_add(struct fxt_moved *m, const uint8_t *from, uint64_t address, uint64_t at,
        const ZydisDecodedInstruction *i, bool *ends)
{
	bool is_relative = i->raw.imm[0].is_relative;

	*ends = false;
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		/* Calls by a register would return among the bytes of the jump. */
		if (is_relative ? i->length < 5 : !moved_is_call_of_slot(i))
			return false;
		*ends = true;
		return moved_call(m, address, at, i);
	case ZYDIS_CATEGORY_COND_BR:
		return moved_is_conditional(i) && moved_branch(m, address, at, i);
	case ZYDIS_CATEGORY_UNCOND_BR:
		*ends = true;
		return is_relative ? moved_branch(m, address, at, i) : moved_copy(m, from, address, at, i);
	case ZYDIS_CATEGORY_RET:
		*ends = true;
		return moved_copy(m, from, address, at, i);
	default:
		*ends = i->mnemonic == ZYDIS_MNEMONIC_UD2 || i->mnemonic == ZYDIS_MNEMONIC_HLT;
		if (i->mnemonic == ZYDIS_MNEMONIC_INT3 || is_relative) /* xbegin counts too */
			return false;
		return moved_copy(m, from, address, at, i);
	}
}

static bool moved_is_padding(uint8_t byte)
{
	static const uint8_t padding[] = {0x90, 0xcc, 0x00, 0x66, 0x2e, 0x0f, 0x1f, 0x40, 0x44, 0x80, 0x84};

	return memchr(padding, byte, sizeof(padding)) != NULL;
}

/* Puts a call of the agent instead of a site. */
static bool moved_put_call(struct fxt_moved *m, const ZydisDecodedInstruction *i)
{
	static const uint8_t call[FXT_PLAN_CALL_BYTES] = {0x48, 0x8d, 0x64, 0x24, 0x80, /* lea */
	        0xff, 0x35, 0, 0, 0, 0,                                                 /* push */
	        0xff, 0x15, 0, 0, 0, 0,                                                 /* call */
	        0x48, 0x8d, 0xa4, 0x24, 0x88, 0, 0, 0};                                 /* lea */

	if (i->mnemonic != ZYDIS_MNEMONIC_NOP || m->call_count == FXT_MOVED_CALLS)
		return false;
	m->calls[m->call_count++] = m->code_bytes;
	moved_put(m, call, sizeof(call));
	return true;
}

enum fxt_plan_obstacle fxt_move_probes(const uint8_t *code, size_t readable, uint64_t address, uint64_t room,
        const uint64_t *sites, size_t count, struct fxt_moved *m)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	bool ends = false;

	*m = (struct fxt_moved){0};
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while ((m->taken < FXT_PLAN_JUMP_BYTES || (count && !m->call_count)) && !ends) {
		const uint8_t *from = code + m->taken;
		uint64_t at = address + m->taken;
		bool is_site = m->call_count < count && at == sites[m->call_count];

		if (m->taken >= readable || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		                                    &decoder, NULL, from, readable - m->taken, &instruction)))
			return FXT_PLAN_UNKNOWN;
		if (m->code_bytes + 2 * INSTRUCTION_ROOM > FXT_MOVED_CODE_BYTES ||
		        !(is_site ? moved_put_call(m, &instruction)
		                  : moved_add(m, from, address, at, &instruction, &ends)))
			return FXT_PLAN_FIXED;
		m->taken = (uint8_t)(m->taken + instruction.length);
	}
	if (room < FXT_PLAN_JUMP_BYTES || room < m->taken || m->taken > FXT_PLAN_ORIGINAL_BYTES)
		return FXT_PLAN_SHORT;
	for (unsigned i = m->taken; i < FXT_PLAN_JUMP_BYTES; i++)
		if (!moved_is_padding(code[i]))
			return FXT_PLAN_SHORT;
	if ((!ends && !moved_jump(m, address, address + m->taken)) || (count && !m->call_count))
		return FXT_PLAN_FIXED;
	return FXT_PLAN_NONE;
}

enum fxt_plan_obstacle fxt_move(
        const uint8_t *code, size_t readable, uint64_t address, uint64_t room, struct fxt_moved *m)
{
	return fxt_move_probes(code, readable, address, room, NULL, 0, m);
}

/* Follows the stack pointer from a function's first instruction on (returns.h). Reads the
 * encoding, because the whole code of a program comes by here. */
#include "returns.h"

enum { RSP = 4, RBP = 5 };

static bool has_modrm(const ZydisDecodedInstruction *i)
{
	return i->attributes & ZYDIS_ATTRIB_HAS_MODRM;
}

static unsigned modrm_reg(const ZydisDecodedInstruction *i)
{
	return i->raw.modrm.reg + 8u * i->raw.rex.R;
}

static unsigned modrm_rm(const ZydisDecodedInstruction *i)
{
	return i->raw.modrm.rm + 8u * i->raw.rex.B;
}

/* Whether its operand in memory lies at a distance from the stack pointer. */
static bool is_at_stack_pointer(const ZydisDecodedInstruction *i)
{
	return has_modrm(i) && i->raw.modrm.mod != 3 && i->raw.modrm.rm == 4 && i->raw.sib.base == RSP &&
	       i->raw.sib.index == 4 && !i->raw.rex.B && !i->raw.rex.X;
}

static bool is_at_frame_pointer(const ZydisDecodedInstruction *i)
{
	return has_modrm(i) && (i->raw.modrm.mod == 1 || i->raw.modrm.mod == 2) && modrm_rm(i) == RBP;
}

static bool stack_is_used(const struct fxt_stack *s, const ZydisDecodedInstruction *i)
{
	if (i->mnemonic == ZYDIS_MNEMONIC_LEA || i->mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	return (!s->is_lost && is_at_stack_pointer(i) && i->raw.disp.value == s->depth) ||
	       (s->frame && is_at_frame_pointer(i) && i->raw.disp.value == s->frame);
}

/* An instruction between registers that may set the stack pointer. */
static void stack_set(struct fxt_stack *s, const ZydisDecodedInstruction *i)
{
	bool is_constant = i->opcode == 0x81 || i->opcode == 0x83;

	if (i->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return;
	if ((i->opcode == 0x89 && modrm_reg(i) == RSP && modrm_rm(i) == RBP) ||
	        (i->opcode == 0x8b && modrm_reg(i) == RBP && modrm_rm(i) == RSP)) {
		s->frame = s->is_lost ? 0 : s->depth;
	} else if (i->opcode == 0x8b || i->opcode == 0x03 || i->opcode == 0x2b || i->opcode == 0x23) {
		s->is_lost |= modrm_reg(i) == RSP;
	} else if (modrm_rm(i) == RSP) {
		if (is_constant && i->raw.modrm.reg == 5)
			s->depth += i->raw.imm[0].value.s;
		else if (is_constant && i->raw.modrm.reg == 0)
			s->depth -= i->raw.imm[0].value.s;
		else if (i->mnemonic != ZYDIS_MNEMONIC_CMP && i->mnemonic != ZYDIS_MNEMONIC_TEST)
			s->is_lost = true;
	}
}

bool fxt_stack_follow(struct fxt_stack *s, const ZydisDecodedInstruction *i)
{
	if (s->is_over)
		return false;
	if (stack_is_used(s, i))
		return true;
	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		s->depth += 8;
		break;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		s->depth -= 8;
		return !s->is_lost && s->depth < 0;
	case ZYDIS_MNEMONIC_LEA:
		if (modrm_reg(i) != RSP)
			break;
		if (is_at_stack_pointer(i))
			s->depth -= i->raw.disp.value;
		else
			s->is_lost = true;
		break;
	case ZYDIS_MNEMONIC_CALL: /* of the next instruction, to learn where it is */
		if (i->raw.imm[0].is_relative && i->raw.imm[0].value.s == 0)
			s->depth += 8;
		break;
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_XCHG:
		s->is_lost = true;
		break;
	default:
		s->is_over = i->meta.category == ZYDIS_CATEGORY_RET ||
		             i->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
		if (has_modrm(i) && i->raw.modrm.mod == 3)
			stack_set(s, i);
		break;
	}
	return false;
}

/* Reads the arguments of probes (probe_operands.h). */
#include "probe_operands.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions.h"

/* ---- registers ---- */

/* The names of registers by number, for 8, 4, 2 and 1 bytes. Names from r8 on follow a
 * rule. */
static const char *const register_names[8][4] = {{"rax", "eax", "ax", "al"}, {"rcx", "ecx", "cx", "cl"},
        {"rdx", "edx", "dx", "dl"}, {"rbx", "ebx", "bx", "bl"}, {"rsp", "esp", "sp", "spl"},
        {"rbp", "ebp", "bp", "bpl"}, {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"}};
static const char *const high_names[4] = {"ah", "ch", "dh", "bh"};

/* The number of a general register; FXT_OPERAND_NONE: the name is not one's. */
static uint8_t register_number(const char *name, uint8_t *shift)
{
	unsigned number;
	int used = 0;

	*shift = 0;
	for (uint8_t i = 0; i < 8; i++)
		for (unsigned n = 0; n < 4; n++)
			if (strcmp(name, register_names[i][n]) == 0)
				return i;
	for (uint8_t i = 0; i < 4; i++)
		if (strcmp(name, high_names[i]) == 0) {
			*shift = 8;
			return i;
		}
	if (sscanf(name, "r%2u%n", &number, &used) == 1 && number >= 8 && number < 16 &&
	        (!name[used] || (strchr("dwbl", name[used]) && !name[used + 1])))
		return (uint8_t)number;
	return FXT_OPERAND_NONE;
}

/* ---- symbols ---- */

struct wanted_symbol {
	const char *name;
	uint64_t address;
	bool is_found, is_of_thread, is_ambiguous;
};

static bool symbol_compare(void *wanted, const GElf_Sym *symbol, const char *name)
{
	struct wanted_symbol *w = wanted;

	if (!name || strcmp(name, w->name) != 0)
		return true;
	w->is_ambiguous = w->is_found && w->address != symbol->st_value;
	w->is_found = true;
	w->address = symbol->st_value;
	w->is_of_thread = GELF_ST_TYPE(symbol->st_info) == STT_TLS;
	return !w->is_ambiguous;
}

/* Finds the address of the symbol of that name. False: there is none outside of the
 * threads' memory, or several symbols have the name, as static variables of different
 * sources may. */
static bool symbol_find(Elf *elf, const char *name, uint64_t *address)
{
	struct wanted_symbol wanted = {.name = name};

	fxt_file_symbols_each(elf, symbol_compare, &wanted);
	*address = wanted.address;
	return wanted.is_found && !wanted.is_ambiguous && !wanted.is_of_thread;
}

/* Reads a sum of numbers and of at most one symbol, such as 8+counter or counter-4. */
static bool operand_read_sum(Elf *elf, char *text, int64_t *value, bool *has_symbol)
{
	*value = 0;
	*has_symbol = false;
	while (*text) {
		bool is_minus = *text == '-';
		uint64_t address = 0;
		char *end, kept;

		if (*text == '+' || *text == '-')
			text++;
		if (*text >= '0' && *text <= '9') {
			uint64_t number = strtoull(text, &end, 0);

			*value += (int64_t)(is_minus ? -number : number);
			text = end;
			continue;
		}
		if (is_minus || *has_symbol)
			return false;
		end = text + strcspn(text, "+-");
		kept = *end;
		*end = 0;
		if (!symbol_find(elf, text, &address))
			return false;
		*end = kept;
		*value += (int64_t)address;
		*has_symbol = true;
		text = end;
	}
	return true;
}

/* ---- one argument ---- */

/* Reads "(%base,%index,scale)", without the first parenthesis. */
static bool operand_read_registers(char *text, struct fxt_operand *o, bool *is_relative)
{
	char *end = strchr(text, ')'), *comma;
	uint8_t shift;

	*is_relative = false;
	if (!end || end[1])
		return false;
	*end = 0;
	comma = strchr(text, ',');
	if (comma)
		*comma++ = 0;
	if (*text == '%' && strcmp(text + 1, "rip") == 0)
		*is_relative = true;
	else if (*text == '%' && (o->base = register_number(text + 1, &shift)) == FXT_OPERAND_NONE)
		return false;
	else if (*text && *text != '%')
		return false;
	if (!comma)
		return true;
	end = strchr(comma, ',');
	if (end)
		*end++ = 0;
	o->scale = end ? (uint8_t)atoi(end) : 1;
	return *comma == '%' && (o->index = register_number(comma + 1, &shift)) != FXT_OPERAND_NONE;
}

static bool operand_read_memory(Elf *elf, char *text, struct fxt_operand *o)
{
	char *registers = strchr(text, '(');
	bool is_of_thread = strncmp(text, "%fs:", 4) == 0, has_symbol, is_relative = false;

	if (is_of_thread)
		text += 4;
	if (registers) {
		*registers++ = 0;
		if (!operand_read_registers(registers, o, &is_relative))
			return false;
	}
	o->place = FXT_OPERAND_MEMORY;
	if (!operand_read_sum(elf, text, &o->value, &has_symbol))
		return false;
	if (is_of_thread) {
		o->base = FXT_OPERAND_THREAD;
		return !registers && !has_symbol;
	}
	if (has_symbol && o->base != FXT_OPERAND_NONE) { /* counter(%rax), at a fixed address */
		if (o->index != FXT_OPERAND_NONE)
			return false;
		o->index = o->base;
		o->scale = 1;
	}
	/* A symbol, with or without %rip, is a place in the module. */
	if (has_symbol)
		o->base = FXT_OPERAND_MODULE;
	return has_symbol || (!is_relative && registers);
}

static bool operand_read_place(Elf *elf, char *text, struct fxt_operand *o)
{
	bool has_symbol;
	unsigned number;
	int used = 0;

	if (*text == '$') {
		o->place = FXT_OPERAND_CONSTANT;
		if (!operand_read_sum(elf, text + 1, &o->value, &has_symbol))
			return false;
		o->base = has_symbol ? FXT_OPERAND_MODULE : FXT_OPERAND_NONE;
		return true;
	}
	if (sscanf(text, "%%xmm%2u%n", &number, &used) == 1 && number < 16 && !text[used]) {
		o->place = FXT_OPERAND_VECTOR;
		o->base = (uint8_t)number;
		return true;
	}
	if (*text == '%' && strncmp(text, "%fs:", 4) != 0) {
		o->place = FXT_OPERAND_REGISTER;
		o->base = register_number(text + 1, &o->shift);
		return o->base != FXT_OPERAND_NONE;
	}
	return operand_read_memory(elf, text, o);
}

static bool operand_read(Elf *elf, char *text, struct fxt_operand *o)
{
	int bytes, used = 0;
	bool is_float;

	if (sscanf(text, "%3d%n", &bytes, &used) != 1)
		return false;
	is_float = text[used] == 'f';
	text += used + is_float;
	o->type = is_float ? FXT_OPERAND_FLOAT : bytes < 0 ? FXT_OPERAND_SIGNED : FXT_OPERAND_UNSIGNED;
	o->bytes = (uint8_t)abs(bytes);
	if (*text != '@' || (o->bytes != 1 && o->bytes != 2 && o->bytes != 4 && o->bytes != 8))
		return false;
	if (is_float && o->bytes < 4)
		return false;
	return operand_read_place(elf, text + 1, o);
}

size_t fxt_operands_read(Elf *elf, const char *text, struct fxt_operand operands[FXT_PROBE_ARGUMENTS])
{
	size_t count = 0;

	for (;;) {
		struct fxt_operand *o = &operands[count];
		char one[256];
		size_t bytes;

		text += strspn(text, " ");
		bytes = strcspn(text, " ");
		if (!bytes || count == FXT_PROBE_ARGUMENTS)
			return count;
		*o = (struct fxt_operand){.bytes = 8, .base = FXT_OPERAND_NONE, .index = FXT_OPERAND_NONE};
		snprintf(one, sizeof(one), "%.*s", (int)bytes, text);
		if (bytes >= sizeof(one) || !operand_read(elf, one, o))
			o->place = FXT_OPERAND_UNKNOWN;
		count++;
		text += bytes;
	}
}

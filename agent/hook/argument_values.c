/* Reads and encodes values (argument_values.h), on the program's threads. It must never
 * fault, whatever the program passes. */
#include "argument_values.h"
#include <string.h>
#include "agent/base/safe_copy.h"
#include "said_names.h"
#include "writer/format/encode.h"

#define PAGE UINT64_C(4096)

/* The longest text, and the mark behind it. */
#define TEXT_ROOM (AGENT_ARGUMENT_TEXT_BYTES + 3)

/* ---- memory ---- */

/* True if a word lies in the page of the call's return address. Such a word can be read
 * without the kernel. The stack may end above this page: the user may ask for arguments
 * that the function does not have. */
static bool value_is_beside(const struct agent_registers *registers, uint64_t address)
{
	return (registers->frame - sizeof(address)) / PAGE == address / PAGE &&
	       address / PAGE == (address + sizeof(address) - 1) / PAGE;
}

/* Reads the value's word from its register, or by its steps from memory. False: the value
 * cannot be known. */
static bool value_word(
        const struct fxt_planned_value *value, const struct agent_registers *registers, uint64_t *word)
{
	/* The place of a register among those of SAVE_REGISTERS, by DWARF's number. */
	static const int8_t places[] = {8, 6, 7, -1, 5, 4, -1, -1, 3, 2, 1, 0};
	unsigned step = 0;

	if (!registers->general)
		return false;
	switch (value->source) {
	case FXT_VALUE_GENERAL:
		if (value->number >= sizeof(places) || places[value->number] < 0)
			return false;
		*word = registers->general[places[value->number]];
		break;
	case FXT_VALUE_VECTOR:
		if (value->number > 15)
			return false;
		*word = registers->vector[2 * value->number];
		break;
	case FXT_VALUE_STACK:
		*word = registers->frame + (uint64_t)(int64_t)value->offset;
		if (value->steps &&
		        value_is_beside(registers, *word + (uint64_t)(int64_t)value->offsets[0])) {
			memcpy(word, (const void *)(uintptr_t)(*word + (uint64_t)(int64_t)value->offsets[0]),
			        sizeof(*word));
			step = 1;
		}
		break;
	case FXT_VALUE_CONSTANT:
		*word = (uint64_t)(int64_t)value->offset;
		break;
	default:
		return false;
	}
	*word >>= value->shift;
	for (; step < value->steps; step++) {
		bool is_last = step + 1 == value->steps && value->type != FXT_VALUE_TEXT &&
		               value->type != FXT_VALUE_STRING;
		size_t bytes = is_last ? value->bytes : sizeof(*word);
		uint64_t address = *word + (uint64_t)(int64_t)value->offsets[step];

		*word = 0;
		if (agent_copy(address, word, bytes) != bytes)
			return false;
	}
	*word += (uint64_t)(int64_t)value->last;
	return true;
}

/* ---- texts ---- */

/* libstdc++'s std::string begins with its address and its length. */
static long text_read_string(char to[TEXT_ROOM], uint64_t address)
{
	char bytes[AGENT_ARGUMENT_TEXT_BYTES];
	uint64_t words[2];
	size_t count;

	if (agent_copy(address, words, sizeof(words)) != sizeof(words))
		return -1;
	count = words[1] < sizeof(bytes) ? words[1] : sizeof(bytes);
	if (count && agent_copy(words[0], bytes, count) != count)
		return -1;
	return (long)agent_text_put(to, TEXT_ROOM, bytes, count, count < words[1]);
}

/* ---- arguments ---- */

/* The name of a value: by the index of a string, or inline if there is none. */
static struct fxt_string value_name(
        const struct agent_argument_plan *of, const struct fxt_planned_value *value)
{
	const char *text = fxt_planned_texts(of->plan) + value->name;
	uint64_t *known = &of->names[value - fxt_planned_values(of->plan)];
	uint64_t now = load_relaxed(known), table = agent_said_texts();

	if (now >> 16 != table) {
		now = table << 16 | agent_said_text(text);
		store_relaxed(known, now);
	}
	return now & 0xffff ? fxt_string_index((uint32_t)(now & 0xffff)) : fxt_string_text(text);
}

static const char *value_enumerator(
        const struct agent_argument_plan *of, const struct fxt_planned_value *value, int64_t is)
{
	const struct fxt_planned_enumerator *list = fxt_planned_enumerators(of->plan) + value->enumerator;
	uint64_t mask = value->bytes < 8 ? (UINT64_C(1) << 8 * value->bytes) - 1 : UINT64_MAX;

	for (uint32_t i = 0; i < value->enumerators; i++)
		if ((((uint64_t)list[i].value ^ (uint64_t)is) & mask) == 0)
			return fxt_planned_texts(of->plan) + list[i].name;
	return NULL;
}

static int64_t value_signed(uint64_t word, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (int64_t)(word << unused) >> unused;
}

static double value_floating(uint64_t word, unsigned bytes)
{
	double wide;
	float narrow;

	memcpy(&wide, &word, sizeof(wide));
	memcpy(&narrow, &word, sizeof(narrow));
	return bytes == 4 ? (double)narrow : wide;
}

static struct fxt_argument value_number(struct fxt_string name, uint8_t type, unsigned bytes, uint64_t word)
{
	int64_t number = value_signed(word, bytes);

	switch (type) {
	case FXT_VALUE_BOOL:
		return fxt_argument_bool(name, (word & 0xff) != 0);
	case FXT_VALUE_FLOATING:
		return fxt_argument_double(name, value_floating(word, bytes));
	case FXT_VALUE_UNSIGNED:
		word = bytes < 8 ? word & ((UINT64_C(1) << 8 * bytes) - 1) : word;
		return bytes < 8 ? fxt_argument_uint32(name, (uint32_t)word)
		                 : fxt_argument_uint64(name, word);
	case FXT_VALUE_SIGNED:
	case FXT_VALUE_ENUM:
		return bytes < 8 ? fxt_argument_int32(name, (int32_t)number)
		                 : fxt_argument_int64(name, number);
	default:
		return fxt_argument_pointer(name, word);
	}
}

size_t agent_argument_encode(const struct agent_argument_plan *of, const struct fxt_planned_value *value,
        const struct agent_registers *registers, uint64_t *to, size_t room)
{
	struct fxt_string name = value_name(of, value);
	struct fxt_argument argument;
	char text[TEXT_ROOM];
	const char *enumerator;
	uint64_t word;
	size_t words;
	long bytes;
	bool is_text = value->type == FXT_VALUE_TEXT || value->type == FXT_VALUE_STRING;

	if (!value_word(value, registers, &word) || (!is_text && !value->bytes)) {
		argument = fxt_argument_string(name, fxt_string_inline("?", 1));
	} else if (is_text && word) {
		bytes = value->type == FXT_VALUE_TEXT ? agent_copy_text(word, value->limit, text, TEXT_ROOM)
		                                      : text_read_string(text, word);
		argument = fxt_argument_string(name, bytes < 0 ? fxt_string_inline("?", 1)
		                                     : bytes   ? fxt_string_inline(text, (size_t)bytes)
		                                               : fxt_string_empty());
	} else if (value->type == FXT_VALUE_ENUM &&
	           (enumerator = value_enumerator(of, value, (int64_t)word))) {
		argument = fxt_argument_string(name, fxt_string_text(enumerator));
	} else {
		argument = value_number(name, value->type, value->bytes, word);
	}
	words = fxt_arguments_words(&argument, 1);
	if (words > room)
		return 0;
	fxt_write_arguments(to, &argument, 1);
	return words;
}

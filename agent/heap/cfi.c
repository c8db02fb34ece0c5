/* Reads unwind tables and computes the rules for one instruction (cfi.h). Runs on the
 * thread that walks its stack, in hooks and handlers. It must never read outside a module's
 * readable segments, take a lock, allocate or change errno. */
#include "cfi.h"
#include <string.h>
#include "agent/process/modules.h"
#include "writer/shared/atomics.h"
#include "writer/shared/search.h"

/* ---- reading ---- */

/* Bytes of a table. A read beyond the end gives 0 and sets `failed`. */
struct reader {
	uint64_t at, end;
	bool failed;
};

static uint64_t read_bytes(struct reader *reader, unsigned bytes)
{
	uint64_t value = 0;

	if (reader->failed || reader->end - reader->at < bytes) {
		reader->failed = true;
		return 0;
	}
	__builtin_memcpy(&value, (const void *)(uintptr_t)reader->at, bytes <= 8 ? bytes : 8);
	reader->at += bytes;
	return value;
}

static int64_t read_signed(struct reader *reader, unsigned bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (int64_t)(read_bytes(reader, bytes) << unused) >> unused;
}

static void read_skip(struct reader *reader, uint64_t bytes)
{
	if (reader->failed || reader->end - reader->at < bytes)
		reader->failed = true;
	else
		reader->at += bytes;
}

/* LEB128. Bits beyond 64 are dropped. */
static uint64_t read_leb(struct reader *reader, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = read_bytes(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static uint64_t read_unsigned_leb(struct reader *reader)
{
	return read_leb(reader, false);
}

static int64_t read_signed_leb(struct reader *reader)
{
	return (int64_t)read_leb(reader, true);
}

#define ENCODING_OMITTED  0xff
#define ENCODING_FORMAT   0x0f
#define ENCODING_RELATIVE 0x70
#define ENCODING_TO_PC    0x10

static uint64_t read_encoded(struct reader *reader, unsigned encoding)
{
	uint64_t place = reader->at, value = 0;

	switch (encoding & ENCODING_FORMAT) {
	case 0x00: /* absptr */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		value = read_bytes(reader, 8);
		break;
	case 0x01:
		value = read_unsigned_leb(reader);
		break;
	case 0x02:
		value = read_bytes(reader, 2);
		break;
	case 0x03:
		value = read_bytes(reader, 4);
		break;
	case 0x09:
		value = (uint64_t)read_signed_leb(reader);
		break;
	case 0x0a:
		value = (uint64_t)read_signed(reader, 2);
		break;
	case 0x0b:
		value = (uint64_t)read_signed(reader, 4);
		break;
	default:
		reader->failed = true;
	}
	if ((encoding & ENCODING_RELATIVE) == ENCODING_TO_PC)
		return value + place;
	reader->failed = reader->failed || (encoding & ENCODING_RELATIVE);
	return value;
}

/* ---- finding ---- */

/* An entry of the search table in .eh_frame_hdr. */
struct entry {
	int32_t start, description; /* from the header */
};

/* The description of one function (FDE), with the part it shares with others (CIE). */
struct description {
	uint64_t start, bytes; /* of the code */
	uint64_t code_unit;
	int64_t data_unit;
	unsigned return_register;
	bool is_signal;
	uint8_t encoding;          /* of addresses */
	struct reader common, own; /* instructions */
};

/* Reads a record of .eh_frame: its contents. */
static struct reader cfi_open(const struct agent_module_tables *tables, uint64_t address)
{
	struct reader reader = {address, agent_module_readable_end(tables, address), false};
	uint64_t bytes = read_bytes(&reader, 4);

	if (bytes == 0 || bytes >= 0xfffffff0 || reader.end - reader.at < bytes)
		reader.failed = true;
	reader.end = reader.at + bytes;
	return reader;
}

static bool cfi_read_common(const struct agent_module_tables *tables, uint64_t address, struct description *d,
        bool *has_augmentation)
{
	struct reader reader = cfi_open(tables, address);
	uint64_t id = read_bytes(&reader, 4), version = read_bytes(&reader, 1);
	struct reader letters = reader, data;
	uint64_t bytes;

	d->encoding = 0;
	while (read_bytes(&reader, 1) && !reader.failed) {
	}
	if (version >= 4)
		read_skip(&reader, 2);
	d->code_unit = read_unsigned_leb(&reader);
	d->data_unit = read_signed_leb(&reader);
	d->return_register = (unsigned)(version == 1 ? read_bytes(&reader, 1) : read_unsigned_leb(&reader));
	*has_augmentation = read_bytes(&letters, 1) == 'z';
	bytes = *has_augmentation ? read_unsigned_leb(&reader) : 0;
	data = reader;
	read_skip(&reader, bytes);
	data.end = reader.at;
	for (uint64_t letter; *has_augmentation && (letter = read_bytes(&letters, 1)) && !letters.failed;) {
		if (letter == 'R')
			d->encoding = (uint8_t)read_bytes(&data, 1);
		else if (letter == 'P')
			read_encoded(&data, read_bytes(&data, 1) & ENCODING_FORMAT);
		else if (letter == 'L')
			read_skip(&data, 1);
		else if (letter == 'S')
			d->is_signal = true;
		else if (letter != 'B' && letter != 'G')
			break;
	}
	d->common = reader;
	return !reader.failed && !data.failed && id == 0 && version != 0 && version <= 4;
}

static bool cfi_read_description(
        const struct agent_module_tables *tables, uint64_t address, struct description *d)
{
	struct reader reader = cfi_open(tables, address);
	uint64_t place = reader.at, common = place - read_bytes(&reader, 4);
	bool has_augmentation;

	*d = (struct description){0};
	/* In one segment, so that the bytes between them can be read too. */
	if (reader.failed ||
	        agent_module_readable_end(tables, common) != agent_module_readable_end(tables, address) ||
	        !cfi_read_common(tables, common, d, &has_augmentation))
		return false;
	d->start = read_encoded(&reader, d->encoding);
	d->bytes = read_encoded(&reader, d->encoding & ENCODING_FORMAT);
	if (has_augmentation)
		read_skip(&reader, read_unsigned_leb(&reader));
	d->own = reader;
	return !reader.failed && d->code_unit < 256 && d->data_unit > -256 && d->data_unit < 256 &&
	       d->return_register == ARCH_RETURN;
}

static bool cfi_covers(const struct description *d, uint64_t address)
{
	return address - d->start < d->bytes;
}

/* Looks at one description after the other: linkers write no search table if they do not
 * understand the descriptions of some function. */
static bool cfi_search(
        const struct agent_module_tables *tables, uint64_t at, uint64_t address, struct description *d)
{
	for (;;) {
		struct reader reader = cfi_open(tables, at);

		if (reader.failed)
			return false;
		if (cfi_read_description(tables, at, d) && cfi_covers(d, address))
			return true;
		at = reader.end;
	}
}

/* The description of the function that has that address in its code. */
static bool cfi_find_description(uint64_t address, struct agent_module_tables *tables, struct description *d)
{
	struct reader reader;
	const struct entry *entries;
	uint32_t encodings, count;
	uint64_t frames;

	if (!agent_module_find_tables(address, tables))
		return false;
	reader = (struct reader){tables->unwind, agent_module_readable_end(tables, tables->unwind), false};
	/* Version, and encodings of the fields that follow. */
	encodings = (uint32_t)read_bytes(&reader, 4);
	frames = read_encoded(&reader, encodings >> 8 & 0xff);
	if (reader.failed || (encodings & 0xff) != 1)
		return false;
	/* A count of 4 bytes, and entries relative to the table's header. */
	if (encodings >> 16 != 0x3b03)
		return cfi_search(tables, frames, address, d);
	count = (uint32_t)read_bytes(&reader, 4);
	entries = (const struct entry *)(uintptr_t)reader.at;
	if (reader.failed || count > (reader.end - reader.at) / sizeof(*entries))
		return false;
	int64_t wanted = (int64_t)(address - tables->unwind);
	uint64_t behind = partition_point(i, count, entries[i].start <= wanted);

	return behind > 0 &&
	       cfi_read_description(
	               tables, tables->unwind + (uint64_t)(int64_t)entries[behind - 1].description, d) &&
	       cfi_covers(d, address);
}

uint64_t agent_cfi_start(uint64_t address)
{
	struct agent_module_tables tables;
	struct description d;

	return cfi_find_description(address, &tables, &d) ? d.start : 0;
}

/* ---- the rules of one instruction ---- */

#define REMEMBERED 4 /* compilers need one */

struct rows {
	struct row {
		struct agent_cfi_rule address, registers[ARCH_REGISTERS];
	} now, initial, remembered[REMEMBERED];
	unsigned depth;
};

/* A rule for a register that no walk uses goes nowhere. */
static void cfi_rule(
        struct row *row, struct reader *reader, uint64_t number, enum agent_cfi_kind kind, int64_t value)
{
	if (value != (int32_t)value)
		reader->failed = true;
	else if (number < ARCH_REGISTERS)
		row->registers[number] = (struct agent_cfi_rule){(int32_t)value, (uint8_t)kind, 0};
}

static void cfi_rule_of_address(struct row *row, struct reader *reader, uint64_t base, int64_t offset)
{
	if (offset != (int32_t)offset || base >= ARCH_REGISTERS)
		reader->failed = true;
	else
		row->address = (struct agent_cfi_rule){(int32_t)offset, AGENT_CFI_REGISTER, (uint8_t)base};
}

/* The place of the expression that comes next, which is skipped. */
static int64_t cfi_expression(struct reader *reader, uint64_t table)
{
	uint64_t place = reader->at;

	read_skip(reader, read_unsigned_leb(reader));
	return (int64_t)(place - table);
}

static bool cfi_execute_extended(const struct description *d, struct rows *rows, struct reader *reader,
        uint64_t operation, uint64_t table)
{
	struct row *row = &rows->now;
	uint64_t number;

	switch (operation) {
	case 0x00: /* nop */
	/* AARCH64_negate_ra_state: return addresses are stripped of signatures anyway. */
	case 0x2d:
		return true;
	case 0x05: /* offset_extended */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_AT_CFA,
		        (int64_t)read_unsigned_leb(reader) * d->data_unit);
		return true;
	case 0x06: /* restore_extended */
		number = read_unsigned_leb(reader);
		if (number < ARCH_REGISTERS)
			row->registers[number] = rows->initial.registers[number];
		return true;
	case 0x07: /* undefined */
		cfi_rule(row, reader, read_unsigned_leb(reader), AGENT_CFI_UNDEFINED, 0);
		return true;
	case 0x08: /* same_value */
		cfi_rule(row, reader, read_unsigned_leb(reader), AGENT_CFI_SAME, 0);
		return true;
	case 0x09: /* register */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_REGISTER, (int64_t)read_unsigned_leb(reader));
		return true;
	case 0x0a: /* remember_state */
		if (rows->depth == REMEMBERED)
			return false;
		rows->remembered[rows->depth++] = *row;
		return true;
	case 0x0b: /* restore_state */
		if (rows->depth == 0)
			return false;
		*row = rows->remembered[--rows->depth];
		return true;
	case 0x0c: /* def_cfa */
		number = read_unsigned_leb(reader);
		cfi_rule_of_address(row, reader, number, (int64_t)read_unsigned_leb(reader));
		return true;
	case 0x0d: /* def_cfa_register */
		cfi_rule_of_address(row, reader, read_unsigned_leb(reader), row->address.value);
		return true;
	case 0x0e: /* def_cfa_offset */
		cfi_rule_of_address(row, reader, row->address.base, (int64_t)read_unsigned_leb(reader));
		return true;
	case 0x0f: /* def_cfa_expression */
		row->address = (struct agent_cfi_rule){
		        (int32_t)cfi_expression(reader, table), AGENT_CFI_COMPUTED, 0};
		return true;
	case 0x10: /* expression */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_AT, cfi_expression(reader, table));
		return true;
	case 0x11: /* offset_extended_sf */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_AT_CFA, read_signed_leb(reader) * d->data_unit);
		return true;
	case 0x12: /* def_cfa_sf */
		number = read_unsigned_leb(reader);
		cfi_rule_of_address(row, reader, number, read_signed_leb(reader) * d->data_unit);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		cfi_rule_of_address(row, reader, row->address.base, read_signed_leb(reader) * d->data_unit);
		return true;
	case 0x14: /* val_offset */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_FROM_CFA,
		        (int64_t)read_unsigned_leb(reader) * d->data_unit);
		return true;
	case 0x15: /* val_offset_sf */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_FROM_CFA, read_signed_leb(reader) * d->data_unit);
		return true;
	case 0x16: /* val_expression */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_COMPUTED, cfi_expression(reader, table));
		return true;
	case 0x2e: /* GNU_args_size */
		read_unsigned_leb(reader);
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		number = read_unsigned_leb(reader);
		cfi_rule(row, reader, number, AGENT_CFI_AT_CFA,
		        -(int64_t)read_unsigned_leb(reader) * d->data_unit);
		return true;
	default:
		return false;
	}
}

/* Executes instructions up to the row for the code at that address. */
static bool cfi_execute(const struct description *d, struct rows *rows, struct reader reader,
        uint64_t address, uint64_t table)
{
	uint64_t location = d->start;

	while (reader.at < reader.end && !reader.failed && location <= address) {
		uint64_t operation = read_bytes(&reader, 1), low = operation & 0x3f;

		switch (operation & 0xc0) {
		case 0x40: /* advance_loc */
			location += low * d->code_unit;
			break;
		case 0x80: /* offset */
			cfi_rule(&rows->now, &reader, low, AGENT_CFI_AT_CFA,
			        (int64_t)read_unsigned_leb(&reader) * d->data_unit);
			break;
		case 0xc0: /* restore */
			if (low < ARCH_REGISTERS)
				rows->now.registers[low] = rows->initial.registers[low];
			break;
		default:
			if (operation == 0x01) /* set_loc */
				location = read_encoded(&reader, d->encoding);
			else if (operation >= 0x02 && operation <= 0x04) /* advance_loc1, 2, 4 */
				location += read_bytes(&reader, 1u << (operation - 2)) * d->code_unit;
			else if (!cfi_execute_extended(d, rows, &reader, operation, table))
				return false;
		}
	}
	return !reader.failed;
}

bool agent_cfi_find(uint64_t address, struct agent_cfi *cfi)
{
	struct agent_module_tables tables;
	struct description d;
	struct rows rows;

	if (!cfi_find_description(address, &tables, &d))
		return false;
	memset(&rows.now, 0, sizeof(rows.now));
	rows.depth = 0;
	/* The rules that every row of the function starts from: first none, then those of
	 * the shared part. */
	rows.initial = rows.now;
	if (!cfi_execute(&d, &rows, d.common, d.start, tables.unwind))
		return false;
	rows.initial = rows.now;
	if (!cfi_execute(&d, &rows, d.own, address, tables.unwind))
		return false;
	cfi->table = tables.unwind;
	cfi->end = d.own.end > d.common.end ? d.own.end : d.common.end;
	cfi->is_signal = d.is_signal;
	cfi->address = rows.now.address;
	__builtin_memcpy(cfi->registers, rows.now.registers, sizeof(cfi->registers));
	return cfi->address.kind != AGENT_CFI_SAME;
}

/* ---- expressions ---- */

#define DEPTH      16
#define OPERATIONS 256 /* a loop ends after this many */

struct stack {
	struct agent_cfi_value values[DEPTH];
	unsigned depth;
	bool failed;
};

static void stack_push(struct stack *stack, struct agent_cfi_value value)
{
	if (stack->depth == DEPTH)
		stack->failed = true;
	else
		stack->values[stack->depth++] = value;
}

static void stack_push_number(struct stack *stack, uint64_t number)
{
	stack_push(stack, (struct agent_cfi_value){number, AGENT_CFI_NUMBER, false});
}

static struct agent_cfi_value stack_pick(struct stack *stack, uint64_t below)
{
	if (below < stack->depth)
		return stack->values[stack->depth - 1 - below];
	stack->failed = true;
	return (struct agent_cfi_value){0};
}

static struct agent_cfi_value stack_pop(struct stack *stack)
{
	struct agent_cfi_value value = stack_pick(stack, 0);

	stack->depth -= !stack->failed;
	return value;
}

static bool is_number(struct agent_cfi_value value)
{
	return value.base == AGENT_CFI_NUMBER && !value.is_loaded;
}

static uint64_t stack_pop_number(struct stack *stack)
{
	struct agent_cfi_value value = stack_pop(stack);

	stack->failed = stack->failed || !is_number(value);
	return value.offset;
}

static void stack_load(struct stack *stack, const struct agent_cfi_source *source)
{
	struct agent_cfi_value value = stack_pop(stack);

	if (is_number(value))
		stack->failed =
		        stack->failed || !source->load || !source->load(source, value.offset, &value.offset);
	else if (value.is_loaded)
		stack->failed = true;
	else
		value.is_loaded = true;
	stack_push(stack, value);
}

/* Adds a number to a possible address on the stack. */
static void stack_add(struct stack *stack, uint64_t number)
{
	struct agent_cfi_value value = stack_pop(stack);

	stack->failed = stack->failed || value.is_loaded;
	value.offset += number;
	stack_push(stack, value);
}

static void stack_calculate(struct stack *stack, uint64_t operation)
{
	uint64_t b = stack_pop_number(stack), a = stack_pop_number(stack);
	int64_t left = (int64_t)a, right = (int64_t)b;

	switch (operation) {
	case 0x1a:
		a &= b;
		break;
	case 0x1e:
		a *= b;
		break;
	case 0x21:
		a |= b;
		break;
	case 0x24:
		a = b < 64 ? a << b : 0;
		break;
	case 0x25:
		a = b < 64 ? a >> b : 0;
		break;
	case 0x26:
		a = (uint64_t)(left >> (b < 63 ? b : 63));
		break;
	case 0x27:
		a ^= b;
		break;
	case 0x29:
		a = left == right;
		break;
	case 0x2a:
		a = left >= right;
		break;
	case 0x2b:
		a = left > right;
		break;
	case 0x2c:
		a = left <= right;
		break;
	case 0x2d:
		a = left < right;
		break;
	case 0x2e:
		a = left != right;
		break;
	default:
		stack->failed = true;
	}
	stack_push_number(stack, a);
}

static void stack_push_register(
        struct stack *stack, const struct agent_cfi_source *source, uint64_t number, int64_t offset)
{
	struct agent_cfi_value value = {0};

	if (number >= ARCH_REGISTERS || !source->get(source, (unsigned)number, &value))
		stack->failed = true;
	stack_push(stack, value);
	stack_add(stack, (uint64_t)offset);
}

static void stack_operate(struct stack *stack, struct reader *reader, const struct agent_cfi_source *source,
        uint64_t operation, uint64_t begin)
{
	struct agent_cfi_value value, other;
	int64_t distance;
	uint64_t number;

	switch (operation) {
	case 0x03: /* addr */
	case 0x0e: /* const8u */
	case 0x0f:
		stack_push_number(stack, read_bytes(reader, 8));
		return;
	case 0x06: /* deref */
		stack_load(stack, source);
		return;
	case 0x08: /* const1u */
	case 0x0a:
	case 0x0c:
		stack_push_number(stack, read_bytes(reader, 1u << (operation - 0x08) / 2));
		return;
	case 0x09: /* const1s */
	case 0x0b:
	case 0x0d:
		stack_push_number(stack, (uint64_t)read_signed(reader, 1u << (operation - 0x09) / 2));
		return;
	case 0x10: /* constu */
		stack_push_number(stack, read_unsigned_leb(reader));
		return;
	case 0x11: /* consts */
		stack_push_number(stack, (uint64_t)read_signed_leb(reader));
		return;
	case 0x12: /* dup */
		stack_push(stack, stack_pick(stack, 0));
		return;
	case 0x13: /* drop */
		stack_pop(stack);
		return;
	case 0x14: /* over */
		stack_push(stack, stack_pick(stack, 1));
		return;
	case 0x15: /* pick */
		stack_push(stack, stack_pick(stack, read_bytes(reader, 1)));
		return;
	case 0x16: /* swap */
		value = stack_pop(stack);
		other = stack_pop(stack);
		stack_push(stack, value);
		stack_push(stack, other);
		return;
	case 0x1c: /* minus */
		number = stack_pop_number(stack);
		stack_add(stack, -number);
		return;
	case 0x1f: /* neg */
		stack_push_number(stack, -stack_pop_number(stack));
		return;
	case 0x20: /* not */
		stack_push_number(stack, ~stack_pop_number(stack));
		return;
	case 0x22: /* plus */
		value = stack_pop(stack);
		if (is_number(value)) {
			stack_add(stack, value.offset);
		} else {
			number = stack_pop_number(stack);
			stack_push(stack, value);
			stack_add(stack, number);
		}
		return;
	case 0x23: /* plus_uconst */
		stack_add(stack, read_unsigned_leb(reader));
		return;
	case 0x28: /* bra */
	case 0x2f: /* skip */
		distance = read_signed(reader, 2);
		if (operation == 0x28 && !stack_pop_number(stack))
			return;
		if (distance < (int64_t)(begin - reader->at) ||
		        distance > (int64_t)(reader->end - reader->at))
			reader->failed = true;
		else
			reader->at += (uint64_t)distance;
		return;
	case 0x92: /* bregx */
		number = read_unsigned_leb(reader);
		stack_push_register(stack, source, number, read_signed_leb(reader));
		return;
	case 0x96: /* nop */
		return;
	}
	if (operation >= 0x30 && operation < 0x50) /* lit0 ... */
		stack_push_number(stack, operation - 0x30);
	else if (operation >= 0x70 && operation < 0x90) /* breg0 ... */
		stack_push_register(stack, source, operation - 0x70, read_signed_leb(reader));
	else
		stack_calculate(stack, operation);
}

bool agent_cfi_compute(const struct agent_cfi *cfi, int32_t expression, const struct agent_cfi_value *frame,
        const struct agent_cfi_source *source, struct agent_cfi_value *result)
{
	struct reader reader = {cfi->table + (uint64_t)(int64_t)expression, cfi->end, false};
	uint64_t bytes = read_unsigned_leb(&reader), begin = reader.at;
	struct stack stack = {.depth = 0};

	if (reader.failed || reader.end - reader.at < bytes)
		return false;
	reader.end = reader.at + bytes;
	if (frame)
		stack_push(&stack, *frame);
	for (unsigned i = 0; i < OPERATIONS && reader.at < reader.end && !reader.failed && !stack.failed; i++)
		stack_operate(&stack, &reader, source, read_bytes(&reader, 1), begin);
	*result = stack_pop(&stack);
	return !reader.failed && !stack.failed && reader.at == reader.end;
}

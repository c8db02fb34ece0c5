/* Reads tables of landing pads (landing.h). A damaged file gives fewer of them. */
#include "landing.h"
#include <dwarf.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include "functions.h"

#define LANDING_PADS (1u << 22) /* the most of a file */

/* A part of the file's memory. `at` is NULL once something was read behind the end. */
struct bytes {
	const uint8_t *at;
	size_t left;
	uint64_t address;
};

static struct bytes bytes_of(Elf *elf, uint64_t address)
{
	struct bytes b = {.address = address};

	b.at = fxt_file_at(elf, address, &b.left);
	return b;
}

static void bytes_skip(struct bytes *b, size_t count)
{
	if (!b->at || count > b->left) {
		b->at = NULL;
		return;
	}
	b->at += count;
	b->left -= count;
	b->address += count;
}

static uint64_t bytes_fixed(struct bytes *b, size_t count)
{
	const uint8_t *from = b->at;
	uint64_t value = 0;

	bytes_skip(b, count);
	if (b->at)
		memcpy(&value, from, count);
	return value;
}

static uint64_t bytes_leb128(struct bytes *b, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = bytes_fixed(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (b->at && byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

/* A value in one of the encodings of unwind tables. */
static uint64_t bytes_encoded(struct bytes *b, uint8_t encoding)
{
	uint64_t place = b->address, value;

	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = bytes_fixed(b, 8);
		break;
	case DW_EH_PE_udata2:
		value = bytes_fixed(b, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)bytes_fixed(b, 2);
		break;
	case DW_EH_PE_udata4:
		value = bytes_fixed(b, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)bytes_fixed(b, 4);
		break;
	default:
		value = bytes_leb128(b, (encoding & 0xf) == DW_EH_PE_sleb128);
	}
	if (value && (encoding & 0x70) == DW_EH_PE_pcrel)
		value += place;
	return value;
}

/* ---- entries ---- */

struct encodings {
	uint8_t of_code, of_table;
};

/* Reads the encodings in an entry's common part. False: the entry has no landing pads. */
static bool landing_read_common(Elf *elf, uint64_t address, struct encodings *e)
{
	struct bytes b = bytes_of(elf, address);
	const char *letters;
	bool has_table = false;
	size_t bytes;

	*e = (struct encodings){DW_EH_PE_absptr, DW_EH_PE_omit};
	bytes_skip(&b, 8);
	bytes_skip(&b, 1);
	letters = (const char *)b.at;
	if (!letters || !(bytes = strnlen(letters, b.left)) || bytes == b.left || letters[0] != 'z')
		return false;
	bytes_skip(&b, bytes + 1);
	bytes_leb128(&b, false);
	bytes_leb128(&b, true);
	bytes_leb128(&b, false);
	bytes_leb128(&b, false);
	for (letters++; *letters && b.at; letters++) {
		if (*letters == 'R') {
			e->of_code = (uint8_t)bytes_fixed(&b, 1);
		} else if (*letters == 'L') {
			e->of_table = (uint8_t)bytes_fixed(&b, 1);
			has_table = true;
		} else if (*letters == 'P') {
			bytes_encoded(&b, (uint8_t)bytes_fixed(&b, 1));
		}
	}
	return b.at && has_table;
}

struct landing {
	Elf *elf;
	void (*found)(void *context, uint64_t address);
	void *context;
	uint32_t left; /* the number of pads still to read: all entries of a damaged file
	                * may share one table */
};

/* The table of one function: its call sites, each with a landing pad or 0. */
static void landing_read_table(struct landing *l, uint64_t table, uint64_t function)
{
	struct bytes b = bytes_of(l->elf, table);
	uint64_t base = function, length, end;
	uint8_t encoding = (uint8_t)bytes_fixed(&b, 1);

	if (encoding != DW_EH_PE_omit)
		base = bytes_encoded(&b, encoding);
	if ((uint8_t)bytes_fixed(&b, 1) != DW_EH_PE_omit)
		bytes_leb128(&b, false);
	encoding = (uint8_t)bytes_fixed(&b, 1);
	length = bytes_leb128(&b, false);
	end = b.address + length;
	while (b.at && b.address < end && l->left) {
		uint64_t pad;

		bytes_encoded(&b, encoding);
		bytes_encoded(&b, encoding);
		pad = bytes_encoded(&b, encoding);
		bytes_leb128(&b, false);
		l->left--;
		if (b.at && pad)
			l->found(l->context, base + pad);
	}
}

static void landing_read_entry(void *of, uint64_t start, uint64_t entry)
{
	struct landing *l = of;
	struct bytes b = bytes_of(l->elf, entry);
	struct encodings encodings;
	uint64_t common, table;

	bytes_skip(&b, 4);
	common = b.address;
	common -= (uint32_t)bytes_fixed(&b, 4);
	if (!b.at || !landing_read_common(l->elf, common, &encodings))
		return;
	bytes_encoded(&b, encodings.of_code);
	bytes_encoded(&b, encodings.of_code & 0xf);
	bytes_leb128(&b, false);
	table = bytes_encoded(&b, encodings.of_table);
	if (b.at && table)
		landing_read_table(l, table, start);
}

void fxt_landing_each(Elf *elf, void (*found)(void *context, uint64_t address), void *context)
{
	struct landing l = {elf, found, context, LANDING_PADS};

	fxt_unwind_entries_each(elf, landing_read_entry, &l);
}

#include "strings.h"
#include "valid.h"
#include <string.h>
#include "writer/format/digits.h"
#include "writer/shared/failpoint.h"
#include "writer/format/encode.h"
#include "rolling.h"

/* ---- durable records ---- */

bool fxt_durable_write(struct fxt_engine *e, const uint64_t *record, uint64_t words, bool last_eighth)
{
	uint64_t size = e->layout.durable_bytes;

	FXT_ASSERT_LOCKED(e);
	if (e->mode == FXT_ONESHOT) {
		uint64_t *position = fxt_rolling_durable_reserve(e, words);

		if (!position)
			return false;
		memcpy(position, record, words * 8);
		fxt_rolling_durable_commit(e, position, words);
		return true;
	}
	if (e->durable_end + words * 8 > (last_eighth ? size : size - size / 8))
		return false;
	memcpy(e->buffer + sizeof(*e->header) + e->durable_end, record, words * 8);
	e->durable_end += words * 8;
	FXT_FAIL_POINT("durable: written");
	/* Release: the end is published after the bytes, so that a crash leaves no hole. */
	store_release(&e->header->durable_data_end, e->durable_end);
	return true;
}

uint16_t fxt_string_register(struct fxt_engine *e, const char *text, uint64_t bytes)
{
	FXT_ASSERT_LOCKED(e);
	uint64_t record[1 + FXT_REGISTERED_BYTES / 8];
	size_t words;

	if (e->next_string >= FXT_STRING_LOCAL_FIRST)
		return 0;
	words = fxt_put_string(record, sizeof(record) / 8, e->next_string, text, bytes);
	if (!words || !fxt_durable_write(e, record, words, false))
		return 0;
	return (uint16_t)e->next_string++;
}

/* ---- placeholders ---- */

size_t fxt_placeholder(char text[FXT_PLACEHOLDER_BYTES], uint64_t address, uint32_t module)
{
	static const char before[] = "{{{pc:0x";
	size_t length = sizeof(before) - 1;

	memcpy(text, before, length);
	length += fxt_put_digits(text + length, address, 16);
	text[length++] = ':';
	length += fxt_put_digits(text + length, module, 10);
	memcpy(text + length, "}}}", 3);
	return length + 3;
}

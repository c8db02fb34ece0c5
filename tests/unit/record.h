/*
 * Helpers of the encoders' tests: a record is compared word by word with literals worked
 * out by hand from the text of the format, in room that shows every word written too much.
 *
 * The macros take a call of an encoder that names its room `dst, capacity`, and make it
 * several times.
 */
#ifndef FXT_TESTS_UNIT_RECORD_H
#define FXT_TESTS_UNIT_RECORD_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "writer/format/encode.h"

#define ROOM_WORDS ((size_t)8192)
#define ROOM_EDGE  ((size_t)16)
#define UNTOUCHED  UINT64_C(0xc0ffee5ca1ab1e55)

static uint64_t room[ROOM_EDGE + ROOM_WORDS + ROOM_EDGE];

static uint64_t *fresh_room(void)
{
	for (size_t i = 0; i < sizeof(room) / sizeof(*room); i++)
		room[i] = UNTOUCHED;
	return room + ROOM_EDGE;
}

/* `got` is what the call returned; the `words` words of the room may have changed, no
 * other. */
static void check_size(const char *call, size_t got, size_t words)
{
	if (got != words)
		fail_msg("%s\nreturned %zu, not %zu", call, got, words);
	for (size_t i = 0; i < sizeof(room) / sizeof(*room); i++)
		if ((i < ROOM_EDGE || i >= ROOM_EDGE + words) && room[i] != UNTOUCHED)
			fail_msg("%s\nwrote outside of its record, word %zd", call, (ssize_t)(i - ROOM_EDGE));
}

static void check_word(const char *call, size_t i, uint64_t expected)
{
	if (room[ROOM_EDGE + i] != expected)
		fail_msg("%s\nword %zu is 0x%016" PRIx64 ", not 0x%016" PRIx64, call, i, room[ROOM_EDGE + i],
		        expected);
}

/* The call is refused, whatever the room. */
#define REFUSED(call)                         \
	do {                                  \
		uint64_t *dst = fresh_room(); \
		size_t capacity = ROOM_WORDS; \
		check_size(#call, (call), 0); \
	} while (0)

/* The call needs `words` words: it is refused with one less, and writes no more with
 * plenty. */
#define SIZED(call, words)                                                \
	do {                                                              \
		uint64_t *dst = fresh_room();                             \
		size_t capacity = (words)-1;                              \
		check_size(#call ", one word short", (call), 0);          \
		capacity = ROOM_WORDS;                                    \
		check_size(#call ", in plenty of room", (call), (words)); \
		dst = fresh_room();                                       \
		capacity = (words);                                       \
		check_size(#call, (call), (words));                       \
	} while (0)

/* The call writes exactly these words. */
#define RECORD(call, ...)                                                         \
	do {                                                                      \
		const uint64_t expected[] = {__VA_ARGS__};                        \
		SIZED(call, sizeof(expected) / sizeof(*expected));                \
		for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) \
			check_word(#call, i, expected[i]);                        \
	} while (0)

#endif

/*
 * The layout and the header of the trace buffer, against values worked out by hand from the
 * rules of Fuchsia's engine and the checks of its manager.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "writer/shared/buffer.h"

static void sizes(void **state)
{
	static const struct {
		uint64_t total, durable, rolling;
	} table[] = {
	        {4096, 256, 1856},
	        {8192, 512, 3776},
	        {UINT64_C(1) << 20, 65536, 491456},
	        {UINT64_C(4) << 20, 262144, 1966016},
	        {UINT64_C(16) << 20, 1048576, 7864256},
	        {UINT64_C(64) << 20, 1048576, 33030080},
	        {UINT64_C(1) << 32, 1048576, 2146959296},
	};
	struct fxt_buffer_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t total = table[i].total;

		assert_int_equal(fxt_buffer_layout(FXT_ONESHOT, total, &layout), 0);
		assert_int_equal(layout.durable_bytes, 0);
		assert_int_equal(layout.rolling_bytes, total - 128);
		assert_int_equal(layout.rolling_offset[0], 128);
		assert_int_equal(layout.rolling_offset[1], total);
		for (enum fxt_buffering_mode mode = FXT_CIRCULAR; mode <= FXT_STREAMING; mode++) {
			assert_int_equal(fxt_buffer_layout(mode, total, &layout), 0);
			assert_int_equal(layout.durable_bytes, table[i].durable);
			assert_int_equal(layout.rolling_bytes, table[i].rolling);
			assert_int_equal(layout.rolling_offset[0], 128 + table[i].durable);
			assert_int_equal(layout.rolling_offset[1], 128 + table[i].durable + table[i].rolling);
		}
	}
}

/* Whatever the size: the parts are whole words and fill the buffer. */
static void parts_fill_the_buffer(void **state)
{
	struct fxt_buffer_layout layout;

	(void)state;
	for (uint64_t total = 4096; total <= UINT64_C(64) << 20; total += 4096) {
		assert_int_equal(fxt_buffer_layout(FXT_STREAMING, total, &layout), 0);
		assert_int_equal(128 + layout.durable_bytes + 2 * layout.rolling_bytes, total);
		assert_int_equal(layout.durable_bytes % 8 + layout.rolling_bytes % 8, 0);
		assert_true(layout.durable_bytes >= 16 && layout.durable_bytes < layout.rolling_bytes);
		assert_true(layout.rolling_bytes < total / 2);
	}
}

static void sizes_refused(void **state)
{
	static const uint64_t totals[] = {
	        0, 1, 128, 4095, 4097, 6144, (UINT64_C(1) << 32) + 4096, UINT64_MAX, UINT64_MAX - 4095};
	struct fxt_buffer_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++)
		for (enum fxt_buffering_mode mode = FXT_ONESHOT; mode <= FXT_STREAMING; mode++)
			assert_int_equal(fxt_buffer_layout(mode, totals[i], &layout), EINVAL);
	assert_int_equal(fxt_buffer_layout((enum fxt_buffering_mode)3, 4096, &layout), EINVAL);
}

/* Byte by byte, as another implementation would read it. */
static void header_of_an_empty_buffer(void **state)
{
	static const uint8_t expected[128] = {0x64, 0x61, 0x65, 0x68, 0xee, 0x66, 0x75, 0x62, /* magic */
	        0, 0, 2, 1, 0, 0, 0, 0,     /* version, streaming, chunked, wrapped count */
	        0, 0, 0x10, 0, 0, 0, 0, 0,  /* 1 MiB */
	        0, 0, 1, 0, 0, 0, 0, 0,     /* 65536 */
	        0xc0, 0x7f, 7, 0, 0, 0, 0}; /* 491456; the rest is 0 */
	uint8_t memory[128];

	(void)state;
	memset(memory, 0xa5, sizeof(memory));
	fxt_buffer_clear((struct fxt_buffer_header *)memory, FXT_STREAMING, UINT64_C(1) << 20);
	assert_memory_equal(memory, expected, 128);
	assert_null(fxt_buffer_check((struct fxt_buffer_header *)memory, FXT_STREAMING, UINT64_C(1) << 20));
}

#define MIB (UINT64_C(1) << 20)

#define REFUSED(mode, change, words)                                       \
	do {                                                               \
		struct fxt_buffer_header header;                           \
		fxt_buffer_clear(&header, mode, MIB);                      \
		assert_null(fxt_buffer_check(&header, mode, MIB));         \
		change;                                                    \
		const char *reason = fxt_buffer_check(&header, mode, MIB); \
		assert_non_null(reason);                                   \
		if (!strstr(reason, words))                                \
			fail_msg("%s: \"%s\"", #change, reason);           \
	} while (0)

static void headers_refused(void **state)
{
	(void)state;
	for (enum fxt_buffering_mode mode = FXT_ONESHOT; mode <= FXT_STREAMING; mode++) {
		REFUSED(mode, header.magic++, "magic");
		REFUSED(mode, header.version = 1, "version");
		REFUSED(mode, header.chunked = 0, "chunks");
		REFUSED(mode, header.buffering_mode = (uint8_t)((mode + 1) % 3), "mode");
		REFUSED(mode, header.total_size += 4096, "size");
		REFUSED(mode, header.durable_buffer_size += 16, "durable");
		REFUSED(mode, header.rolling_buffer_size -= 8, "rolling");
		REFUSED(mode, header.durable_data_end = header.durable_buffer_size + 8, "durable data");
		REFUSED(mode, header.rolling_data_end[0] = header.rolling_buffer_size + 8,
		        "rolling buffer's data");
		REFUSED(mode, header.rolling_data_end[0] = 12, "rolling buffer's data");
	}
	REFUSED(FXT_STREAMING, header.durable_data_end = 12, "durable data");
	REFUSED(FXT_CIRCULAR, header.rolling_data_end[1] = UINT64_MAX - 7, "rolling buffer's data");
	REFUSED(FXT_ONESHOT, header.rolling_data_end[1] = 8, "rolling buffer's data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sizes),
	        cmocka_unit_test(parts_fill_the_buffer),
	        cmocka_unit_test(sizes_refused),
	        cmocka_unit_test(header_of_an_empty_buffer),
	        cmocka_unit_test(headers_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "options.h"
#include <stdio.h>
#include <string.h>
#include "launcher/values.h"
#include "reader/trace/duration.h"

#define MIB (UINT64_C(1) << 20)

/* Streaming at full rate takes 1.0-1.1 x the floor; with 16 MiB up to 1.3 x. */
#define DEFAULT_BUFFER_BYTES (64 * MIB)
/* The smallest size that has the largest durable buffer. */
#define DEFAULT_DESCENDANT_BUFFER_BYTES (16 * MIB)
/* Room for the program and a dozen full processes that it started; the same number of
 * buffers for programs with larger ones. */
#define DEFAULT_TOTAL_BYTES      (256 * MIB)
#define DEFAULT_TOTAL_BUFFERS    4
#define DEFAULT_START_TIMEOUT_NS UINT64_C(5000000000)

void fxt_options_default(struct fxt_options *o)
{
	*o = (struct fxt_options){
	        .output_file = "trace.fxt",
	        .keeps_old = true,
	        .buffer_bytes = DEFAULT_BUFFER_BYTES,
	        .descendant_buffer_bytes = DEFAULT_DESCENDANT_BUFFER_BYTES,
	        .buffering_mode = FXT_STREAMING,
	        .on_full = FXT_ON_FULL_BLOCK,
	        .start_timeout_ns = DEFAULT_START_TIMEOUT_NS,
	        .heap_mode = FXT_HEAP_AUTO,
	        .follow = FXT_FOLLOW_FORK | FXT_FOLLOW_EXEC,
	};
}

const char *fxt_options_read_min_duration(const char *text, uint64_t *nanoseconds)
{
	return fxt_duration_parse(text, nanoseconds) && *nanoseconds <= FXT_TIME_MAX_NS
	               ? NULL
	               : "must be a time with a unit, such as 10us";
}

bool fxt_options_elide_calls(const struct fxt_options *o)
{
	return o->has_min_duration || o->limits.first_counted || o->filter.has_limits;
}

enum fxt_heap_mode fxt_options_heap_mode(const struct fxt_options *o)
{
	bool is_in_full = o->buffering_mode == FXT_STREAMING && o->on_full == FXT_ON_FULL_BLOCK &&
	                  !fxt_options_elide_calls(o) && !fxt_options_rotate(o);

	return o->heap_mode == FXT_HEAP_AUTO && !is_in_full ? FXT_HEAP_OFF : o->heap_mode;
}

uint64_t fxt_options_total_bytes(const struct fxt_options *o)
{
	uint64_t bytes = DEFAULT_TOTAL_BUFFERS * o->buffer_bytes;

	if (o->total_bytes)
		return o->total_bytes;
	return bytes > DEFAULT_TOTAL_BYTES ? bytes : DEFAULT_TOTAL_BYTES;
}

uint64_t fxt_options_buffer_bytes(
        const struct fxt_options *o, const char *name, size_t name_bytes, bool is_program)
{
	for (unsigned i = o->provider_spec_count; i-- > 0;) {
		const struct fxt_provider_spec *spec = &o->provider_specs[i];

		if (spec->name_bytes == name_bytes && memcmp(spec->name, name, name_bytes) == 0)
			return spec->buffer_bytes;
	}
	return is_program ? o->buffer_bytes : o->descendant_buffer_bytes;
}

bool fxt_options_want_heap(const struct fxt_options *options)
{
	return options->heap_mode != FXT_HEAP_OFF && options->heap_mode != FXT_HEAP_AUTO;
}

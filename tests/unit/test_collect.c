/*
 * The collector against memory that lies: every rule of the header, of chunks and of
 * records is broken in turn, and then whatever a generator of random numbers finds. It must
 * say why, or leave out what is wrong, hand out nothing that is not well framed, and never
 * touch a byte outside of the two mappings (which lie between pages that fault).
 */
#include "caller.h"
#include "writer/format/inherited.h"

#define KIB UINT64_C(1024)

static const enum fxt_buffering_mode modes[] = {FXT_ONESHOT, FXT_CIRCULAR, FXT_STREAMING};

/* Well framed, and no metadata: all that is promised of what hostile memory yields. */
static int check_framing(void *context, const void *records, uint64_t bytes)
{
	uint64_t *total = context;
	const uint64_t *record = records, *end = record + bytes / 8;

	assert_true(bytes > 0 && bytes % 8 == 0);
	while (record < end) {
		uint64_t words = (*record & 15) == 15 ? *record >> 4 & UINT32_MAX : *record >> 4 & 0xfff;

		assert_true(words > 0 && words <= (uint64_t)(end - record));
		assert_int_not_equal(*record & 15, 0);
		record += words;
	}
	*total += bytes;
	return 0;
}

/* ---- a provider with a bit of everything ---- */

static void *record_some(void *argument)
{
	struct worker *w = argument;

	caller_attach(&w->caller, &w->rig->e);
	for (uint64_t i = 0; i < w->calls; i++)
		call(&w->caller, FUNCTION(i % 200));
	for (uint64_t i = 0; i < w->depth; i++)
		enter(&w->caller, FUNCTION(i));
	return NULL;
}

/* Two threads ended inside calls, one of them deep; both rolling buffers are in use, and in
 * streaming mode the older one waits to be saved. */
static void populate(struct rig *rig, enum fxt_buffering_mode mode)
{
	struct worker workers[2] = {{.calls = 400, .depth = 2000}, {.calls = 100, .depth = 5}};

	rig_begin(rig, mode, 64 * KIB, FXT_ON_FULL_DROP);
	for (int i = 0; i < 2; i++) {
		workers[i].rig = rig;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, record_some, &workers[i]), 0);
		pthread_join(workers[i].thread, NULL);
	}
	while (mode != FXT_ONESHOT && rig->e.header->wrapped_count == 0) {
		workers[1] = (struct worker){.rig = rig, .calls = 300, .depth = 1};
		assert_int_equal(pthread_create(&workers[1].thread, NULL, record_some, &workers[1]), 0);
		pthread_join(workers[1].thread, NULL);
	}
}

/* A copy to be spoiled: the buffer, and of the control memory what is in use. */
struct copy {
	uint8_t *buffer;
	struct fxt_control *control;
	uint64_t taken; /* bytes handed out */
	struct fxt_collector collector;
};

#define SLOTS_COPIED (FXT_SLOTS_OFFSET + 64 * FXT_SLOT_BYTES)

static void copy_make(struct copy *copy, const struct rig *rig)
{
	uint64_t stacks = rig->control->slots_used * FXT_SMALL_STACK_BYTES;

	memcpy(copy->buffer, rig->buffer, rig->buffer_bytes);
	memcpy(copy->control, rig->control, SLOTS_COPIED);
	memcpy((uint8_t *)copy->control + FXT_STACKS_OFFSET, (uint8_t *)rig->control + FXT_STACKS_OFFSET,
	        stacks);
	memcpy((uint8_t *)copy->control + FXT_LARGE_STACKS_OFFSET,
	        (uint8_t *)rig->control + FXT_LARGE_STACKS_OFFSET, 128 * KIB);
	copy->taken = 0;
	fxt_collector_init(
	        &copy->collector, copy->buffer, rig->buffer_bytes, rig->control, check_framing, &copy->taken);
	copy->collector.control = copy->control;
}

static void copy_begin(struct copy *copy, const struct rig *rig)
{
	copy->buffer = guarded_map(rig->buffer_bytes);
	copy->control = guarded_map(FXT_CONTROL_BYTES);
	copy_make(copy, rig);
}

static void copy_end(struct copy *copy, const struct rig *rig)
{
	guarded_unmap(copy->buffer, rig->buffer_bytes);
	guarded_unmap(copy->control, FXT_CONTROL_BYTES);
}

static int take_rest(struct copy *copy)
{
	return fxt_collect_rest(&copy->collector, FXT_ENDED_BY_SIGNAL, UINT64_C(1) << 62);
}

static struct fxt_packet save_packet(const struct rig *rig)
{
	return (struct fxt_packet){
	        .request = FXT_PROVIDER_SAVE_BUFFER, .data64 = rig->e.header->durable_data_end};
}

/* ---- one rule at a time ---- */

/* Spoils a copy by `change`, takes the rest of it, and expects `error` and a reason with
 * these words in it. It must yield fewer records than the sound memory, or as many with
 * `words` "". */
#define SPOILED(mode, change, error, words)                                                              \
	do {                                                                                             \
		struct rig rig;                                                                          \
		struct copy copy;                                                                        \
		uint64_t sound;                                                                          \
		populate(&rig, mode);                                                                    \
		copy_begin(&copy, &rig);                                                                 \
		assert_int_equal(take_rest(&copy), 0);                                                   \
		assert_null(copy.collector.reason);                                                      \
		sound = copy.taken;                                                                      \
		copy_make(&copy, &rig);                                                                  \
		struct fxt_buffer_header *header = (struct fxt_buffer_header *)copy.buffer;              \
		struct fxt_chunk_header *chunk =                                                         \
		        (struct fxt_chunk_header *)(copy.buffer + rig.e.layout.rolling_offset[0]);       \
		struct fxt_thread_slot *slot =                                                           \
		        (struct fxt_thread_slot *)((uint8_t *)copy.control + FXT_SLOTS_OFFSET);          \
		uint64_t *record = (uint64_t *)(chunk + 1);                                              \
		(void)header, (void)chunk, (void)slot, (void)record;                                     \
		change;                                                                                  \
		if (take_rest(&copy) != (error))                                                         \
			fail_msg("mode %d, %s: not " #error, mode, #change);                             \
		if ((words)[0] && (!copy.collector.reason || !strstr(copy.collector.reason, words)))     \
			fail_msg("mode %d, %s: \"%s\"", mode, #change, copy.collector.reason);           \
		if ((words)[0] ? copy.taken >= sound : copy.collector.reason != NULL)                    \
			fail_msg("mode %d, %s: took %" PRIu64 " of %" PRIu64, mode, #change, copy.taken, \
			        sound);                                                                  \
		copy_end(&copy, &rig);                                                                   \
		rig_end(&rig);                                                                           \
	} while (0)

static void headers(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		SPOILED(modes[m], header->magic = 0, EPROTO, "magic");
		SPOILED(modes[m], header->version = 1, EPROTO, "version");
		SPOILED(modes[m], header->chunked = 0, EPROTO, "chunks");
		SPOILED(modes[m], header->buffering_mode ^= 3, EPROTO, "mode");
		SPOILED(modes[m], copy.control->buffering_mode ^= 3, 0,
		        ""); /* it is asked once, at the beginning */
		SPOILED(modes[m], header->total_size *= 2, EPROTO, "size");
		SPOILED(modes[m], header->durable_buffer_size += 8, EPROTO, "durable");
		SPOILED(modes[m], header->rolling_buffer_size += 8, EPROTO, "rolling");
		SPOILED(modes[m], header->durable_data_end = header->durable_buffer_size + 8, EPROTO,
		        "durable");
		SPOILED(modes[m], header->rolling_data_end[0] = header->rolling_buffer_size + 8, EPROTO,
		        "rolling");
		SPOILED(modes[m], header->rolling_data_end[0] -= 4, EPROTO, "rolling");
		SPOILED(modes[m], header->rolling_data_end[1] = UINT64_MAX & ~UINT64_C(7), EPROTO, "rolling");
	}
	SPOILED(FXT_STREAMING, header->wrapped_count = 2, EPROTO, "wrapped count");
	SPOILED(FXT_STREAMING, header->wrapped_count = UINT32_MAX, EPROTO, "wrapped count");
	SPOILED(FXT_STREAMING, copy.collector.durable_saved = header->durable_data_end + 8, EPROTO, "shrank");
}

static void chunks(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		SPOILED(modes[m], chunk->size = 0, EPROTO, "size");
		SPOILED(modes[m], chunk->size = 8, EPROTO, "size");
		SPOILED(modes[m], chunk->size += 4, EPROTO, "size");
		SPOILED(modes[m], chunk->size = UINT32_MAX & ~7u, EPROTO, "size");
		SPOILED(modes[m], chunk->slot = FXT_SLOTS, EPROTO, "no thread");
		SPOILED(modes[m], chunk->state = 2, EPROTO, "neither open nor closed");
		SPOILED(modes[m], (chunk->state = FXT_CHUNK_CLOSED, chunk->committed = chunk->size - 8),
		        EPROTO, "more than its size");
		SPOILED(modes[m], (chunk->state = FXT_CHUNK_CLOSED, chunk->committed = UINT32_MAX & ~7u),
		        EPROTO, "more than its size");
		SPOILED(modes[m], (chunk->state = FXT_CHUNK_CLOSED, chunk->committed = 12), EPROTO,
		        "more than its size");
		/* The last chunk leaves no room for a header. */
		SPOILED(modes[m], (chunk->size = (uint32_t)(header->rolling_data_end[0] -= 8) - 8), EPROTO,
		        "size");
	}
	SPOILED(FXT_CIRCULAR, chunk->slot = FXT_SLOT_DURABLE, EPROTO, "no thread");
	SPOILED(FXT_STREAMING, chunk->slot = FXT_SLOT_DURABLE, EPROTO, "no thread");
}

/* A chunk at the very end of the mapping, with a header that would reach beyond it. */
static void chunk_at_the_end(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct copy copy;
		struct fxt_buffer_header *header;
		unsigned last = modes[m] == FXT_ONESHOT ? 0 : 1;

		populate(&rig, modes[m]);
		copy_begin(&copy, &rig);
		header = (struct fxt_buffer_header *)copy.buffer;
		header->rolling_data_end[last] = header->rolling_buffer_size;
		*(struct fxt_chunk_header *)(copy.buffer + rig.e.layout.rolling_offset[last]) =
		        (struct fxt_chunk_header){
		                .size = (uint32_t)header->rolling_buffer_size - 8, .state = FXT_CHUNK_CLOSED};
		assert_int_equal(take_rest(&copy), EPROTO);
		copy_end(&copy, &rig);
		rig_end(&rig);
	}
}

static void records(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		SPOILED(modes[m], record[0] = 0, 0, "size 0");
		SPOILED(modes[m], record[0] &= ~UINT64_C(0xfff0), 0, "size 0");
		SPOILED(modes[m], record[0] |= 0xfff0, 0, "beyond its chunk");
		SPOILED(modes[m], record[0] = UINT64_C(0xfffffffff) << 4 | 15, 0, "beyond its chunk");
		SPOILED(modes[m], record[0] &= ~UINT64_C(15), 0, "metadata");
	}
	SPOILED(FXT_STREAMING, ((uint64_t *)(header + 1))[0] = 0, 0, "size 0");
}

/* The agent changes what is being handed out: all records of its buffer become such of size
 * 0. */
static int spoil_then_check(void *context, const void *records, uint64_t bytes)
{
	struct copy *copy = context;

	memset(copy->buffer + sizeof(struct fxt_buffer_header), 0,
	        copy->collector.buffer_bytes - sizeof(struct fxt_buffer_header));
	return check_framing(&copy->taken, records, bytes);
}

static void what_is_handed_out_was_checked(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct copy copy;

		populate(&rig, modes[m]);
		copy_begin(&copy, &rig);
		copy.collector.copy.emit = spoil_then_check;
		copy.collector.copy.context = &copy;
		take_rest(&copy);
		assert_true(copy.taken > 0);
		copy_end(&copy, &rig);
		rig_end(&rig);
	}
}

static void slots(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++) {
		SPOILED(modes[m], copy.control->slots_used = FXT_SLOTS + 1, EPROTO, "slots");
		SPOILED(modes[m], slot->stack_offset = UINT64_MAX, 0, ""); /* not asked */
		SPOILED(modes[m], slot->late_record = 1, 0, "");
		SPOILED(modes[m], slot->late_record = UINT64_MAX, 0, "");
		SPOILED(modes[m], slot->late_record = copy.control->buffer_address + 128, 0, "");
		SPOILED(modes[m], slot->gap_lost = UINT64_MAX, 0, "");
		SPOILED(modes[m], slot->nested_shown = UINT64_MAX, 0, "");
		SPOILED(modes[m], memset(slot->name, 0xff, sizeof(slot->name)), 0, "");
	}
}

/* The tops of shadow stacks: wherever they point, what lies outside of the slot's own stack
 * is no call. */
static void tops(void **state)
{
	static const uint64_t places[] = {0, 1, 8, 4096, FXT_STACKS_OFFSET, FXT_STACKS_OFFSET + 100,
	        FXT_STACKS_OFFSET + 5 * FXT_SMALL_STACK_BYTES, FXT_LARGE_STACKS_OFFSET + 1,
	        FXT_HEAP_SUMS_OFFSET + 8, FXT_STACKS_OFFSET - 64, FXT_CONTROL_BYTES + 8,
	        FXT_CONTROL_BYTES + 32, UINT64_MAX, UINT64_MAX - 31, UINT64_C(1) << 63};
	struct rig rig;
	struct copy copy;

	(void)state;
	populate(&rig, FXT_STREAMING);
	copy_begin(&copy, &rig);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct fxt_thread_slot *slots =
		        (struct fxt_thread_slot *)((uint8_t *)copy.control + FXT_SLOTS_OFFSET);

		copy_make(&copy, &rig);
		for (uint32_t n = 0; n < copy.control->slots_used; n++)
			slots[n].top = copy.control->control_address + places[i];
		assert_int_equal(take_rest(&copy), 0);
	}
	/* All slots claim the same large stack: it is one slot's. */
	copy_make(&copy, &rig);
	copy.control->slots_used = FXT_SLOTS;
	for (uint32_t n = 0; n < FXT_SLOTS; n++) {
		struct fxt_thread_slot *slot =
		        (struct fxt_thread_slot *)((uint8_t *)copy.control + FXT_SLOTS_OFFSET) + n;

		slot->state = FXT_SLOT_LIVE;
		slot->committed = slot->gap_lost = 0;
		slot->top = copy.control->control_address + FXT_LARGE_STACKS_OFFSET + fxt_stack_color(n) +
		            32 * 1001;
	}
	assert_int_equal(take_rest(&copy), 0);
	assert_true(copy.taken < 400 * KIB);
	copy_end(&copy, &rig);
	rig_end(&rig);
}

/* The committed ends of open chunks: outside of the chunk nothing is committed. */
static void committed_ends(void **state)
{
	struct rig rig;
	struct copy copy;
	uint64_t sound;

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		populate(&rig, modes[m]);
		copy_begin(&copy, &rig);
		assert_int_equal(take_rest(&copy), 0);
		sound = copy.taken;
		for (int64_t shift = -4096; shift <= 4096; shift += 4) {
			copy_make(&copy, &rig);
			for (uint32_t n = 0; n < copy.control->slots_used; n++)
				((struct fxt_thread_slot *)((uint8_t *)copy.control + FXT_SLOTS_OFFSET))[n]
				        .committed += (uint64_t)shift;
			copy.control->durable_committed += modes[m] == FXT_ONESHOT ? (uint64_t)shift : 0;
			assert_int_equal(take_rest(&copy), 0);
			assert_true(shift == 0 ? copy.taken == sound : true);
		}
		copy_make(&copy, &rig);
		copy.control->buffer_address = UINT64_MAX;
		assert_int_equal(take_rest(&copy), 0);
		assert_true(copy.taken < sound);
		copy_end(&copy, &rig);
		rig_end(&rig);
	}
}

/* ---- packets ---- */

#define PACKET_REFUSED(mode, change, words)                                                        \
	do {                                                                                       \
		struct rig rig;                                                                    \
		struct copy copy;                                                                  \
		populate(&rig, mode);                                                              \
		copy_begin(&copy, &rig);                                                           \
		struct fxt_packet packet = save_packet(&rig);                                      \
		struct fxt_chunk_header *chunk =                                                   \
		        (struct fxt_chunk_header *)(copy.buffer + rig.e.layout.rolling_offset[0]); \
		(void)chunk;                                                                       \
		change;                                                                            \
		assert_int_equal(fxt_collect_saved_buffer(&copy.collector, &packet), EPROTO);      \
		if (!strstr(copy.collector.reason, words))                                         \
			fail_msg("%s: \"%s\"", #change, copy.collector.reason);                    \
		copy_end(&copy, &rig);                                                             \
		rig_end(&rig);                                                                     \
	} while (0)

static void packets(void **state)
{
	(void)state;
	PACKET_REFUSED(FXT_STREAMING, packet.data32 = 1, "out of turn");
	PACKET_REFUSED(FXT_STREAMING, packet.data64 = 8, "durable");
	PACKET_REFUSED(FXT_STREAMING, packet.data64 += 4, "durable");
	PACKET_REFUSED(FXT_STREAMING, packet.data64 = rig.e.layout.durable_bytes + 8, "durable");
	PACKET_REFUSED(FXT_STREAMING, copy.collector.durable_saved = packet.data64 + 8, "shrank");
	PACKET_REFUSED(FXT_STREAMING, chunk->state = FXT_CHUNK_OPEN, "still open");
	PACKET_REFUSED(FXT_STREAMING, chunk->size = 12, "size");
	PACKET_REFUSED(FXT_CIRCULAR, packet.data32 = 0, "not streamed");
	PACKET_REFUSED(FXT_ONESHOT, packet.data32 = 0, "not streamed");
}

/* Records that were handed out are not handed out again, whatever happened to them. */
static void a_turn_is_over(void **state)
{
	struct rig rig;
	struct copy copy;
	struct fxt_packet packet;
	uint64_t saved, all;

	(void)state;
	populate(&rig, FXT_STREAMING);
	copy_begin(&copy, &rig);
	assert_int_equal(take_rest(&copy), 0);
	all = copy.taken;
	copy_make(&copy, &rig);
	packet = save_packet(&rig);
	assert_int_equal(fxt_collect_saved_buffer(&copy.collector, &packet), 0);
	saved = copy.taken;
	assert_int_equal(fxt_collect_saved_buffer(&copy.collector, &packet), EPROTO);
	assert_int_equal(copy.taken, saved);
	assert_int_equal(take_rest(&copy), 0);
	assert_int_equal(copy.taken, all);
	copy_end(&copy, &rig);
	rig_end(&rig);
}

static int refuse(void *context, const void *records, uint64_t bytes)
{
	(void)records;
	(void)bytes;
	++*(int *)context;
	return ENOSPC;
}

/* The receiver's error ends the collection and is returned. */
static void errors_of_the_receiver(void **state)
{
	struct rig rig;
	int calls = 0;
	struct fxt_packet packet;

	(void)state;
	populate(&rig, FXT_STREAMING);
	packet = save_packet(&rig);
	fxt_collector_init(&rig.collector, rig.buffer, rig.buffer_bytes, rig.control, refuse, &calls);
	assert_int_equal(fxt_collect_saved_buffer(&rig.collector, &packet), ENOSPC);
	assert_int_equal(calls, 1);
	assert_int_equal(fxt_collect_rest(&rig.collector, FXT_ENDED_NORMALLY, 0), ENOSPC);
	assert_int_equal(calls, 2);
	rig_end(&rig);
}

/* How the process ended decides what becomes of open calls. */
static void endings(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (int ending = FXT_ENDED_NORMALLY; ending <= FXT_STILL_RUNNING; ending++) {
			struct rig rig;
			bool complete = ending == FXT_ENDED_NORMALLY;

			populate(&rig, modes[m]);
			rig_collect(&rig, (enum fxt_ending)ending);
			assert_true(trace_count(&rig.trace, EVENT_OPEN_CALL, 0) == 0 || !complete);
			assert_true(complete || trace_count(&rig.trace, EVENT_OPEN_CALL, 0) >= 2005);
			for (size_t i = 0; i < rig.trace.count; i++)
				assert_true(rig.trace.events[i].is_abandoned ? complete : true);
			trace_check_nesting(&rig.trace);
			rig_end(&rig);
		}
}

/* A thread goes on after the moment at which its session ended, as one of a forked child may:
 * its open call ends around its last records, and not before them. */
static void records_after_the_end(void **state)
{
	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (int is_inside = 0; is_inside < 2; is_inside++) {
			struct rig rig;
			struct caller caller;
			uint64_t now;

			rig_begin(&rig, modes[m], 64 * KIB, FXT_ON_FULL_DROP);
			caller_attach(&caller, &rig.e);
			enter(&caller, FUNCTION(1));
			enter(&caller, FUNCTION(2));
			now = arch_counter() + 1000;
			while (arch_counter() < now + 1000)
				;
			leave(&caller);
			if (is_inside)
				enter(&caller, FUNCTION(3));
			assert_int_equal(fxt_collect_rest(&rig.collector, FXT_ENDED_NORMALLY, now), 0);
			assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0), 2 + is_inside);
			trace_check_nesting(&rig.trace);
			rig_end(&rig);
		}
}

/* A thread dies after it has committed the record of its newest call, and before it takes the
 * call's frame away: the call is there once, however long its arguments made the record. */
static void recorded_but_still_open(void **state)
{
	static const size_t lengths[] = {1, 20 * 8, 1000, 8000};
	static char text[8000];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct fxt_argument argument = fxt_argument_string(
		        fxt_string_inline("arg1", 4), fxt_string_inline(text, lengths[i]));
		uint64_t record[1100];
		const struct fxt_frame *newest;
		struct caller caller;
		struct rig rig;
		size_t words;

		rig_begin(&rig, FXT_STREAMING, 64 * KIB, FXT_ON_FULL_DROP);
		caller_attach(&caller, &rig.e);
		enter(&caller, FUNCTION(1));
		enter(&caller, FUNCTION(2));
		newest = (const struct fxt_frame *)(uintptr_t)caller.slot->top - 1;
		words = fxt_put_event(record, 1100, FXT_EVENT_DURATION_COMPLETE,
		        fxt_thread_index(caller.slot->thread_index), fxt_string_index(FXT_KNOWN_FUNCTION),
		        fxt_string_index((uint32_t)fxt_frame_index(newest->function)), newest->start,
		        &argument, 1, arch_counter());
		store_relaxed(&caller.writer->busy, FXT_SLOW_PATH);
		assert_true(words > 0 && fxt_chunk_write(&rig.e, caller.writer, record, words));
		store_relaxed(&caller.writer->busy, FXT_IDLE);
		rig_collect(&rig, FXT_ENDED_BY_SIGNAL);
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0), 1);
		assert_int_equal(trace_count(&rig.trace, EVENT_OPEN_CALL, 0), 1);
		rig_end(&rig);
	}
}

/* ---- whatever else ---- */

#define MUTATIONS TENTH(12000)

static void mutate(struct copy *copy, uint64_t *random, uint64_t buffer_bytes)
{
	uint64_t bits = xorshift(random);
	uint8_t *memory = copy->buffer;
	uint64_t bytes = buffer_bytes, at;

	switch (bits & 3) {
	case 0:
		bytes = sizeof(struct fxt_buffer_header);
		break;
	case 1:
		memory = (uint8_t *)copy->control;
		bytes = sizeof(struct fxt_control);
		break;
	case 2:
		memory = (uint8_t *)copy->control + FXT_SLOTS_OFFSET;
		bytes = 4 * FXT_SLOT_BYTES;
		break;
	}
	at = (bits >> 8) % bytes;
	switch (bits >> 2 & 3) {
	case 0:
		memory[at] ^= (uint8_t)(1 << (bits >> 4 & 7));
		break;
	case 1:
		*(uint64_t *)(memory + (at & ~UINT64_C(7))) = xorshift(random);
		break;
	case 2:
		*(uint64_t *)(memory + (at & ~UINT64_C(7))) += (xorshift(random) & 0x1ff) - 0x100;
		break;
	case 3:
		*(uint32_t *)(memory + (at & ~UINT64_C(3))) = bits >> 4 & 1 ? UINT32_MAX : 0;
		break;
	}
}

static void mutations(void **state)
{
	uint64_t random = 88172645463325252, refused = 0, taken = 0;

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct rig rig;
		struct copy copy;

		populate(&rig, modes[m]);
		copy_begin(&copy, &rig);
		for (int i = 0; i < MUTATIONS / 3; i++) {
			struct fxt_packet packet = save_packet(&rig);

			copy_make(&copy, &rig);
			for (uint64_t n = xorshift(&random) % 4; n < 4; n++)
				mutate(&copy, &random, rig.buffer_bytes);
			if (modes[m] == FXT_STREAMING && i % 2)
				refused += fxt_collect_saved_buffer(&copy.collector, &packet) != 0;
			refused += take_rest(&copy) != 0;
			taken += copy.taken > 0;
		}
		copy_end(&copy, &rig);
		rig_end(&rig);
	}
	/* The generator reaches both. */
	assert_true(refused > MUTATIONS / 10 && taken > MUTATIONS / 10);
}

/* A thread dies with its chunk full to the last byte of the buffer: its records end where
 * the buffer does. */
static void full_to_the_last_byte(void **state)
{
	unsigned filled = 0;

	(void)state;
	for (uint64_t size = 4 * KIB; size <= 256 * KIB; size += 4 * KIB) {
		struct rig rig;
		struct caller caller;
		uint64_t made = 0, end;

		rig_begin(&rig, FXT_CIRCULAR, size, FXT_ON_FULL_DROP);
		end = (uint64_t)(uintptr_t)rig.buffer + size;
		caller_attach(&caller, &rig.e);
		while (rig.e.header->wrapped_count < 2 && caller.slot->committed != end) {
			call(&caller, FUNCTION(1));
			made++;
		}
		filled += caller.slot->committed == end;
		rig_collect(&rig, FXT_ENDED_BY_SIGNAL);
		assert_int_equal(trace_count(&rig.trace, EVENT_CALL, 0) + caller.slot->overwritten, made);
		rig_end(&rig);
	}
	assert_true(filled > 0);
}

/* Overwritten time is shown between other slices, or as an instant if there is no room: the
 * last thread claims that it begins in the future. */
static void overwritten_without_room(void **state)
{
	static const int64_t before[] = {1, 4, 7, 8, 100, -(INT64_C(1) << 60)}; /* the one call, in ticks */

	(void)state;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		struct rig rig;
		struct caller caller;

		rig_begin(&rig, FXT_CIRCULAR, 64 * KIB, FXT_ON_FULL_DROP);
		caller_attach(&caller, &rig.e);
		enter(&caller, FUNCTION(1));
		caller.slot->began = caller.writer->last - (uint64_t)before[i];
		leave(&caller);
		caller.slot->overwritten = 7;
		caller.slot->overwritten_until = caller.writer->last;
		rig_collect(&rig, FXT_ENDED_BY_SIGNAL);
		assert_int_equal(trace_count(&rig.trace, EVENT_OVERWRITTEN, 0), 7);
		trace_check_nesting(&rig.trace);
		for (size_t e = 0; e < rig.trace.count; e++)
			assert_true(rig.trace.events[e].end <= arch_counter());
		rig_end(&rig);
	}
}

/* ---- records that belong side by side ---- */

static int no_object_is_last(void *context, const void *records, uint64_t bytes)
{
	const uint64_t *record = records, *end = record + bytes / 8, *last = record;

	for (; record < end; record += record[0] >> 4 & 0xfff)
		last = record;
	assert_int_not_equal(last[0] & 15, FXT_RECORD_USERSPACE_OBJECT);
	*(uint64_t *)context += bytes;
	return 0;
}

/* An allocation is a userspace object and an instant: they are handed out together,
 * wherever the copy's memory ends. */
static void allocations_stay_whole(void **state)
{
	uint64_t object[9] = {FXT_RECORD_USERSPACE_OBJECT | 5 << 4, [5] = FXT_RECORD_EVENT | 4 << 4};
	uint64_t call[3] = {FXT_RECORD_EVENT | 3 << 4}, taken = 0, given = 0;
	struct fxt_copy copy = {.emit = no_object_is_last, .context = &taken};

	(void)state;
	assert_int_equal(fxt_copy_open(&copy), 0);
	for (int i = 0; i < 300000; i++) {
		fxt_copy_append(&copy, object, sizeof(object));
		given += sizeof(object);
		if (i % 7 == 0) {
			fxt_copy_append(&copy, call, sizeof(call));
			given += sizeof(call);
		}
	}
	assert_int_equal(fxt_copy_flush(&copy), 0);
	assert_null(copy.reason);
	assert_int_equal(taken, given);
	fxt_copy_close(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(full_to_the_last_byte),
	        cmocka_unit_test(headers),
	        cmocka_unit_test(chunks),
	        cmocka_unit_test(chunk_at_the_end),
	        cmocka_unit_test(records),
	        cmocka_unit_test(what_is_handed_out_was_checked),
	        cmocka_unit_test(slots),
	        cmocka_unit_test(tops),
	        cmocka_unit_test(committed_ends),
	        cmocka_unit_test(packets),
	        cmocka_unit_test(a_turn_is_over),
	        cmocka_unit_test(errors_of_the_receiver),
	        cmocka_unit_test(endings),
	        cmocka_unit_test(records_after_the_end),
	        cmocka_unit_test(recorded_but_still_open),
	        cmocka_unit_test(mutations),
	        cmocka_unit_test(overwritten_without_room),
	        cmocka_unit_test(allocations_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

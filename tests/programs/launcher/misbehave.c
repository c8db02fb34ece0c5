/*
 * misbehave BEHAVIOUR: a provider that says hello as it should and then does the steps of a row of the table
 * below. A FILL puts a call of "handed_in" into the trace buffer; what is handed in before a rule is broken,
 * or before death, is to be in the archive, and nothing else.
 */
#include "hostile.h"
#include "writer/format/encode.h"

#define DURABLE_STRINGS 64
#define STRING_BYTES    16 /* of a record of each */
#define DURABLE         (DURABLE_STRINGS * STRING_BYTES)

enum action { END = 0, SEND, AGAIN, FILL, TAKE, TAKEN, AWAIT_QUIT, DIE, STAY };

struct step {
	enum action action;
	struct fxt_packet packet; /* to be sent; FILL: data32 is the wrapped count */
};

#define DO(action)        \
	{                 \
		action,   \
		{         \
			0 \
		}         \
	}
#define PACKET(kind, bits, a, b)         \
	{                                \
		SEND,                    \
		{                        \
			kind, bits, a, b \
		}                        \
	}
#define FILLED(wrapped)                  \
	{                                \
		FILL,                    \
		{                        \
			0, 0, wrapped, 0 \
		}                        \
	}
#define STARTED                    PACKET(FXT_PROVIDER_STARTED, 0, FXT_FIFO_PROTOCOL_VERSION, 0)
#define STOPPED                    PACKET(FXT_PROVIDER_STOPPED, 0, 0, 0)
#define ALERT                      PACKET(FXT_PROVIDER_ALERT, 0x6161, 0x61616161, 0x6161616161616161)
#define SAVE(wrapped, durable_end) PACKET(FXT_PROVIDER_SAVE_BUFFER, 0, wrapped, durable_end)

static const struct behaviour {
	const char *name;
	struct step steps[16];
} behaviours[] = {
        /* Packets that are none, before and after STARTED. */
        {"other_protocol",
                {PACKET(FXT_PROVIDER_STARTED, 0, FXT_FIFO_PROTOCOL_VERSION + 1, 0), DO(AWAIT_QUIT)}},
        {"started_reserved", {PACKET(FXT_PROVIDER_STARTED, 1, FXT_FIFO_PROTOCOL_VERSION, 0), DO(AWAIT_QUIT)}},
        {"kind_0", {STARTED, PACKET(0, 0, 0, 0), DO(AWAIT_QUIT)}},
        {"kind_5", {STARTED, PACKET(5, 0, 0, 0), DO(AWAIT_QUIT)}},
        {"kind_of_manager", {STARTED, PACKET(FXT_PROVIDER_BUFFER_SAVED, 0, 0, 16), DO(AWAIT_QUIT)}},
        {"kind_ffff", {PACKET(0xffff, 0, 0, 0), DO(AWAIT_QUIT)}},
        {"stopped_reserved", {STARTED, PACKET(FXT_PROVIDER_STOPPED, 0x8000, 0, 0), DO(AWAIT_QUIT)}},
        {"save_reserved",
                {STARTED, FILLED(0), PACKET(FXT_PROVIDER_SAVE_BUFFER, 1, 0, DURABLE), DO(AWAIT_QUIT)}},
        /* Saves with a wrong end of the durable data. */
        {"durable_0", {STARTED, FILLED(0), SAVE(0, 0), DO(AWAIT_QUIT)}},
        {"durable_8", {STARTED, FILLED(0), SAVE(0, 8), DO(AWAIT_QUIT)}},
        {"durable_odd", {STARTED, FILLED(0), SAVE(0, 20), DO(AWAIT_QUIT)}},
        {"durable_beyond", {STARTED, FILLED(0), SAVE(0, UINT32_MAX), DO(AWAIT_QUIT)}},
        {"durable_huge", {STARTED, FILLED(0), SAVE(0, UINT64_MAX - 7), DO(AWAIT_QUIT)}},
        {"durable_shrinks", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), FILLED(1), SAVE(1, DURABLE - 16),
                                    DO(AWAIT_QUIT)}},
        /* Saves out of order. */
        {"save_begins_late", {STARTED, FILLED(1), SAVE(1, DURABLE), DO(AWAIT_QUIT)}},
        {"save_skips", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), FILLED(2), SAVE(2, DURABLE),
                               DO(AWAIT_QUIT)}},
        {"save_again", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), SAVE(0, DURABLE), DO(AWAIT_QUIT)}},
        {"save_returns", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), FILLED(1), SAVE(1, DURABLE),
                                 DO(TAKE), SAVE(0, DURABLE), DO(AWAIT_QUIT)}},
        /* It takes none of the replies. */
        {"deaf", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKEN), FILLED(1), SAVE(1, DURABLE), DO(TAKEN),
                         SAVE(2, DURABLE), DO(TAKEN), SAVE(3, DURABLE), DO(TAKEN), SAVE(4, DURABLE),
                         DO(AWAIT_QUIT)}},
        /* Valid ones at the wrong time. */
        {"stopped_first", {STOPPED, ALERT, STARTED}},
        {"save_first", {SAVE(0, DURABLE), STARTED}},
        {"started_twice", {STARTED, STARTED, STARTED}},
        /* More of one kind than anybody wants to hear. */
        {"floods_alerts", {STARTED, FILLED(0), ALERT, DO(AGAIN)}},
        {"floods_stops", {STARTED, FILLED(0), STOPPED, DO(AGAIN)}},
        /* Death, and silence, at each step. */
        {"dies_unstarted", {FILLED(0), DO(DIE)}},
        {"dies_filled", {STARTED, FILLED(0), DO(DIE)}},
        {"dies_saving", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(DIE)}},
        {"dies_saved", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), DO(DIE)}},
        {"dies_refilled", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), FILLED(1), DO(DIE)}},
        {"dies_saving_again",
                {STARTED, FILLED(0), SAVE(0, DURABLE), DO(TAKE), FILLED(1), SAVE(1, DURABLE), DO(DIE)}},
        {"stays_unstarted", {FILLED(0), DO(STAY)}},
        {"stays_started", {STARTED, DO(STAY)}},
        {"stays_filled", {STARTED, FILLED(0), DO(STAY)}},
        {"stays_saving", {STARTED, FILLED(0), SAVE(0, DURABLE), DO(STAY)}},
};

static const struct timespec moment = {0, 100000};

/* Waits for a word of the manager's to reach a number; a test that waits in vain is ended by its own time
 * limit. */
static void await(const uint32_t *word, uint32_t number)
{
	while ((int32_t)(load_acquire(word) - number) < 0 && !is_told_to_quit())
		nanosleep(&moment, NULL);
}

/* Names for the durable buffer, and one chunk with one call for the rolling buffer of that wrapped count. */
static void fill(uint32_t wrapped)
{
	struct fxt_buffer_header *header = (struct fxt_buffer_header *)buffer;
	uint64_t *durable = (uint64_t *)(header + 1);
	struct fxt_buffer_layout layout;
	struct fxt_chunk_header *chunk;
	uint64_t *record;
	size_t words;

	fxt_buffer_layout(control->buffering_mode, buffer_bytes, &layout);
	for (uint32_t i = 0; i < DURABLE_STRINGS; i++)
		fxt_put_string(durable + i * STRING_BYTES / 8, STRING_BYTES / 8, i + 1, "a string", 8);
	chunk = (struct fxt_chunk_header *)(buffer + layout.rolling_offset[wrapped & 1]);
	record = (uint64_t *)(chunk + 1);
	words = fxt_put_event(record, 64, FXT_EVENT_DURATION_COMPLETE,
	        fxt_thread_inline((uint64_t)getpid(), (uint64_t)getpid()), fxt_string_inline("function", 8),
	        fxt_string_inline("handed_in", 9), 1000 + 10 * wrapped, NULL, 0, 1005 + 10 * wrapped);
	*chunk = (struct fxt_chunk_header){
	        sizeof(*chunk) + 8 * (uint32_t)words, 0, 8 * (uint32_t)words, FXT_CHUNK_CLOSED};
	control->slots_used = 1;
	header->durable_data_end = DURABLE;
	header->rolling_data_end[wrapped & 1] = chunk->size;
	header->wrapped_count = wrapped;
}

/* A provider does this before it asks for a buffer to be saved. */
static void use_other_buffer(uint32_t wrapped)
{
	struct fxt_buffer_header *header = (struct fxt_buffer_header *)buffer;

	header->rolling_data_end[(wrapped + 1) & 1] = 0;
	header->wrapped_count = wrapped + 1;
}

static void take(const struct step *step)
{
	struct fxt_ring *to_manager = &control->to_manager, *to_provider = &control->to_provider;

	switch (step->action) {
	case SEND:
		await(&to_manager->read, to_manager->written - FXT_FIFO_DEPTH + 1);
		if (step->packet.request == FXT_PROVIDER_SAVE_BUFFER)
			use_other_buffer(step->packet.data32);
		put(step->packet);
		break;
	case AGAIN: /* the step before, many times */
		for (int i = 0; i < 2000; i++)
			take(step - 1);
		break;
	case FILL:
		fill(step->packet.data32);
		break;
	case TAKE:
		await(&to_provider->written, to_provider->read + 1);
		store_release(&to_provider->read, to_provider->read + 1);
		break;
	case TAKEN:
		await(&to_manager->read, to_manager->written);
		break;
	case AWAIT_QUIT:
		await_quit();
		break;
	case DIE:
		fflush(stdout);
		raise(SIGKILL);
		break;
	case STAY:
		puts("ready");
		fflush(stdout);
		pause();
		break;
	case END:
		break;
	}
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(*behaviours); i++) {
		if (strcmp(argv[1], behaviours[i].name) != 0)
			continue;
		enter();
		for (const struct step *step = behaviours[i].steps; step->action != END; step++)
			take(step);
		return 0;
	}
	return 2;
}

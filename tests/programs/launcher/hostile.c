/*
 * hostile MODE [SEED]: a provider that breaks one rule of the handshake or of shared
 * memory, which MODE names, in the session of FXT_SOCKET. misbehave.c breaks those of
 * packets.
 */
#include "hostile.h"
#include "writer/engine/elided.h"

static uint64_t seed = 1;

static void start(void)
{
	enter();
	put((struct fxt_packet){.request = FXT_PROVIDER_STARTED, .data32 = FXT_FIFO_PROTOCOL_VERSION});
}

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Now and then a small number, a bit, or all bits: what a field is most likely to be misread by. */
static uint64_t odd_word(void)
{
	uint64_t word = random_word();

	switch (word >> 60) {
	case 0:
		return word & 0xff;
	case 1:
		return UINT64_C(1) << (word & 63);
	case 2:
		return UINT64_MAX;
	case 3:
		return (uint64_t)buffer + (word & (buffer_bytes - 8));
	case 4:
		return (uint64_t)control + (word & 0xffffff8);
	default:
		return word;
	}
}

static void scribble(void *memory, size_t bytes, unsigned one_in)
{
	for (uint64_t *word = memory; word < (uint64_t *)((uint8_t *)memory + bytes); word++)
		if (random_word() % one_in == 0)
			*word = odd_word();
}

/* Everything the manager reads at the end, with faults strewn in. */
static void scribble_all(unsigned one_in)
{
	struct fxt_buffer_layout layout;

	fxt_buffer_layout(control->buffering_mode, buffer_bytes, &layout);
	scribble(buffer + sizeof(struct fxt_buffer_header), 4096, one_in);
	scribble(buffer + layout.rolling_offset[0], 65536, one_in);
	scribble(buffer + layout.rolling_offset[1], 65536, one_in);
	scribble((uint8_t *)control + FXT_SLOTS_OFFSET, 64 * FXT_SLOT_BYTES, one_in);
	scribble((uint8_t *)control + FXT_STACKS_OFFSET, 4 * FXT_SMALL_STACK_BYTES, one_in);
}

/* ---- modes ---- */

static void silent(void)
{
	for (int i = 0; i < 100; i++)
		open_connection();
	puts("ready");
	fflush(stdout);
	pause();
}

static void flood(void)
{
	for (int i = 0; i < 2000; i++)
		close(open_connection());
}

static void short_hello(void)
{
	struct fxt_hello hello = good_hello();

	greet(&hello, sizeof(hello) - 1);
}

static void empty_hello(void)
{
	greet("", 0);
}

static void long_hello(void)
{
	char hello[4096] = {0};

	memcpy(hello, &(struct fxt_hello[]){good_hello()}, sizeof(struct fxt_hello));
	greet(hello, sizeof(hello));
}

static void wrong_magic(void)
{
	struct fxt_hello hello = good_hello();

	hello.magic++;
	greet(&hello, sizeof(hello));
}

static void wrong_pid(void)
{
	struct fxt_hello hello = good_hello();

	hello.pid = (uint32_t)getppid();
	greet(&hello, sizeof(hello));
}

static void long_name(void)
{
	struct fxt_hello hello = good_hello();

	hello.name_bytes = FXT_NAME_BYTES + 1;
	greet(&hello, sizeof(hello));
}

static void other_version(void)
{
	struct fxt_hello hello = good_hello();

	hello.version++;
	greet(&hello, offsetof(struct fxt_hello, tid));
}

static void dies_connected(void)
{
	open_connection();
	raise(SIGKILL);
}

static void dies_after_hello(void)
{
	struct fxt_hello hello = good_hello();

	send(open_connection(), &hello, sizeof(hello), 0);
	raise(SIGKILL);
}

static void dies_welcomed(void)
{
	struct fxt_hello hello = good_hello();

	greet(&hello, sizeof(hello));
	fflush(stdout);
	raise(SIGKILL);
}

static void dies_started(void)
{
	start();
	fflush(stdout);
	raise(SIGKILL);
}

static void hello_twice(void)
{
	start();
	start();
	put((struct fxt_packet){.request = 99});
	await_quit();
}

static void unknown_packet(void)
{
	start();
	put((struct fxt_packet){.request = 99});
	await_quit();
}

static void full_ring(void)
{
	start();
	store_release(&control->to_manager.written, control->to_manager.written + FXT_FIFO_DEPTH + 1);
	await_quit();
}

static void no_header(void)
{
	start();
	memset(buffer, 0, sizeof(struct fxt_buffer_header));
	put((struct fxt_packet){.request = FXT_PROVIDER_SAVE_BUFFER, .data64 = 16});
	await_quit();
}

/* Is aborted and outlives that until the manager has forgotten it: its heart no longer beats for it. */
static void aborted_lives_on(void)
{
	const struct timespec second = {1, 0};
	uint32_t beat;

	unknown_packet();
	do {
		beat = load_acquire(&control->heartbeat);
		nanosleep(&second, NULL);
	} while (load_acquire(&control->heartbeat) != beat);
}

static void aborted_returns(void)
{
	aborted_lives_on();
	start();
}

/* Reports more lost calls than any thread had time for: in a thread's slot, and of threads
 * that have ended. The session leaves calls out. */
static void boasts(void)
{
	const uint64_t much = UINT64_C(8600000000000000000);
	struct fxt_thread_slot *slot;
	struct fxt_elided *tables[2];

	start();
	slot = (struct fxt_thread_slot *)((uint8_t *)control + FXT_SLOTS_OFFSET);
	*slot = (struct fxt_thread_slot){.state = FXT_SLOT_LIVE,
	        .thread_index = 1,
	        .koid = (uint64_t)getpid(),
	        .tid = (uint32_t)getpid(),
	        .began = 1,
	        .lost = much,
	        .nested_lost = much / 2};
	control->slots_used = control->threads = 1;
	control->lost_without_slot = control->lost_recycled = much / 2;
	control->waited_ticks = much;
	control->ticks_per_second = 1;
	tables[0] = fxt_elided(control, 0);
	tables[1] = fxt_elided(control, FXT_ELIDED_RECYCLED);
	for (int i = 0; i < 2; i++) {
		tables[i]->functions[1] = (struct fxt_elided_function){.calls = much,
		        .total = much,
		        .sum = much,
		        .self = -(int64_t)much,
		        .own = much,
		        .longest = much,
		        .shortest = 1};
		tables[i]->end = 2;
	}
}

/* Some chunks, slots and frames to begin with, then faults. */
static void garbage(void)
{
	struct fxt_buffer_header *header;
	struct fxt_buffer_layout layout;

	start();
	header = (struct fxt_buffer_header *)buffer;
	fxt_buffer_layout(control->buffering_mode, buffer_bytes, &layout);
	header->durable_data_end = layout.durable_bytes ? 4096 : 0;
	header->rolling_data_end[0] = 65536;
	control->slots_used = 64;
	for (uint64_t *word = (uint64_t *)(buffer + sizeof(*header)), i = 0; i < 512; i++)
		word[i] = 0x10; /* metadata records of one word */
	for (uint64_t at = 0; at < 65536; at += 4096) {
		struct fxt_chunk_header *chunk =
		        (struct fxt_chunk_header *)(buffer + layout.rolling_offset[0] + at);

		*chunk = (struct fxt_chunk_header){4096, (uint32_t)(at / 4096), 24, FXT_CHUNK_CLOSED};
		((uint64_t *)(chunk + 1))[0] = 0x34;
	}
	for (uint64_t i = 0; i < 64; i++) {
		struct fxt_thread_slot *slot =
		        (struct fxt_thread_slot *)((uint8_t *)control + FXT_SLOTS_OFFSET) + i;

		slot->state = FXT_SLOT_LIVE;
		slot->stack_offset = FXT_STACKS_OFFSET + i * FXT_SMALL_STACK_BYTES;
		slot->stack_bytes = FXT_SMALL_STACK_BYTES;
		slot->top = (uint64_t)control + slot->stack_offset + 3 * sizeof(struct fxt_frame);
	}
	scribble_all(1 + random_word() % 300);
}

/* Goes on changing everything, for as long as it is let. */
static void racing(void)
{
	garbage();
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct fxt_buffer_header *header = (struct fxt_buffer_header *)buffer;

		scribble_all(50);
		header->rolling_data_end[0] = random_word() & 0x1fff8;
		header->durable_data_end = random_word() & 0x1ff8;
		control->slots_used = (uint32_t)(random_word() & 0x7f);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {{"silent", silent}, {"flood", flood}, {"short_hello", short_hello}, {"empty_hello", empty_hello},
        {"long_hello", long_hello}, {"wrong_magic", wrong_magic}, {"wrong_pid", wrong_pid},
        {"long_name", long_name}, {"other_version", other_version}, {"dies_connected", dies_connected},
        {"dies_after_hello", dies_after_hello}, {"dies_welcomed", dies_welcomed},
        {"dies_started", dies_started}, {"hello_twice", hello_twice}, {"unknown_packet", unknown_packet},
        {"full_ring", full_ring}, {"no_header", no_header}, {"aborted_lives_on", aborted_lives_on},
        {"aborted_returns", aborted_returns}, {"boasts", boasts}, {"garbage", garbage}, {"racing", racing}};

int main(int argc, char **argv)
{
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15 | 1;
	for (unsigned i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	return 2;
}

#include "rig.h"

void *guarded_map(size_t bytes)
{
	uint8_t *memory =
	        mmap(NULL, bytes + 8192, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + 4096, bytes, PROT_READ | PROT_WRITE), 0);
	return memory + 4096;
}

void guarded_unmap(void *memory, size_t bytes)
{
	munmap((uint8_t *)memory - 4096, bytes + 8192);
}

void rig_map(struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full)
{
	memset(rig, 0, sizeof(*rig));
	assert_int_equal(sys_membarrier_register(), 0);
	rig->buffer_bytes = bytes;
	rig->buffer = guarded_map(bytes);
	rig->control = guarded_map(FXT_CONTROL_BYTES);
	rig->control->version = FXT_SHARED_VERSION;
	rig->control->buffering_mode = mode;
	rig->control->on_full = on_full;
	rig->control->clock_kind = FXT_CLOCK_COUNTER;
	rig->control->ticks_per_second = RIG_RATE;
	rig->control->process_koid = RIG_PROCESS;
	rig->control->heartbeat = 1;
	store_release(&rig->control->magic, FXT_CONTROL_MAGIC);
	fxt_collector_init(&rig->collector, rig->buffer, bytes, rig->control, trace_take, &rig->trace);
}

void rig_begin(struct rig *rig, enum fxt_buffering_mode mode, uint64_t bytes, enum fxt_on_full on_full)
{
	rig_map(rig, mode, bytes, on_full);
	assert_int_equal(fxt_engine_initialize(&rig->e, rig->buffer, bytes, rig->control, "rig"), 0);
	assert_int_equal(fxt_engine_start(&rig->e, FXT_START_RETAIN), 0);
	fxt_engine_send_started(&rig->e);
}

void rig_end(struct rig *rig)
{
	if (rig->e.state != FXT_ENGINE_NONE)
		assert_int_equal(fxt_engine_terminate(&rig->e), 0);
	fxt_collector_free(&rig->collector);
	guarded_unmap(rig->buffer, rig->buffer_bytes);
	guarded_unmap(rig->control, FXT_CONTROL_BYTES);
	trace_reset(&rig->trace);
}

void rig_reply(struct rig *rig, struct fxt_packet packet)
{
	struct fxt_ring *ring = &rig->control->to_provider;

	ring->packet[ring->written % FXT_FIFO_DEPTH] = packet;
	store_release(&ring->written, ring->written + 1);
	sys_futex_wake(&ring->written, 1000);
}

bool rig_receive(struct rig *rig, struct fxt_packet *packet)
{
	struct fxt_ring *ring = &rig->control->to_manager;

	if (load_acquire(&ring->written) == rig->packets)
		return false;
	*packet = ring->packet[rig->packets++ % FXT_FIFO_DEPTH];
	store_release(&ring->read, rig->packets);
	return true;
}

static void rig_save_ahead(struct rig *rig)
{
	assert_int_equal(fxt_collect_ahead(&rig->collector), 0);
	assert_null(rig->collector.reason);
	assert_false(rig->trace.is_bad);
}

unsigned rig_save(struct rig *rig)
{
	struct fxt_packet packet;
	unsigned saved = 0;

	while (rig_receive(rig, &packet)) {
		/* Threads may keep the manager busy without an end. */
		add_relaxed(&rig->control->heartbeat, 1);
		if (packet.request != FXT_PROVIDER_SAVE_BUFFER)
			continue;
		assert_int_equal(fxt_collect_saved_buffer(&rig->collector, &packet), 0);
		assert_null(rig->collector.reason);
		packet.request = FXT_PROVIDER_BUFFER_SAVED;
		rig_reply(rig, packet);
		saved++;
	}
	if (rig->e.mode == FXT_STREAMING)
		rig_save_ahead(rig);
	return saved;
}

static void *rig_manage(void *argument)
{
	struct rig *rig = argument;

	while (!load_acquire(&rig->over)) {
		uint32_t seen = load_acquire(&rig->control->to_manager.written);

		add_relaxed(&rig->control->heartbeat, 1);
		if (!rig_save(rig) && !load_acquire(&rig->over))
			sys_futex_wait(&rig->control->to_manager.written, seen, 100000);
	}
	return NULL;
}

void rig_start_manager(struct rig *rig)
{
	rig->over = 0;
	assert_int_equal(pthread_create(&rig->manager, NULL, rig_manage, rig), 0);
}

void rig_stop_manager(struct rig *rig)
{
	store_release(&rig->over, 1);
	sys_futex_wake(&rig->control->to_manager.written, 1000);
	pthread_join(rig->manager, NULL);
	rig_save(rig);
}

void rig_collect(struct rig *rig, enum fxt_ending ending)
{
	assert_int_equal(fxt_collect_rest(&rig->collector, ending, arch_counter()), 0);
	assert_null(rig->collector.reason);
	assert_false(rig->trace.is_bad);
}

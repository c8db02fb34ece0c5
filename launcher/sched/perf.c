/*
 * Opens the kernel's perf events and reads their rings. The caller serializes the reading
 * of a ring. A record must be copied before its place in the ring is given back.
 */
#include "perf.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "writer/shared/atomics.h"

/* 8192 switches and 4096 faults. Without privilege a user has 516 KiB per CPU for all rings
 * (kernel.perf_event_mlock_kb). */
#define SWITCHES_BYTES (UINT64_C(256) << 10)
#define FAULTS_BYTES   (UINT64_C(128) << 10)

/* ---- opening ---- */

static int perf_open_event(pid_t pid, const struct fxt_perf_ring *ring, bool of_faults, bool on_exec)
{
	/*
	 * CLOCK_MONOTONIC, since fxtrun can read it together with the session's clock. The
	 * kernel's own clock would come with its exact relation to the TSC
	 * (cap_user_time_zero), but not on virtual machines that have a paravirtual clock.
	 */
	struct perf_event_attr attributes = {
	        .size = sizeof(attributes),
	        .type = PERF_TYPE_SOFTWARE,
	        .config = of_faults ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_DUMMY,
	        .sample_period = of_faults,
	        .context_switch = !of_faults,
	        .task = !of_faults, /* reports the ends of threads, which leave the CPU
	                             * without a context switch record */
	        .disabled = 1,
	        .enable_on_exec = on_exec,
	        .inherit = 1,
	        .exclude_kernel = 1, /* required by perf_event_paranoid for unprivileged
	                              * users */
	        .exclude_hv = 1,
	        .sample_id_all = 1,
	        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	        .watermark = 1,
	        .wakeup_watermark = (uint32_t)ring->bytes / 4,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, pid, ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t perf_page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * True if a filter of system calls kills a process that opens an event, as systemd's
 * SystemCallFilter=@system-service does. A child tries that out, because the recording would
 * end with the manager.
 */
static bool perf_is_deadly(void)
{
	const struct rlimit no_core = {0};
	int status = 0;
	pid_t child;

	if (prctl(PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
		return false;
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFSIGNALED(status);
}

/* Returns 0, or an errno value: nothing was opened. */
static int perf_open_ring(struct fxt_perf_ring *ring, pid_t pid, uint32_t cpu, bool of_faults, bool on_exec)
{
	void *memory;

	*ring = (struct fxt_perf_ring){.cpu = cpu, .bytes = of_faults ? FAULTS_BYTES : SWITCHES_BYTES};
	ring->fd = perf_open_event(pid, ring, of_faults, on_exec);
	if (ring->fd < 0)
		return errno;
	memory = mmap(NULL, perf_page_bytes() + ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (memory == MAP_FAILED) {
		int error = errno;

		close(ring->fd);
		return error;
	}
	ring->page = memory;
	return 0;
}

static void perf_close_rings(struct fxt_perf_ring *rings, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		munmap(rings[i].page, perf_page_bytes() + rings[i].bytes);
		close(rings[i].fd);
	}
	free(rings);
}

/* Opens the events of faults in addition, on all the same CPUs or on none. */
static int perf_open_faults(struct fxt_perf *perf, pid_t pid, bool on_exec)
{
	struct fxt_perf_ring *rings = calloc(perf->count, sizeof(*rings));

	if (!rings)
		return ENOMEM;
	for (unsigned i = 0; i < perf->count; i++) {
		int error = perf_open_ring(&rings[i], pid, perf->rings[i].cpu, true, on_exec);

		if (error) {
			perf_close_rings(rings, i);
			return error;
		}
	}
	perf->faults = rings;
	return 0;
}

int fxt_perf_open(struct fxt_perf *perf, pid_t pid, bool on_exec)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	int error = 0;

	*perf = (struct fxt_perf){0};
	if (perf_is_deadly())
		return EPERM;
	*perf = (struct fxt_perf){.rings = calloc(cpus, sizeof(*perf->rings))};
	if (!perf->rings)
		return ENOMEM;
	for (uint32_t cpu = 0; cpu < cpus && !error; cpu++) {
		error = perf_open_ring(&perf->rings[perf->count], pid, cpu, false, on_exec);
		if (!error)
			perf->count++;
		else if (error == ENODEV) /* this CPU is off */
			error = 0;
	}
	if (error)
		fxt_perf_close(perf);
	else
		perf->faults_error = perf_open_faults(perf, pid, on_exec);
	return error;
}

static int perf_enable_rings(struct fxt_perf_ring *rings, unsigned count)
{
	for (unsigned i = 0; rings && i < count; i++) {
		/* Release: as behind a record. The records in the ring are from before. */
		store_release(&rings[i].page->data_tail, fxt_perf_end(&rings[i]));
		if (ioctl(rings[i].fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
			return errno;
	}
	return 0;
}

int fxt_perf_enable(struct fxt_perf *perf)
{
	int error = perf_enable_rings(perf->rings, perf->count);

	return error ? error : perf_enable_rings(perf->faults, perf->count);
}

void fxt_perf_disable(struct fxt_perf *perf)
{
	for (unsigned i = 0; i < perf->count; i++) {
		ioctl(perf->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		if (perf->faults)
			ioctl(perf->faults[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

void fxt_perf_close(struct fxt_perf *perf)
{
	perf_close_rings(perf->rings, perf->count);
	if (perf->faults)
		perf_close_rings(perf->faults, perf->count);
	*perf = (struct fxt_perf){0};
}

/* ---- reading ---- */

/* The fields at the end of every record, according to sample_type and sample_id_all; a
 * sample has nothing else. */
struct trailer {
	uint32_t pid, tid;
	uint64_t ns;
	uint32_t cpu, reserved;
};

struct lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

/* Copies from the ring; a record may wrap from its end to its beginning. Sizes and offsets
 * are multiples of 8 bytes. */
static void perf_copy(const struct fxt_perf_ring *ring, uint64_t at, void *to, uint64_t bytes)
{
	const uint64_t *data = (const uint64_t *)((const uint8_t *)ring->page + perf_page_bytes());

	for (uint64_t i = 0; i < bytes / 8; i++)
		memcpy((uint8_t *)to + i * 8, &data[(at / 8 + i) & (ring->bytes / 8 - 1)], 8);
}

uint64_t fxt_perf_end(const struct fxt_perf_ring *ring)
{
	/* Acquire: pairs with the kernel's release; the records are written before. */
	return load_acquire(&ring->page->data_head);
}

/* Decodes the record at `at`; false if its kind is not in enum fxt_perf_kind. */
static bool perf_decode(const struct fxt_perf_ring *ring, uint64_t at, const struct perf_event_header *header,
        struct fxt_perf_record *record)
{
	struct trailer trailer;
	struct lost lost;

	perf_copy(ring, at + header->size - sizeof(trailer), &trailer, sizeof(trailer));
	*record = (struct fxt_perf_record){.pid = trailer.pid, .tid = trailer.tid, .ns = trailer.ns};
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		record->kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)        ? FXT_PERF_IN
		               : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? FXT_PERF_PREEMPTED
		                                                                    : FXT_PERF_OUT;
		return true;
	case PERF_RECORD_EXIT:
		record->kind = FXT_PERF_EXIT;
		return true;
	case PERF_RECORD_SAMPLE:
		record->kind = FXT_PERF_FAULT;
		return true;
	case PERF_RECORD_LOST:
		perf_copy(ring, at, &lost, sizeof(lost));
		record->kind = FXT_PERF_LOST;
		record->lost = lost.lost;
		return true;
	default:
		return false;
	}
}

bool fxt_perf_next(struct fxt_perf_ring *ring, uint64_t end, struct fxt_perf_record *record)
{
	uint64_t at = ring->page->data_tail;
	struct perf_event_header header;
	bool found = false;

	while (at != end && !found) {
		perf_copy(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header) + sizeof(struct trailer) || header.size > end - at) {
			at = end;
			break;
		}
		found = perf_decode(ring, at, &header, record);
		at += header.size;
	}
	/* Release: pairs with the kernel's acquire; the record was copied before its place
	 * is given back. */
	store_release(&ring->page->data_tail, at);
	return found;
}

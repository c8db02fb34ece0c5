#include "thread_times.h"

#include <stdlib.h>

static void thread_times_record(
        void *state, struct fxt_tables *tables, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_thread_times *p = state;

	(void)offset;
	fxt_timeline_record(&p->timeline, tables, view);
}

/* Forgets the data of an abandoned scan. */
static void thread_times_begin(void *state)
{
	struct fxt_thread_times *p = state;

	fxt_thread_times_free(p);
	fxt_thread_times_init(p);
}

void fxt_thread_times_init(struct fxt_thread_times *p)
{
	*p = (struct fxt_thread_times){.listener = {thread_times_begin, thread_times_record, p}};
	fxt_timeline_init(&p->timeline);
	fxt_intervals_init(&p->waited);
	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		fxt_intervals_init(&p->cpu[i]);
}

/* A moment in units of the scan. */
static uint64_t thread_times_time(const struct fxt_scan *scan, uint64_t ns)
{
	unsigned __int128 ticks =
	        (unsigned __int128)ns * scan->rate.ticks_per_second + (FXT_NS_PER_SECOND - 1);

	return scan->in_ticks ? (uint64_t)(ticks / FXT_NS_PER_SECOND) : ns;
}

uint64_t fxt_waited_read(struct fxt_intervals *waited, const struct fxt_scan *scan, uint64_t *time)
{
	uint64_t *owners = fxt_allocate(scan->thread_count * sizeof(*owners) + 1);
	struct fxt_spill_window window = {0};
	uint64_t count = 0;

	fxt_intervals_init(waited);
	*time = 0;

	for (uint64_t i = 0; i < scan->waited.count; i++) {
		struct fxt_slice wait = *(const struct fxt_slice *)fxt_spill_at(&scan->waited, &window, i);

		if (scan->filter && !fxt_filter_cut(scan->filter, &wait))
			continue;
		fxt_intervals_add(waited, wait.thread, wait.start, wait.end);
		count++;
		*time += wait.end - wait.start;
	}
	for (size_t i = 0; i < scan->thread_count; i++)
		owners[i] = i;
	fxt_intervals_finish(waited, owners, scan->thread_count);
	free(owners);
	return count;
}

static void thread_times_find_stretches(
        struct fxt_thread_times *p, const struct fxt_scan *scan, uint64_t *owners)
{
	static const enum fxt_cpu_state states[] = {[FXT_RUNNING] = FXT_CPU_RUNNING,
	        [FXT_RUNNABLE] = FXT_CPU_RUNNABLE,
	        [FXT_BLOCKED] = FXT_CPU_BLOCKED};
	struct fxt_spill_window window = {0};

	fxt_timeline_finish(&p->timeline, fxt_scan_states_from(scan), fxt_scan_ns(scan, scan->end));
	p->has_switches = fxt_timeline_is_known(&p->timeline);
	for (uint64_t i = 0; i < p->timeline.by_thread.count; i++) {
		const struct fxt_stretch *stretch = fxt_spill_at(&p->timeline.by_thread, &window, i);

		fxt_intervals_add(&p->cpu[states[stretch->activity]], stretch->koid,
		        thread_times_time(scan, stretch->start), thread_times_time(scan, stretch->end));
	}
	for (size_t i = 0; i < scan->thread_count; i++)
		owners[i] = scan->tables.threads[i].thread;
	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		fxt_intervals_finish(&p->cpu[i], owners, scan->thread_count);
}

void fxt_thread_times_finish(struct fxt_thread_times *p, const struct fxt_scan *scan)
{
	uint64_t *owners = fxt_allocate(scan->thread_count * sizeof(*owners) + 1);

	p->waits = fxt_waited_read(&p->waited, scan, &p->waited_time);
	thread_times_find_stretches(p, scan, owners);
	free(owners);
}

void fxt_thread_times_free(struct fxt_thread_times *p)
{
	fxt_timeline_free(&p->timeline);
	fxt_intervals_free(&p->waited);
	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		fxt_intervals_free(&p->cpu[i]);
}

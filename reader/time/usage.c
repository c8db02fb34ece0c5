/*
 * Sums up each thread's time and its hindrances, and finds critical paths. Runs on the
 * caller's thread, after the walk for waits. A critical path is followed backwards in time,
 * and never beyond the start of the stretch.
 */
#include "usage.h"

#include <stdlib.h>
#include "writer/shared/search.h"

/* ---- sums ---- */

static void usage_hinder(struct fxt_usage *u, struct fxt_hindrance key)
{
	uint32_t hash =
	        fxt_hash_word(fxt_hash_mix(key.koid ^ (uint64_t)key.blocker << 32) ^
	                      (uint64_t)key.thread << 8 ^ (uint64_t)key.waited_in << 1 ^ key.was_waiting);

	for (struct fxt_probe probe = fxt_probe(&u->index, hash); fxt_probe_next(&u->index, &probe);) {
		struct fxt_hindrance *found = &u->hindrances[probe.id];

		if (found->thread == key.thread && found->was_waiting == key.was_waiting &&
		        found->waited_in == key.waited_in && found->koid == key.koid &&
		        found->blocker == key.blocker) {
			found->ns += key.ns;
			return;
		}
	}
	fxt_index_add(&u->index, hash, (uint32_t)u->hindrance_count);
	fxt_make_room(u->hindrances, u->hindrance_count, u->hindrance_room);
	u->hindrances[u->hindrance_count++] = key;
}

/* Divides time that a thread could have run by the threads that ran on its CPU. */
static void usage_preempted(struct fxt_usage *u, const struct fxt_timeline *timeline, uint32_t thread,
        uint16_t cpu, uint64_t from, uint64_t to)
{
	uint64_t place = fxt_timeline_cpu_at(timeline, cpu, from);

	for (uint64_t until; from < to; from = until) {
		until = to;
		uint64_t koid = fxt_timeline_on_cpu(timeline, &place, cpu, from, &until);

		usage_hinder(u, (struct fxt_hindrance){.thread = thread, .koid = koid, .ns = until - from});
	}
}

static void usage_add_switches(struct fxt_usage *u, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, uint32_t thread, uint64_t from, uint64_t to)
{
	uint64_t koid = scan->tables.threads[thread].thread;
	uint64_t place = fxt_timeline_thread_at(timeline, koid, from);
	struct fxt_thread_usage *usage = &u->threads[thread];
	struct fxt_stretch stretch;

	for (; fxt_timeline_of_thread(timeline, place, koid, &stretch) && stretch.start < to; place++) {
		uint64_t start = stretch.start > from ? stretch.start : from;
		uint64_t end = stretch.end < to ? stretch.end : to;

		usage->has_switches |= end > start;
		usage->switches += stretch.left_cpu && stretch.start >= from;
		if (end <= start)
			continue;
		if (stretch.activity == FXT_RUNNING) {
			usage->running += end - start;
			continue;
		}
		if (stretch.activity == FXT_BLOCKED) {
			usage->blocked += end - start;
			if (stretch.blocker)
				usage_hinder(u, (struct fxt_hindrance){.thread = thread,
				                        .blocker = stretch.blocker,
				                        .ns = end - start});
			continue;
		}
		usage->runnable += end - start;
		usage_preempted(u, timeline, thread, stretch.cpu, start, end);
	}
}

static void usage_add_wait(struct fxt_usage *u, const struct fxt_scan *scan, const struct fxt_waits *waits,
        const struct fxt_wait *wait, uint64_t from, uint64_t to)
{
	uint64_t moment = wait->start > from ? wait->start : from;
	uint64_t end = wait->end < to ? wait->end : to;

	if (end <= moment)
		return;
	u->threads[wait->thread].waits++;
	u->threads[wait->thread].waiting += end - moment;
	while (moment < end) {
		uint64_t until = end;
		uint32_t release = fxt_waits_holder(waits, wait, moment, &until);

		struct fxt_hindrance key = {
		        .thread = wait->thread, .was_waiting = true, .ns = until - moment};

		if (release != FXT_NO_RELEASE)
			key.koid = scan->tables.threads[fxt_waits_release(waits, release).thread].thread;
		else
			key.koid = fxt_waits_keeper(waits, wait);
		if (key.koid == 0)
			key.waited_in = wait->name;
		/* After the release, no thread is responsible any more. */
		if (release != FXT_NO_RELEASE || wait->release == FXT_NO_RELEASE)
			usage_hinder(u, key);
		moment = until;
	}
}

static int usage_busiest_first(const void *left, const void *right)
{
	const struct fxt_thread_usage *a = left, *b = right;

	if (a->running != b->running)
		return a->running > b->running ? -1 : 1;
	if (a->waiting != b->waiting)
		return a->waiting > b->waiting ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int usage_longest_first(const void *left, const void *right)
{
	const struct fxt_hindrance *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

void fxt_usage_read(struct fxt_usage *u, const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_faults *faults, const struct fxt_waits *waits)
{
	const struct fxt_filter *filter = scan->filter;
	uint64_t from = filter ? fxt_scan_ns(scan, filter->from) : 0;
	uint64_t to = filter ? fxt_scan_ns(scan, filter->to) : UINT64_MAX;

	*u = (struct fxt_usage){.thread_count = scan->thread_count};
	u->threads = fxt_allocate((scan->thread_count + 1) * sizeof(*u->threads));
	for (uint32_t i = 1; i < scan->thread_count; i++) {
		u->threads[i].thread = i;
		if (!fxt_filter_has_thread(filter, i))
			continue;
		usage_add_switches(u, scan, timeline, i, from, to);
		u->threads[i].faults = fxt_faults_at(faults, i, to) - fxt_faults_at(faults, i, from);
	}
	for (uint32_t i = 0; i < fxt_waits_count(waits); i++) {
		const struct fxt_wait wait = fxt_waits_item(waits, i);

		if (fxt_filter_has_thread(filter, wait.thread))
			usage_add_wait(u, scan, waits, &wait, from, to);
	}
	qsort(u->threads, u->thread_count, sizeof(*u->threads), usage_busiest_first);
	if (u->hindrance_count > 1)
		qsort(u->hindrances, u->hindrance_count, sizeof(*u->hindrances), usage_longest_first);
}

void fxt_usage_free(struct fxt_usage *u)
{
	free(u->threads);
	free(u->hindrances);
	fxt_index_free(&u->index);
	*u = (struct fxt_usage){0};
}

/* ---- the critical path ---- */

/* The end of a wait that a thread ended. */
struct wakeup {
	uint64_t end, let_go; /* ns; let_go is the time of the release, which is earlier */
	uint32_t thread, release;
};

static int usage_by_thread_and_end(const void *left, const void *right)
{
	const struct wakeup *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->release > b->release) - (a->release < b->release);
}

static void usage_order(const struct fxt_waits *waits, struct fxt_spill *wakeups)
{
	fxt_spill_init(wakeups, sizeof(struct wakeup), FXT_SPILL_MEMORY_BYTES);
	for (uint32_t i = 0; i < fxt_waits_count(waits); i++) {
		const struct fxt_wait wait = fxt_waits_item(waits, i);

		if (wait.release == FXT_NO_RELEASE)
			continue;
		uint64_t let_go = fxt_waits_release(waits, wait.release).ns;

		if (let_go < wait.end)
			fxt_spill_add(wakeups, &(struct wakeup){wait.end, let_go, wait.thread, wait.release});
	}
	fxt_spill_sort(wakeups, usage_by_thread_and_end);
	fxt_spill_begin_items(wakeups);
}

static bool usage_is_over(const struct wakeup *wakeup, uint32_t thread, uint64_t moment)
{
	return wakeup->thread < thread || (wakeup->thread == thread && wakeup->end <= moment);
}

/* Finds the last wait of a thread that was over before a moment, and that another thread
 * ended after `start`. Returns false if there is none. */
static bool usage_last_wakeup(const struct fxt_spill *wakeups, uint32_t thread, uint64_t start,
        uint64_t moment, struct wakeup *found)
{
	uint64_t at =
	        partition_point(i, wakeups->count, usage_is_over(fxt_spill_item(wakeups, i), thread, moment));

	for (; at > 0; at--) {
		*found = *(const struct wakeup *)fxt_spill_item(wakeups, at - 1);
		if (found->thread != thread || found->end <= start)
			return false;
		if (found->let_go > start)
			return true;
	}
	return false;
}

/* Finds the release, after `start`, that let a thread go on which was running at a moment:
 * the end of its last wait, or its creation. *back is the time when it went on. Returns
 * FXT_NO_RELEASE if there is none. */
static uint32_t usage_let_go_by(const struct fxt_waits *waits, const struct fxt_spill *wakeups,
        uint32_t thread, uint64_t start, uint64_t moment, uint64_t *back)
{
	struct wakeup wakeup;
	uint32_t birth;

	if (usage_last_wakeup(wakeups, thread, start, moment, &wakeup)) {
		*back = wakeup.end;
		return wakeup.release;
	}
	birth = fxt_waits_birth(waits, thread, back);
	if (birth == FXT_NO_RELEASE || *back > moment)
		return FXT_NO_RELEASE;
	uint64_t let_go = fxt_waits_release(waits, birth).ns;

	return let_go > start && let_go < *back ? birth : FXT_NO_RELEASE;
}

static void usage_add_step(struct fxt_critical_path *path, struct fxt_critical_step step)
{
	if (step.start < step.end)
		fxt_spill_add(&path->steps, &step);
}

void fxt_critical_path_read(struct fxt_critical_path *path, const struct fxt_waits *waits, uint32_t thread,
        uint64_t start, uint64_t end)
{
	uint32_t release = FXT_NO_RELEASE, before;
	struct fxt_spill wakeups;
	uint64_t back;

	usage_order(waits, &wakeups);
	fxt_spill_init(&path->steps, sizeof(struct fxt_critical_step), FXT_SPILL_MEMORY_BYTES);
	while ((before = usage_let_go_by(waits, &wakeups, thread, start, end, &back)) != FXT_NO_RELEASE) {
		const struct fxt_release by = fxt_waits_release(waits, before);

		usage_add_step(path, (struct fxt_critical_step){thread, back, end, release, false});
		usage_add_step(path, (struct fxt_critical_step){thread, by.ns, back, before, true});
		release = before;
		thread = by.thread;
		end = by.ns;
	}
	usage_add_step(path, (struct fxt_critical_step){thread, start, end, release, false});
	fxt_spill_free(&wakeups);
}

void fxt_critical_path_free(struct fxt_critical_path *path)
{
	fxt_spill_free(&path->steps);
}

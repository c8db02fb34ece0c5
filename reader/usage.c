#include "usage.h"

#include <stdlib.h>

/* ---- sums ---- */

static void usage_hinder(struct fxt_usage *u, uint32_t thread, bool was_waiting, uint64_t koid, uint64_t ns)
{
	uint32_t hash = fxt_hash_word(fxt_hash_mix(koid) ^ (uint64_t)thread << 1 ^ was_waiting);

	for (struct fxt_probe probe = fxt_probe(&u->index, hash); fxt_probe_next(&u->index, &probe);) {
		struct fxt_hindrance *found = &u->hindrances[probe.id];

		if (found->thread == thread && found->was_waiting == was_waiting && found->koid == koid) {
			found->ns += ns;
			return;
		}
	}
	fxt_index_add(&u->index, hash, (uint32_t)u->hindrance_count);
	fxt_make_room(u->hindrances, u->hindrance_count, u->hindrance_room);
	u->hindrances[u->hindrance_count++] = (struct fxt_hindrance){thread, was_waiting, koid, ns};
}

/* Time in which a thread could have run, by who ran on its CPU. */
static void usage_preempted(struct fxt_usage *u, const struct fxt_timeline *timeline, uint32_t thread,
        uint16_t cpu, uint64_t from, uint64_t to)
{
	uint64_t place = fxt_timeline_cpu_at(timeline, cpu, from);

	for (uint64_t until; from < to; from = until) {
		until = to;
		uint64_t koid = fxt_timeline_on_cpu(timeline, &place, cpu, from, &until);

		usage_hinder(u, thread, false, koid, until - from);
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

		if (release != FXT_NO_RELEASE)
			usage_hinder(u, wait->thread, true,
			        scan->tables.threads[waits->releases[release].thread].thread, until - moment);
		else if (wait->release == FXT_NO_RELEASE)
			usage_hinder(u, wait->thread, true, 0, until - moment);
		moment = until;
	}
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
	for (size_t i = 0; i < waits->count; i++)
		if (fxt_filter_has_thread(filter, waits->items[i].thread))
			usage_add_wait(u, scan, waits, &waits->items[i], from, to);
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

static int usage_by_thread_and_end(const void *left, const void *right, void *context)
{
	const struct fxt_wait *waits = context;
	const struct fxt_wait *a = &waits[*(const uint32_t *)left], *b = &waits[*(const uint32_t *)right];

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a > b) - (a < b);
}

/* All waits, by thread and end. */
static uint32_t *usage_order(const struct fxt_waits *waits)
{
	uint32_t *order = fxt_resize(NULL, waits->count + 1, sizeof(*order));

	for (size_t i = 0; i < waits->count; i++)
		order[i] = (uint32_t)i;
	if (waits->count > 1)
		qsort_r(order, waits->count, sizeof(*order), usage_by_thread_and_end, waits->items);
	return order;
}

/* The last wait of a thread that was over before a moment, and that somebody ended after `start`; NULL if
 * there is none. */
static const struct fxt_wait *usage_last_wait(const struct fxt_waits *waits, const uint32_t *order,
        uint32_t thread, uint64_t start, uint64_t moment)
{
	size_t low = 0, high = waits->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fxt_wait *wait = &waits->items[order[middle]];

		if (wait->thread < thread || (wait->thread == thread && wait->end <= moment))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0; low--) {
		const struct fxt_wait *wait = &waits->items[order[low - 1]];

		if (wait->thread != thread || wait->end <= start)
			return NULL;
		if (wait->release != FXT_NO_RELEASE && waits->releases[wait->release].ns > start &&
		        waits->releases[wait->release].ns < wait->end)
			return wait;
	}
	return NULL;
}

/* By which release, after `start`, a thread could go on that was running at a moment, be it from its last
 * wait or from its begin, and in *back when it did; FXT_NO_RELEASE if by none. */
static uint32_t usage_let_go_by(const struct fxt_waits *waits, const uint32_t *order, uint32_t thread,
        uint64_t start, uint64_t moment, uint64_t *back)
{
	const struct fxt_wait *wait = usage_last_wait(waits, order, thread, start, moment);
	uint32_t birth;

	if (wait) {
		*back = wait->end;
		return wait->release;
	}
	birth = fxt_waits_birth(waits, thread, back);
	if (birth == FXT_NO_RELEASE || *back > moment || waits->releases[birth].ns <= start ||
	        waits->releases[birth].ns >= *back)
		return FXT_NO_RELEASE;
	return birth;
}

static void usage_add_step(struct fxt_critical_path *path, struct fxt_critical_step step)
{
	if (step.start >= step.end)
		return;
	fxt_make_room(path->steps, path->count, path->room);
	path->steps[path->count++] = step;
}

void fxt_critical_path_read(struct fxt_critical_path *path, const struct fxt_waits *waits, uint32_t thread,
        uint64_t start, uint64_t end)
{
	uint32_t release = FXT_NO_RELEASE, before, *order = usage_order(waits);
	uint64_t back;

	*path = (struct fxt_critical_path){0};
	while ((before = usage_let_go_by(waits, order, thread, start, end, &back)) != FXT_NO_RELEASE) {
		uint64_t let_go = waits->releases[before].ns;

		usage_add_step(path, (struct fxt_critical_step){thread, back, end, release, false});
		usage_add_step(path, (struct fxt_critical_step){thread, let_go, back, before, true});
		release = before;
		thread = waits->releases[release].thread;
		end = let_go;
	}
	usage_add_step(path, (struct fxt_critical_step){thread, start, end, release, false});
	free(order);
}

void fxt_critical_path_free(struct fxt_critical_path *path)
{
	free(path->steps);
	*path = (struct fxt_critical_path){0};
}

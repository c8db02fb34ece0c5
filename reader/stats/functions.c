/*
 * Sums up slices by function in a walk with several threads; each worker has sums of its
 * own, which are added at the end. The visitor runs for every slice of a trace, so a cache
 * of recent functions stands in front of the index.
 */
#include "functions.h"

#include <math.h>
#include <stdlib.h>
#include "reader/slices/walk.h"

enum { LATELY = 256 }; /* entries of fxt_functions.lately; a power of two */
enum { FEW = 64 };     /* look-ups without a table: a trace may have a thread a call */

/* ---- functions ---- */

static uint32_t functions_find(struct fxt_functions *functions, uint32_t name, bool of_tracer)
{
	uint32_t hash = fxt_hash_word((uint64_t)name << 1 | of_tracer);

	for (struct fxt_probe probe = fxt_probe(&functions->index, hash);
	        fxt_probe_next(&functions->index, &probe);)
		if (functions->items[probe.id].name == name &&
		        functions->items[probe.id].of_tracer == of_tracer)
			return probe.id;
	fxt_index_add(&functions->index, hash, (uint32_t)functions->count);
	fxt_make_room(functions->items, functions->count, functions->room);
	functions->items[functions->count] =
	        (struct fxt_function){.name = name, .of_tracer = of_tracer, .min = UINT64_MAX};
	return (uint32_t)functions->count++;
}

static uint32_t functions_find_again(struct fxt_functions *functions, uint32_t name, bool of_tracer)
{
	uint32_t at = functions_find(functions, name, of_tracer);

	if (!functions->lately && ++functions->looked_for == FEW)
		functions->lately = fxt_allocate(LATELY * sizeof(*functions->lately));
	if (functions->lately)
		functions->lately[name % LATELY] = at;
	return at;
}

static inline uint32_t functions_of(struct fxt_functions *functions, uint32_t name, bool of_tracer)
{
	if (__builtin_expect(functions->lately != NULL, 1)) {
		uint32_t at = functions->lately[name % LATELY];
		const struct fxt_function *f = &functions->items[at];

		if (f->name == name && f->of_tracer == of_tracer)
			return at;
	}
	return functions_find_again(functions, name, of_tracer);
}

/* The calls with times in the trace. */
static inline uint64_t functions_recorded(const struct fxt_function *f)
{
	return f->calls - f->elided;
}

/* Adds the time of a call that is not the first. The first one is put into the histogram
 * together with the second, so that a function with one call has none. */
static inline void functions_add_time(struct fxt_function *f, uint64_t time)
{
	if (functions_recorded(f) == 1)
		fxt_histogram_add(&f->times, f->sum - f->elided_sum);
	fxt_histogram_add(&f->times, time);
}

void fxt_functions_add_call(struct fxt_functions *functions, uint32_t key, uint64_t time, bool is_open)
{
	uint32_t at = functions_find(functions, key, false); /* may move the items */
	struct fxt_function *f = &functions->items[at];

	if (f->calls > 0)
		functions_add_time(f, time);
	f->calls++;
	f->outermost_calls++;
	f->open += is_open;
	f->sum += time;
	f->total += time;
	f->self += time;
	f->min = time < f->min ? time : f->min;
	f->max = time > f->max ? time : f->max;
}

static void functions_add_times(struct fxt_function *sum, const struct fxt_function *f)
{
	uint64_t recorded = functions_recorded(f), summed = functions_recorded(sum);

	if (recorded == 1 && summed > 0)
		functions_add_time(sum, f->sum - f->elided_sum);
	else if (recorded > 1 && summed == 1)
		fxt_histogram_add(&sum->times, sum->sum - sum->elided_sum);
	fxt_histogram_merge(&sum->times, &f->times);
}

static void functions_add(struct fxt_function *sum, const struct fxt_function *f)
{
	functions_add_times(sum, f);
	sum->calls += f->calls;
	sum->open += f->open;
	sum->lacks_states |= f->lacks_states;
	sum->elided += f->elided;
	sum->elided_sum += f->elided_sum;
	if (f->elided_longest > sum->elided_longest)
		sum->elided_longest = f->elided_longest;
	sum->total += f->total;
	sum->self += f->self;
	sum->sum += f->sum;
	sum->outermost_calls += f->outermost_calls;
	sum->outermost_inside += f->outermost_inside;
	sum->self_inside += f->self_inside;
	sum->folded += f->folded;
	sum->total_running += f->total_running;
	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		sum->self_cpu[i] += f->self_cpu[i];
	if (f->min < sum->min)
		sum->min = f->min;
	if (f->max > sum->max)
		sum->max = f->max;
}

void fxt_functions_add(struct fxt_functions *sum, const struct fxt_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct fxt_function *f = &functions->items[i];

		uint32_t at = functions_find(sum, f->name, f->of_tracer);

		functions_add(&sum->items[at], f);
	}
}

void fxt_functions_to_ns(struct fxt_functions *functions, const struct fxt_scan *scan)
{
	for (size_t i = 0; i < functions->count; i++) {
		struct fxt_function *f = &functions->items[i];

		/* Elided calls inside may have been reported for another thread than this
		 * one. */
		f->self = (int64_t)f->self < 0 ? 0 : fxt_scan_ns(scan, f->self);
		f->total = fxt_scan_ns(scan, f->total);
		f->total = f->elided && f->total < f->self ? f->self : f->total;
		f->elided_longest = fxt_scan_ns(scan, f->elided_longest);
		f->sum = fxt_scan_ns(scan, f->sum);
		f->min = fxt_scan_ns(scan, f->min);
		f->max = fxt_scan_ns(scan, f->max);
		f->total_running = fxt_scan_ns(scan, f->total_running);
		for (unsigned j = 0; j < FXT_CPU_STATES; j++)
			f->self_cpu[j] = fxt_scan_ns(scan, f->self_cpu[j]);
	}
}

uint64_t fxt_functions_calls(const struct fxt_functions *functions)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < functions->count; i++)
		calls += functions->items[i].of_tracer ? 0 : functions->items[i].calls;
	return calls;
}

uint64_t fxt_functions_called(const struct fxt_functions *functions)
{
	uint64_t count = 0;

	for (size_t i = 0; i < functions->count; i++)
		count += !functions->items[i].of_tracer && functions->items[i].calls > 0;
	return count;
}

void fxt_functions_free(struct fxt_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		fxt_histogram_free(&functions->items[i].times);
	free(functions->items);
	free(functions->lately);
	fxt_index_free(&functions->index);
	*functions = (struct fxt_functions){0};
}

/* ---- the walk ---- */

enum { SKIPPED = UINT32_MAX }; /* a key: counts only in the slice around */

struct sums {
	const struct fxt_grouping *grouping;
	const struct fxt_thread_times *times;
	struct fxt_functions *threads; /* by id */
	/* the thread of the current slices */
	struct fxt_functions *thread;
	uint32_t thread_key;
	uint32_t function_category;
	bool has_waits, has_cpu;
	struct fxt_interval_reader waited, cpu[FXT_CPU_STATES];
	/* Between these two moments the thread was in a single state; FXT_CPU_STATES: in
	 * none. */
	uint64_t steady_from, steady_to;
	enum fxt_cpu_state steady;
};

static void functions_set_thread(void *state, uint32_t thread)
{
	struct sums *sums = state;
	const struct fxt_thread_times *times = sums->times;

	sums->thread = &sums->threads[thread];
	if (sums->grouping->by == FXT_BY_THREAD)
		sums->thread_key = sums->grouping->key_of[thread];
	if (!times)
		return;
	sums->has_waits = fxt_intervals_has(&times->waited, thread);
	fxt_intervals_read(&sums->waited, &times->waited, thread);
	sums->has_cpu = false;
	for (unsigned i = 0; i < FXT_CPU_STATES; i++) {
		sums->has_cpu |= fxt_intervals_has(&times->cpu[i], thread);
		fxt_intervals_read(&sums->cpu[i], &times->cpu[i], thread);
	}
	sums->steady_from = 1;
	sums->steady_to = 0;
}

/* A slice is summed up by this key. */
static inline uint32_t functions_key(
        const struct sums *sums, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	const struct fxt_grouping *grouping = sums->grouping;

	if (slice->is_inherited)
		return SKIPPED;
	if (grouping->by == FXT_BY_FUNCTION)
		return slice->name;
	if (grouping->by == FXT_CALLERS)
		return grouping->of[slice->name] ? parent->slice.name : SKIPPED;
	if (grouping->by == FXT_CALLEES)
		return grouping->of[parent->slice.name] ? slice->name : SKIPPED;
	if (!slice->is_call)
		return slice->name;
	if (grouping->by == FXT_BY_NAME)
		return grouping->key_of[slice->name];
	if (grouping->by == FXT_BY_NAME_OF_SPAN)
		return slice->category == sums->function_category ? SKIPPED : grouping->key_of[slice->name];
	if (grouping->by == FXT_BY_VALUE)
		return fxt_values_of(grouping->values, slice->offset);
	return grouping->by == FXT_BY_CATEGORY ? slice->category : sums->thread_key;
}

/* True for a slice that is not counted as a function. For callers and callees, a wait
 * counts like a call. */
static inline bool functions_is_apart(const struct sums *sums, const struct fxt_slice *slice)
{
	return !slice->is_call && sums->grouping->by < FXT_CALLERS;
}

/* A frame's word is 1 + its function, and whether it is its outermost call; 0 if the slice
 * is skipped. */
static inline struct fxt_function *functions_of_frame(struct sums *sums, const struct fxt_walk_frame *frame)
{
	return frame->word > 0 ? &sums->thread->items[(frame->word - 1) >> 1] : NULL;
}

static inline void functions_count_state(struct fxt_function *f, struct fxt_function *around,
        enum fxt_cpu_state state, uint64_t time, bool outermost)
{
	if (around)
		around->self_cpu[state] -= time;
	if (f)
		f->self_cpu[state] += time;
	if (f && outermost && state == FXT_CPU_RUNNING)
		f->total_running += time;
}

/* Called once all readers are at the same moment: finds how long their states stay the
 * same. */
static void functions_find_steady(struct sums *sums)
{
	unsigned states = 0;

	sums->steady_from = 0;
	sums->steady_to = UINT64_MAX;
	sums->steady = FXT_CPU_STATES;
	for (unsigned i = 0; i < FXT_CPU_STATES; i++) {
		const struct fxt_interval_reader *reader = &sums->cpu[i];

		if (reader->low > sums->steady_from)
			sums->steady_from = reader->low;
		if (reader->high < sums->steady_to)
			sums->steady_to = reader->high;
		if (reader->is_inside)
			sums->steady = i;
		states += reader->is_inside;
	}
	if (states > 1) /* a thread with several koids, or a faulty trace */
		sums->steady_to = 0;
}

static void functions_count_states(struct sums *sums, struct fxt_function *f, struct fxt_function *around,
        uint64_t start, uint64_t end, bool outermost)
{
	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		functions_count_state(
		        f, around, i, fxt_intervals_between(&sums->cpu[i], start, end), outermost);
	functions_find_steady(sums);
}

/* Adds the thread's states during a slice to the function's self time (NULL: none), and
 * takes them from the slice around. */
static inline void functions_count_cpu(struct sums *sums, struct fxt_function *f,
        const struct fxt_slice *slice, const struct fxt_walk_frame *parent, bool outermost)
{
	struct fxt_function *around = functions_of_frame(sums, parent);

	if (__builtin_expect(slice->start < sums->steady_from || slice->end > sums->steady_to, 0))
		functions_count_states(sums, f, around, slice->start, slice->end, outermost);
	else if (sums->steady < FXT_CPU_STATES)
		functions_count_state(f, around, sums->steady, slice->end - slice->start, outermost);
}

static inline void functions_count_call(struct sums *sums, struct fxt_function *f,
        const struct fxt_slice *slice, const struct fxt_walk_frame *parent, bool outermost)
{
	uint64_t time = fxt_own_time(sums->has_waits ? &sums->waited : NULL, slice);

	if (sums->has_cpu)
		functions_count_cpu(sums, f, slice, parent, outermost);
	/* A wait caused by the tracer is a slice inside, so it is not in the self time. */
	f->self += slice->end - slice->start;
	if (f->calls > 0)
		functions_add_time(f, time);
	f->calls++;
	f->sum += time;
	if (time < f->min)
		f->min = time;
	if (time > f->max)
		f->max = time;
	if (outermost) {
		f->total += time;
		f->outermost_calls++;
	}
}

static inline __attribute__((always_inline)) void functions_count_leaf(
        void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct sums *sums = state;
	uint32_t key = functions_key(sums, slice, parent);

	if (key == SKIPPED) {
		if (sums->has_cpu)
			functions_count_cpu(sums, NULL, slice, parent, false);
		return;
	}
	uint32_t at = functions_of(sums->thread, key, functions_is_apart(sums, slice));
	struct fxt_function *f = &sums->thread->items[at];

	functions_count_call(sums, f, slice, parent, f->depth == 0);
}

static inline void functions_enter(void *state, struct fxt_walk_frame *frame)
{
	struct sums *sums = state;
	uint32_t key = frame->is_hidden ? SKIPPED : functions_key(sums, &frame->slice, frame - 1);

	frame->word = 0;
	if (key == SKIPPED) {
		if (sums->has_cpu && !frame->is_context)
			functions_count_cpu(sums, NULL, &frame->slice, frame - 1, false);
		return;
	}
	uint32_t at = functions_of(sums->thread, key, functions_is_apart(sums, &frame->slice));
	struct fxt_function *f = &sums->thread->items[at];
	bool outermost = f->depth++ == 0;

	frame->word = ((uint64_t)at << 1 | outermost) + 1;
	if (frame->is_context)
		return;
	f->open += frame->slice.is_open;
	functions_count_call(sums, f, &frame->slice, frame - 1, outermost);
}

static inline void functions_leave(void *state, const struct fxt_walk_frame *frame)
{
	struct fxt_function *f = functions_of_frame(state, frame);

	if (!f)
		return;
	f->depth--;
	f->self -= frame->inside; /* a context adds only this: the walker of the slice's own
	                             range counts the slice itself */
	f->self_inside += frame->calls;
	f->folded += frame->folded;
	if ((frame->word - 1) & 1)
		f->outermost_inside += frame->all_calls;
}

static const struct fxt_visitor visitor = {.thread = functions_set_thread,
        .enter = functions_enter,
        .leave = functions_leave,
        .leaf = functions_count_leaf,
        .sees_hidden = true,
        .looks_near = true};

static void functions_sum_up(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &visitor, state);
}

/* ---- what the tracer left out ---- */

/* The times are unknown if the trace has no context switches, or none of these threads. */
static bool functions_has_cpu(const struct fxt_function *f)
{
	uint64_t known = f->total_running;

	for (unsigned i = 0; i < FXT_CPU_STATES; i++)
		known += f->self_cpu[i];
	return known > 0;
}

bool fxt_function_has_self_cpu(const struct fxt_function *f)
{
	return functions_has_cpu(f) && !f->lacks_states;
}

bool fxt_function_has_total_cpu(const struct fxt_function *f)
{
	return functions_has_cpu(f) && f->elided == 0;
}

bool fxt_functions_have_elided(const struct fxt_scan *scan, const struct fxt_grouping *grouping)
{
	const struct fxt_filter *filter = scan->filter;

	return scan->records_overwritten == 0 && !(scan->cut.what & (FXT_CUT_TIME | FXT_CUT_FUNCTIONS)) &&
	       !(grouping && (grouping->by >= FXT_BY_VALUE || grouping->by == FXT_BY_NAME_OF_SPAN)) &&
	       (!filter || (!filter->under && filter->from == 0 && filter->to == UINT64_MAX &&
	                           filter->least == 0 && !filter->records));
}

/* Counts the names of functions for each key: a key with a single name has its total. NULL:
 * every key has. The caller frees the result. */
static uint32_t *functions_names_of_keys(const struct fxt_scan *scan, const struct fxt_grouping *grouping)
{
	size_t count = scan->tables.string_count;
	uint32_t *names;

	if (grouping->by != FXT_BY_NAME)
		return NULL;
	names = fxt_allocate(count * sizeof(*names));
	for (size_t i = 0; i < count; i++)
		if (grouping->key_of[i] < count)
			names[grouping->key_of[i]]++;
	return names;
}

static void functions_add_elided(struct fxt_function *f, const struct fxt_elided_calls *calls, bool has_total)
{
	f->calls += calls->calls;
	f->lacks_states = true;
	f->elided += calls->calls;
	f->sum += calls->sum;
	f->elided_sum += calls->sum;
	f->self += (uint64_t)calls->self;
	f->total += has_total ? calls->total : 0;
	if (calls->calls && calls->shortest < f->min)
		f->min = calls->shortest;
	if (calls->longest > f->max)
		f->max = calls->longest;
	if (calls->longest > f->elided_longest)
		f->elided_longest = calls->longest;
}

static void functions_add_elided_sums(
        struct fxt_functions *threads, const struct fxt_scan *scan, const struct fxt_grouping *grouping)
{
	const struct fxt_filter *filter = scan->filter;
	uint32_t *names_of = functions_names_of_keys(scan, grouping);

	for (size_t i = 0; i < scan->elided_sums.count; i++) {
		const struct fxt_elided_calls *calls = &scan->elided_sums.items[i];
		uint32_t key = grouping->by == FXT_BY_FUNCTION ? calls->name
		               : grouping->by == FXT_BY_NAME   ? grouping->key_of[calls->name]
		               : grouping->by == FXT_BY_THREAD ? grouping->key_of[calls->thread]
		                                               : scan->call_category;

		if (!fxt_filter_has_thread(filter, calls->thread) ||
		        (filter && filter->names && !filter->names[calls->name]))
			continue;
		struct fxt_functions *thread = &threads[calls->thread];
		uint32_t at = functions_find(thread, key, false);

		functions_add_elided(&thread->items[at], calls,
		        grouping->by == FXT_BY_FUNCTION || (names_of && names_of[key] == 1));
	}
	free(names_of);
}

struct fxt_functions *fxt_functions_read(const struct fxt_scan *scan, const struct fxt_grouping *grouping,
        const struct fxt_thread_times *times, unsigned workers, bool *complete)
{
	static const struct fxt_grouping by_function = {.by = FXT_BY_FUNCTION};
	struct sums *sums = fxt_allocate(workers * sizeof(*sums));
	struct fxt_functions *threads;

	for (unsigned i = 0; i < workers; i++) {
		sums[i].grouping = grouping ? grouping : &by_function;
		sums[i].function_category = scan->call_category;
		sums[i].times = times;
		sums[i].threads = fxt_allocate(scan->thread_count * sizeof(*sums[i].threads));
	}
	*complete = fxt_walk(scan, functions_sum_up, sums, sizeof(*sums), workers);
	threads = sums[0].threads;
	for (unsigned i = 1; i < workers; i++) {
		for (size_t j = 0; j < scan->thread_count; j++) {
			fxt_functions_add(&threads[j], &sums[i].threads[j]);
			fxt_functions_free(&sums[i].threads[j]);
		}
		free(sums[i].threads);
	}
	free(sums);
	if (fxt_functions_have_elided(scan, grouping))
		functions_add_elided_sums(threads, scan, grouping ? grouping : &by_function);
	return threads;
}

/* ---- without the cost of recording ---- */

static struct fxt_corrected functions_corrected(uint64_t ns, double cost_ps, double error_ps)
{
	double left = (double)ns - cost_ps / 1000;

	return (struct fxt_corrected){left > 0 ? left : 0, error_ps / 1000};
}

struct fxt_corrected fxt_corrected_total(const struct fxt_function *f, const struct fxt_call_cost *cost)
{
	double calls = (double)f->outermost_calls, inside = (double)f->outermost_inside;
	double within = (double)cost->within_ps, around = (double)cost->around_ps;

	return functions_corrected(f->total, calls * within + inside * (within + around),
	        (calls + inside) * (double)cost->error_ps);
}

struct fxt_corrected fxt_corrected_self(const struct fxt_function *f, const struct fxt_call_cost *cost)
{
	double calls = (double)(f->calls + f->folded), inside = (double)(f->self_inside + f->folded);

	return functions_corrected(f->self,
	        calls * (double)cost->within_ps + inside * (double)cost->around_ps,
	        (calls + inside) * (double)cost->error_ps);
}

bool fxt_functions_read_all(struct fxt_functions *all, const struct fxt_scan *scan,
        const struct fxt_grouping *grouping, const struct fxt_thread_times *times)
{
	bool is_whole;
	struct fxt_functions *threads =
	        fxt_functions_read(scan, grouping, times, fxt_walk_workers(scan), &is_whole);

	*all = (struct fxt_functions){0};
	for (size_t i = 0; i < scan->thread_count; i++) {
		fxt_functions_add(all, &threads[i]);
		fxt_functions_free(&threads[i]);
	}
	free(threads);
	fxt_functions_to_ns(all, scan);
	return is_whole;
}

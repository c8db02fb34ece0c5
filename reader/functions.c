#include "functions.h"

#include <stdlib.h>
#include "walk.h"

enum { LATELY = 256 }; /* entries of fxt_functions.lately; a power of two */
enum { FEW = 64 };     /* look-ups: a trace may have a thread for every call, which is not worth a table */

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

static uint32_t functions_find_again(struct fxt_functions *functions, const struct fxt_slice *slice)
{
	uint32_t at = functions_find(functions, slice->name, !slice->is_call);

	if (!functions->lately && ++functions->looked_for == FEW)
		functions->lately = fxt_allocate(LATELY * sizeof(*functions->lately));
	if (functions->lately)
		functions->lately[slice->name % LATELY] = at;
	return at;
}

static inline uint32_t functions_of(struct fxt_functions *functions, const struct fxt_slice *slice)
{
	if (__builtin_expect(functions->lately != NULL, 1)) {
		uint32_t at = functions->lately[slice->name % LATELY];
		const struct fxt_function *f = &functions->items[at];

		if (f->name == slice->name && f->of_tracer == !slice->is_call)
			return at;
	}
	return functions_find_again(functions, slice);
}

static void functions_add(struct fxt_function *sum, const struct fxt_function *f)
{
	sum->calls += f->calls;
	sum->open += f->open;
	sum->total += f->total;
	sum->self += f->self;
	sum->sum += f->sum;
	sum->outermost_calls += f->outermost_calls;
	sum->outermost_inside += f->outermost_inside;
	sum->self_inside += f->self_inside;
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

		f->total = fxt_scan_ns(scan, f->total);
		f->self = fxt_scan_ns(scan, f->self);
		f->sum = fxt_scan_ns(scan, f->sum);
		f->min = fxt_scan_ns(scan, f->min);
		f->max = fxt_scan_ns(scan, f->max);
	}
}

void fxt_functions_free(struct fxt_functions *functions)
{
	free(functions->items);
	free(functions->lately);
	fxt_index_free(&functions->index);
	*functions = (struct fxt_functions){0};
}

/* ---- the walk ---- */

struct sums {
	struct fxt_functions *threads; /* by id */
	struct fxt_functions *thread;  /* whose slices come */
};

static void functions_set_thread(void *state, uint32_t thread)
{
	struct sums *sums = state;

	sums->thread = &sums->threads[thread];
}

static inline void functions_count_call(struct fxt_function *f, const struct fxt_slice *slice, bool outermost)
{
	uint64_t time = slice->end - slice->start;

	f->calls++;
	f->sum += time;
	f->self += time;
	if (time < f->min)
		f->min = time;
	if (time > f->max)
		f->max = time;
	if (outermost) {
		f->total += time;
		f->outermost_calls++;
	}
}

static inline void functions_count_leaf(
        void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	struct fxt_functions *functions = ((struct sums *)state)->thread;
	uint32_t at = functions_of(functions, slice);
	struct fxt_function *f = &functions->items[at];

	(void)parent;
	functions_count_call(f, slice, f->depth == 0);
}

/* A frame's word is its function, and whether it is its outermost call. */
static inline void functions_enter(void *state, struct fxt_walk_frame *frame)
{
	struct fxt_functions *functions = ((struct sums *)state)->thread;
	uint32_t at = functions_of(functions, &frame->slice);
	struct fxt_function *f = &functions->items[at];
	bool outermost = f->depth++ == 0;

	frame->word = (uint64_t)at << 1 | outermost;
	if (frame->is_context)
		return;
	f->open += frame->slice.is_open;
	functions_count_call(f, &frame->slice, outermost);
}

static inline void functions_leave(void *state, const struct fxt_walk_frame *frame)
{
	struct fxt_function *f = &((struct sums *)state)->thread->items[frame->word >> 1];

	f->depth--;
	f->self -= frame->inside; /* a context adds nothing but this: the slice itself is counted by the
	                             walker of the range that it is in */
	f->self_inside += frame->calls;
	if (frame->word & 1)
		f->outermost_inside += frame->all_calls;
}

static const struct fxt_visitor visitor = {.thread = functions_set_thread,
        .enter = functions_enter,
        .leave = functions_leave,
        .leaf = functions_count_leaf};

static void functions_sum_up(struct fxt_walker *walker, void *state)
{
	fxt_walk_ranges(walker, &visitor, state);
}

struct fxt_functions *fxt_functions_read(const struct fxt_scan *scan, unsigned workers, bool *complete)
{
	struct sums *sums = fxt_allocate(workers * sizeof(*sums));
	struct fxt_functions *threads;

	for (unsigned i = 0; i < workers; i++)
		sums[i].threads = fxt_allocate(scan->thread_count * sizeof(*sums[i].threads));
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
	double calls = (double)f->calls, inside = (double)f->self_inside;

	return functions_corrected(f->self,
	        calls * (double)cost->within_ps + inside * (double)cost->around_ps,
	        (calls + inside) * (double)cost->error_ps);
}

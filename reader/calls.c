#include "calls.h"

#include <stdlib.h>
#include "text.h"
#include "writer/loss.h"

/*
 * Whether a call is inside another one of its function is known only when the outer one ends, since inner
 * calls come first. So a function keeps its outermost calls so far: when they started, and what total was
 * before. A call takes back all that started later than itself.
 *
 * Most functions never call themselves, and a loop may call one for as long as the trace lasts; keeping all
 * that would be most of the time and of the memory. So a function keeps a few, and then the last of these
 * stands for all that come later. A call that begins among those it stands for, and would take back some of
 * them, makes the function keep all; reading begins again.
 */
enum { FEW = 64 };

struct fxt_outermost {
	uint64_t start;
	uint64_t total_before, calls_before, inside_before;
};

/* ---- functions ---- */

static inline struct fxt_function *function_of(struct fxt_functions *functions, uint32_t name)
{
	uint32_t hash = fxt_hash_word(name);

	for (struct fxt_probe probe = fxt_probe(&functions->index, hash);
	        fxt_probe_next(&functions->index, &probe);)
		if (functions->items[probe.id].name == name)
			return &functions->items[probe.id];
	fxt_index_add(&functions->index, hash, (uint32_t)functions->count);
	fxt_make_room(functions->items, functions->count, functions->room);
	functions->items[functions->count] = (struct fxt_function){.name = name, .min = UINT64_MAX};
	return &functions->items[functions->count++];
}

struct fxt_function *fxt_function(struct fxt_functions *functions, uint32_t name)
{
	return function_of(functions, name);
}

void fxt_function_add(struct fxt_function *sum, const struct fxt_function *function)
{
	sum->of_tracer = function->of_tracer;
	sum->calls += function->calls;
	sum->open += function->open;
	sum->total += function->total;
	sum->self += function->self;
	sum->sum += function->sum;
	sum->outermost_calls += function->outermost_calls;
	sum->outermost_inside += function->outermost_inside;
	sum->self_inside += function->self_inside;
	if (function->min < sum->min)
		sum->min = function->min;
	if (function->max > sum->max)
		sum->max = function->max;
}

static struct fxt_corrected corrected(uint64_t ns, double cost_ps, double error_ps)
{
	double left = (double)ns - cost_ps / 1000;

	return (struct fxt_corrected){left > 0 ? left : 0, error_ps / 1000};
}

struct fxt_corrected fxt_corrected_total(const struct fxt_function *f, const struct fxt_call_cost *cost)
{
	double calls = (double)f->outermost_calls, inside = (double)f->outermost_inside;
	double within = (double)cost->within_ps, around = (double)cost->around_ps;

	return corrected(f->total, calls * within + inside * (within + around),
	        (calls + inside) * (double)cost->error_ps);
}

struct fxt_corrected fxt_corrected_self(const struct fxt_function *f, const struct fxt_call_cost *cost)
{
	double calls = (double)f->calls, inside = (double)f->self_inside;

	return corrected(f->self, calls * (double)cost->within_ps + inside * (double)cost->around_ps,
	        (calls + inside) * (double)cost->error_ps);
}

void fxt_functions_free(struct fxt_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free(functions->items[i].outermost);
	free(functions->items);
	fxt_index_free(&functions->index);
	*functions = (struct fxt_functions){0};
}

/* Forgets all but what is known of them for good: names, and which keep all. */
static void functions_forget(struct fxt_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		struct fxt_function *f = &functions->items[i];

		*f = (struct fxt_function){.name = f->name,
		        .keeps_all = f->keeps_all,
		        .min = UINT64_MAX,
		        .outermost = f->outermost,
		        .outermost_room = f->outermost_room};
	}
}

/*
 * Calls inside one finished subtree will be taken back together or not at all, so the first of them stands
 * for all. What is left is at most one for each subtree that waits for its parent.
 */
static void merge_outermost(const struct fxt_nesting *nesting, uint32_t thread, struct fxt_function *f)
{
	size_t kept = 0, subtree = 0;

	for (size_t i = 0; i < f->outermost_count; i++) {
		size_t before = subtree;

		subtree = fxt_nesting_subtree(nesting, thread, f->outermost[i].start, before);
		if (i == 0 || subtree != before)
			f->outermost[kept++] = f->outermost[i];
	}
	f->outermost_count = kept;
}

static void take_back(struct fxt_function *f, uint64_t start)
{
	while (f->outermost_count > 0 && f->outermost[f->outermost_count - 1].start >= start) {
		const struct fxt_outermost *inner = &f->outermost[--f->outermost_count];

		f->total = inner->total_before;
		f->outermost_calls = inner->calls_before;
		f->outermost_inside = inner->inside_before;
	}
}

static void keep(const struct fxt_nesting *nesting, uint32_t thread, struct fxt_function *f, uint64_t start)
{
	if (f->outermost_count == f->outermost_room) {
		merge_outermost(nesting, thread, f);
		/* A full list that hardly shrinks would be merged again and again. */
		if (f->outermost_count >= f->outermost_room / 4) {
			f->outermost_room = 4 * f->outermost_room + 4;
			f->outermost = fxt_resize(f->outermost, f->outermost_room, sizeof(*f->outermost));
		}
	}
	f->outermost[f->outermost_count++] =
	        (struct fxt_outermost){start, f->total, f->outermost_calls, f->outermost_inside};
}

/* Whether there is room for one more of a few, as there is again when what the last one stands for has become
 * one subtree. This is not looked up for every call. */
static bool has_room(const struct fxt_nesting *nesting, uint32_t thread, struct fxt_function *f)
{
	if (f->outermost_count < FEW)
		return true;
	if (f->last_stands && f->calls % (4 * FEW) != 0)
		return false;
	uint64_t last = f->outermost[FEW - 1].start;
	size_t subtree = fxt_nesting_subtree(nesting, thread, last, 0);

	if (fxt_nesting_subtree(nesting, thread, f->latest, subtree) == subtree)
		merge_outermost(nesting, thread, f);
	return f->outermost_count < FEW;
}

/* Of a call of the function that started then, and holds all that ended since. */
static void add_to_total(struct fxt_calls *c, uint32_t thread, struct fxt_function *f, uint64_t start)
{
	if (f->outermost_count > 0 && f->latest >= start) {
		size_t kept = f->outermost_count;

		take_back(f, start);
		if (f->outermost_count == kept)
			f->keeps_all = c->again = true;
	}
	f->last_stands = !f->keeps_all && !has_room(&c->nesting, thread, f);
	if (!f->last_stands)
		keep(&c->nesting, thread, f, start);
	f->latest = start;
}

static void finished(void *context, uint32_t thread, const struct fxt_slice *slice,
        const struct fxt_inside *inside, enum fxt_nesting_fault fault)
{
	struct fxt_calls *c = context;
	struct fxt_function *f;
	uint64_t duration = slice->end - slice->start;

	(void)fault;
	fxt_make_zeroed(c->threads, c->thread_count, thread);
	f = function_of(&c->threads[thread], slice->name);
	f->of_tracer = !slice->is_call;
	f->calls++;
	f->open += slice->open;
	f->sum += duration;
	/* Slices that overlap may hold more than they last. */
	f->self += duration > inside->ns ? duration - inside->ns : 0;
	f->self_inside += inside->calls;
	if (duration < f->min)
		f->min = duration;
	if (duration > f->max)
		f->max = duration;
	add_to_total(c, thread, f, slice->start);
	f->total += duration;
	f->outermost_calls++;
	f->outermost_inside += inside->all_calls;
}

/* ---- records ---- */

static void see_moment(struct fxt_calls *c, uint64_t ns)
{
	if (ns < c->start)
		c->start = ns;
	if (ns > c->end)
		c->end = ns;
}

static void put_slice(struct fxt_calls *c, uint32_t thread, const struct fxt_slice *slice)
{
	if (slice->end < slice->start) {
		c->malformed++;
		return;
	}
	see_moment(c, slice->start);
	see_moment(c, slice->end);
	fxt_nesting_slice(&c->nesting, thread, slice);
}

static bool is_call(const struct fxt_calls *c, uint32_t category)
{
	return category != c->tracer_category && category != c->process_category &&
	       category != c->sync_category;
}

static void read_plain_call(struct fxt_calls *c, const struct fxt_record *r)
{
	const struct fxt_provider_tables *provider = c->tables.provider;
	uint64_t header = r->words[0];
	struct fxt_slice slice = {
	        .start = fxt_provider_ns(provider, r->words[1]),
	        .end = fxt_provider_ns(provider, r->words[2]),
	        .offset = r->offset,
	        .name = fxt_provider_string(provider, fxt_field(header, 48, 15)),
	        .is_call = is_call(c, fxt_provider_string(provider, fxt_field(header, 32, 15))),
	};

	put_slice(c, provider->threads[fxt_field(header, 24, 8)], &slice);
}

static void read_cost(struct fxt_calls *c, const struct fxt_view *view)
{
	struct fxt_argument within, around, error;

	if (fxt_tables_argument(&c->tables, view, "within_ps", &within) &&
	        fxt_tables_argument(&c->tables, view, "around_ps", &around) &&
	        fxt_tables_argument(&c->tables, view, "error_ps", &error) &&
	        within.type == FXT_ARGUMENT_UINT64 && around.type == FXT_ARGUMENT_UINT64 &&
	        error.type == FXT_ARGUMENT_UINT64)
		c->cost = (struct fxt_call_cost){within.value.word, around.value.word, error.value.word};
}

static void read_event(struct fxt_calls *c, const struct fxt_record *r, const struct fxt_view *view)
{
	const struct fxt_provider_tables *provider = c->tables.provider;
	uint32_t thread = fxt_tables_thread(&c->tables, view->event.thread);
	uint32_t category = fxt_tables_string(&c->tables, view->event.category);
	struct fxt_argument lost;
	struct fxt_slice slice = {
	        .start = fxt_provider_ns(provider, view->event.ticks),
	        .end = fxt_provider_ns(provider, view->event.extra),
	        .offset = r->offset,
	        .name = fxt_tables_string(&c->tables, view->event.name),
	        .is_call = is_call(c, category),
	};

	see_moment(c, slice.start);
	if (view->event.type == FXT_EVENT_INSTANT && category == c->tracer_category &&
	        slice.name == c->cost_name)
		read_cost(c, view);
	if (category == c->tracer_category && fxt_tables_argument(&c->tables, view, "records", &lost) &&
	        lost.type == FXT_ARGUMENT_UINT64) {
		bool overwritten = fxt_ends_with(c->tables.strings[slice.name], FXT_LOSS_OVERWRITTEN);

		*(overwritten ? &c->records_overwritten : &c->records_lost) += lost.value.word;
		/* Theirs hold a number. */
		slice.name = overwritten ? c->overwritten_name : c->lost_name;
	}
	if (view->event.type == FXT_EVENT_DURATION_COMPLETE)
		put_slice(c, thread, &slice);
	else if (view->event.type == FXT_EVENT_DURATION_BEGIN)
		fxt_nesting_begin(&c->nesting, thread, &slice);
	else if (view->event.type == FXT_EVENT_DURATION_END)
		c->malformed += fxt_nesting_end(&c->nesting, thread, slice.start) == FXT_ENDED_BEFORE_START;
}

static void forget(struct fxt_calls *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		functions_forget(&c->threads[i]);
	if (c->tables.provider)
		fxt_tables_free(&c->tables);
	c->again = false;
	fxt_tables_init(&c->tables);
	c->tracer_category = fxt_tables_intern(&c->tables, fxt_span("fxt"));
	c->process_category = fxt_tables_intern(&c->tables, fxt_span("process"));
	c->sync_category = fxt_tables_intern(&c->tables, fxt_span("sync"));
	c->lost_name = fxt_tables_intern(&c->tables, fxt_span("fxt:" FXT_LOSS_LOST));
	c->overwritten_name = fxt_tables_intern(&c->tables, fxt_span("fxt:" FXT_LOSS_OVERWRITTEN));
	c->cost_name = fxt_tables_intern(&c->tables, fxt_span(FXT_CALL_COST_EVENT));
	c->cost = (struct fxt_call_cost){0};
	c->records_lost = c->records_overwritten = 0;
	c->start = UINT64_MAX;
	c->end = 0;
	c->malformed = 0;
}

/* Most of what makes reading begin again is found near the start of a trace: it is not read to its end for
 * that, but up to where it was looked for, each time four times as far. */
enum { FIRST_LOOK_BYTES = 1 << 16 };

void fxt_calls_read(struct fxt_calls *c, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor;
	struct fxt_record r;
	struct fxt_view view;
	uint64_t look;

	*c = (struct fxt_calls){.nesting = {.finished = finished, .context = c}};
	do {
		forget(c);
		cursor = fxt_cursor(archive);
		look = FIRST_LOOK_BYTES;
		while (fxt_next(&cursor, &r)) {
			if (r.offset >= look) {
				if (c->again)
					break;
				look *= 4;
			}
			if (fxt_is_plain_call(r.words[0])) {
				read_plain_call(c, &r);
			} else if (fxt_decode(&r, &view) != NULL) {
				c->malformed++;
			} else {
				fxt_tables_apply(&c->tables, &view);
				if (view.type == FXT_RECORD_EVENT)
					read_event(c, &r, &view);
			}
		}
	} while (!fxt_nesting_finish(&c->nesting, c->end) || c->again);
	c->fault = cursor.fault;
	if (c->start > c->end)
		c->start = c->end;
}

void fxt_calls_free(struct fxt_calls *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		fxt_functions_free(&c->threads[i]);
	free(c->threads);
	fxt_tables_free(&c->tables);
	fxt_nesting_free(&c->nesting);
}

/*
 * Parses the options that choose a part of a trace, and turns them into a filter for one
 * scan. Runs on the command's main thread, before the walks that use the filter. A name
 * that the trace does not have must be an error, not an empty result.
 */
#include "query_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/trace/cxx_names.h"
#include "reader/trace/duration.h"
#include "reader/trace/instrumenting.h"
#include "nearest.h"
#include "reader/stats/slowest.h"
#include "walk.h"

enum { RANK_MAX = 10000 };

/* ---- options ---- */

static const char *query_filter_set_between(struct fxt_query_filter *query, const char *value)
{
	const char *dots = strstr(value, ".."), *end = value;

	query->from_ns = 0;
	query->to_ns = UINT64_MAX;
	if (!dots)
		return "is not FROM..TO, 'last DURATION' or 'during FUNCTION'";
	if (dots > value)
		end = fxt_duration_end(value, &query->from_ns);
	if (end != dots || (dots[2] && !fxt_duration_parse(dots + 2, &query->to_ns)))
		return "is not FROM..TO, two times since the trace's start with a unit, such as 1.5s..20s";
	if (query->from_ns >= query->to_ns)
		return "ends before it begins";
	query->time = FXT_TIME_BETWEEN;
	return NULL;
}

/* "NAME" or "NAME:K". The colons of C++ names do not count. */
static const char *query_filter_set_during(struct fxt_query_filter *query, const char *value)
{
	const char *colon = strrchr(value, ':');
	char name[4096];
	size_t bytes = strlen(value);

	query->rank = 0;
	if (colon && colon > value && colon[-1] != ':' && colon[1] &&
	        strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		query->rank = strtoull(colon + 1, NULL, 10);
		bytes = (size_t)(colon - value);
		if (query->rank < 1 || query->rank > RANK_MAX)
			return "has a rank that is not from 1 to 10000";
	}
	if (bytes >= sizeof(name))
		return "is too long";
	memcpy(name, value, bytes);
	name[bytes] = '\0';
	query->time = FXT_TIME_DURING;
	fxt_patterns_free(&query->during);
	return fxt_patterns_add(&query->during, name);
}

static const char *query_filter_set_time(struct fxt_query_filter *query, const char *value)
{
	if (strncmp(value, "during ", 7) == 0)
		return query_filter_set_during(query, value + 7);
	if (strncmp(value, "last ", 5) != 0)
		return query_filter_set_between(query, value);
	query->time = FXT_TIME_LAST;
	return fxt_duration_parse(value + 5, &query->from_ns)
	               ? NULL
	               : "is not a duration with a unit, such as last 2s";
}

const char *fxt_query_filter_set(struct fxt_query_filter *query, enum fxt_choose what, const char *value)
{
	if (what == FXT_CHOOSE_TIME)
		return query_filter_set_time(query, value);
	if (what == FXT_CHOOSE_MIN)
		return fxt_duration_parse(value, &query->min_ns)
		               ? NULL
		               : "is not a duration with a unit, such as 1.5ms";
	if (what == FXT_CHOOSE_WHERE)
		return fxt_conditions_add(&query->where, value);
	return fxt_patterns_add(&query->patterns[what], value);
}

const char *fxt_query_filter_by(struct fxt_query_filter *query, const char *key)
{
	if (strncmp(key, "arg:", 4) != 0 || !key[4])
		return NULL;
	fxt_conditions_add_name(&query->where, key + 4);
	return key + 4;
}

bool fxt_query_filter_is_all(const struct fxt_query_filter *query)
{
	for (unsigned i = 0; i <= FXT_CHOOSE_UNDER; i++)
		if (query->patterns[i].count > 0)
			return false;
	return query->time == FXT_TIME_ALL && query->min_ns == 0 && query->where.count == 0;
}

void fxt_query_filter_free(struct fxt_query_filter *query)
{
	for (unsigned i = 0; i <= FXT_CHOOSE_UNDER; i++)
		fxt_patterns_free(&query->patterns[i]);
	fxt_patterns_free(&query->during);
	fxt_conditions_free(&query->where);
	*query = (struct fxt_query_filter){0};
}

/* ---- names ---- */

/* Finds which of `count` things are chosen. Returns NULL if none is. */
static bool *query_filter_of(const struct fxt_patterns *patterns, const struct fxt_scan *scan, size_t count,
        bool (*is_chosen)(const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id))
{
	bool *chosen = fxt_allocate(count + 1);
	bool any = false;

	for (uint32_t id = 1; id < count; id++)
		any |= chosen[id] = is_chosen(patterns, scan, id);
	if (any)
		return chosen;
	free(chosen);
	return NULL;
}

/* The short form of a name that is shared, and what tells the function apart from its
 * namesakes: "parse [fast.so]". */
static bool query_filter_has_short_name(
        const struct fxt_patterns *patterns, struct fxt_span plain, struct fxt_span shown)
{
	char *name = fxt_allocate(plain.bytes + 1), *text = fxt_allocate(shown.bytes + 1);
	const char *apart = shown.data + plain.bytes;
	size_t bytes;

	memcpy(name, plain.data, plain.bytes);

	const char *member = fxt_short_name(name);

	bytes = strlen(member);
	memcpy(text, member, bytes);
	memcpy(text + bytes, apart, shown.bytes - plain.bytes);
	bytes += shown.bytes - plain.bytes;

	bool is_match = fxt_patterns_match(patterns, (struct fxt_span){text, bytes});

	free(name);
	free(text);
	return is_match;
}

/* The name as people write it, which answers show. */
static bool query_filter_has_written_name(const struct fxt_patterns *patterns, struct fxt_span plain)
{
	size_t bytes;
	char *text = fxt_cxx_name_shorten(plain, &bytes);
	bool is_match = text && fxt_patterns_match(patterns, (struct fxt_span){text, bytes});

	free(text);
	return is_match;
}

/* A function is found by its name in full and in short; one that shares its name, by the
 * name alone too. */
static bool query_filter_has_name(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id)
{
	struct fxt_span shown = fxt_tables_full(&scan->tables, id),
	                plain = fxt_tables_plain(&scan->tables, id);

	if (fxt_patterns_match(patterns, plain) || query_filter_has_written_name(patterns, plain))
		return true;
	return shown.bytes > plain.bytes && (fxt_patterns_match(patterns, shown) ||
	                                            fxt_patterns_match(patterns, scan->tables.strings[id]) ||
	                                            query_filter_has_short_name(patterns, plain, shown));
}

bool *fxt_query_filter_names(const struct fxt_patterns *patterns, const struct fxt_scan *scan)
{
	return query_filter_of(patterns, scan, scan->tables.string_count, query_filter_has_name);
}

/* Matches a whole path, or the part behind any of its slashes. */
static bool query_filter_has_path(const struct fxt_patterns *patterns, struct fxt_span path)
{
	if (path.bytes == 0)
		return false;
	if (fxt_patterns_match(patterns, path))
		return true;
	for (size_t i = path.bytes; i-- > 0;)
		if (path.data[i] == '/' && fxt_patterns_match(patterns,
		                                   (struct fxt_span){path.data + i + 1, path.bytes - i - 1}))
			return true;
	return false;
}

static bool query_filter_has_module(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id)
{
	for (const struct fxt_origin *o = NULL; (o = fxt_origins_next(&scan->origins, id, o));)
		if (query_filter_has_path(patterns, scan->tables.strings[o->module]))
			return true;
	return false;
}

static bool query_filter_has_file(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id)
{
	for (const struct fxt_origin *o = NULL; (o = fxt_origins_next(&scan->origins, id, o));)
		if (query_filter_has_path(patterns, scan->tables.strings[o->file]))
			return true;
	return false;
}

static bool query_filter_has_process(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id)
{
	const struct fxt_tables *t = &scan->tables;
	uint64_t koid = t->threads[id].process;

	return fxt_patterns_match_object(
	        patterns, t->strings[fxt_tables_object_name(t, FXT_OBJECT_PROCESS, koid)], koid);
}

static bool query_filter_has_thread(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, uint32_t id)
{
	const struct fxt_tables *t = &scan->tables;
	uint64_t koid = t->threads[id].thread;

	return fxt_patterns_match_object(
	        patterns, t->strings[fxt_tables_object_name(t, FXT_OBJECT_THREAD, koid)], koid);
}

/* ---- what a trace does not have ---- */

/* Offers a name as a whole, or in its short form. */
static void query_filter_consider_name(struct fxt_nearest *nearest, char **shortened, struct fxt_span name)
{
	char *copy = fxt_allocate(name.bytes + 1);
	const char *before = nearest->best.data;

	memcpy(copy, name.data, name.bytes);
	fxt_nearest_consider(nearest, fxt_span(fxt_short_name(copy)));
	if (nearest->best.data == before) {
		free(copy);
		return;
	}
	free(*shortened);
	*shortened = copy;
}

/* True for a function that came with the system: people rather ask for their own. */
static bool query_filter_is_of_system(const struct fxt_tables *t, const struct fxt_origin *origin)
{
	struct fxt_span module = t->strings[origin->module];

	return fxt_begins_with(module, "/lib") || fxt_begins_with(module, "/usr/lib");
}

/* Offers the program's functions, and those of the system if none of them is near. */
static void query_filter_find_nearest(
        struct fxt_nearest *nearest, char **shortened, const struct fxt_scan *scan)
{
	const struct fxt_tables *t = &scan->tables;

	for (int of_system = 0; of_system < 2 && nearest->best.bytes == 0; of_system++)
		for (size_t i = 0; i < scan->origins.count; i++)
			if (query_filter_is_of_system(t, &scan->origins.items[i]) == (of_system == 1))
				query_filter_consider_name(
				        nearest, shortened, t->strings[scan->origins.items[i].name]);
	/* If the trace does not say which strings are functions, any string may be. */
	for (uint32_t id = 1; scan->origins.count == 0 && id < t->string_count; id++)
		query_filter_consider_name(nearest, shortened, t->strings[id]);
}

void fxt_query_filter_explain(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, char *error, size_t error_bytes)
{
	const char *pattern = fxt_patterns_text(patterns);
	struct fxt_nearest nearest = fxt_nearest(fxt_span(pattern));
	char *shortened = NULL;
	int length;

	query_filter_find_nearest(&nearest, &shortened, scan);
	length = snprintf(error, error_bytes, "no function is named '%s'", pattern);
	if (nearest.best.bytes > 0 && length > 0 && (size_t)length < error_bytes)
		snprintf(error + length, error_bytes - (size_t)length, "; did you mean '%.*s'?",
		        (int)nearest.best.bytes, nearest.best.data);
	else if (length > 0 && (size_t)length < error_bytes && !scan->has_calls)
		snprintf(error + length, error_bytes - (size_t)length, "; %s",
		        fxt_no_calls(scan->has_earlier_waits).text);
	free(shortened);
}

/* ---- applying ---- */

/* Narrows what is chosen already to what the patterns choose of one kind of things. Returns
 * false if nothing is left. */
static bool query_filter_narrow(bool **chosen, const struct fxt_patterns *patterns,
        const struct fxt_scan *scan, size_t count,
        bool (*is_chosen)(const struct fxt_patterns *, const struct fxt_scan *, uint32_t))
{
	bool *these, any = false;

	if (patterns->count == 0)
		return true;
	these = query_filter_of(patterns, scan, count, is_chosen);
	if (!these)
		return false;
	for (size_t i = 0; *chosen && i < count; i++)
		these[i] &= (*chosen)[i];
	for (size_t i = 0; i < count; i++)
		any |= these[i];
	free(*chosen);
	*chosen = these;
	return any;
}

/* A length of time in units of the scan, rounded up. */
static uint64_t query_filter_from_ns(const struct fxt_scan *scan, uint64_t ns)
{
	double ticks = ceil((double)ns * (double)scan->rate.ticks_per_second / 1e9);

	return ticks < 0x1p64 ? (uint64_t)ticks : UINT64_MAX;
}

static uint64_t query_filter_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool query_filter_find_during(const struct fxt_query_filter *query, const struct fxt_scan *scan,
        struct fxt_filter *filter, char *error, size_t error_bytes)
{
	bool *names = fxt_query_filter_names(&query->during, scan);
	struct fxt_slowest slowest = {0};

	if (names)
		fxt_slowest_read(
		        &slowest, scan, names, false, NULL, (size_t)query->rank, fxt_walk_workers(scan));
	if (slowest.all_calls == 0)
		fxt_query_filter_explain(&query->during, scan, error, error_bytes);
	else if (query->rank > slowest.all_calls)
		snprintf(error, error_bytes, "'%s' has fewer calls than that",
		        fxt_patterns_text(&query->during));
	bool is_found = slowest.all_calls > 0 && query->rank <= slowest.all_calls;

	if (is_found) {
		filter->from = query->rank ? slowest.calls[query->rank - 1].slice.start : slowest.start;
		filter->to = query->rank ? slowest.calls[query->rank - 1].slice.end : slowest.end;
		filter->to = query_filter_add(filter->to, 1);
	}
	fxt_slowest_free(&slowest);
	free(names);
	return is_found;
}

static bool query_filter_find_time(const struct fxt_query_filter *query, const struct fxt_scan *scan,
        struct fxt_filter *filter, char *error, size_t error_bytes)
{
	uint64_t back = query_filter_from_ns(scan, query->from_ns);

	filter->to = UINT64_MAX;
	if (query->time == FXT_TIME_DURING)
		return query_filter_find_during(query, scan, filter, error, error_bytes);
	if (query->time == FXT_TIME_LAST) {
		filter->from = scan->end - scan->start > back ? scan->end - back : 0;
	} else if (query->time == FXT_TIME_BETWEEN) {
		filter->from = query->from_ns > 0 ? query_filter_add(scan->start, back) : 0;
		if (query->to_ns < UINT64_MAX)
			filter->to = query_filter_add(scan->start, query_filter_from_ns(scan, query->to_ns));
		if (filter->from > scan->end) {
			snprintf(error, error_bytes, "the chosen time is after its end");
			return false;
		}
	}
	return true;
}

static bool query_filter_find_all(const struct fxt_query_filter *query, const struct fxt_scan *scan,
        struct fxt_filter *filter, char *error, size_t error_bytes)
{
	static const struct {
		enum fxt_choose what;
		const char *complaint;
		bool (*is_chosen)(const struct fxt_patterns *, const struct fxt_scan *, uint32_t);
	} kinds[] = {
	        {FXT_CHOOSE_PROCESS, "there is no process '%s'", query_filter_has_process},
	        {FXT_CHOOSE_THREAD, "there is no thread '%s'", query_filter_has_thread},
	        {FXT_CHOOSE_FUNCTION, NULL, query_filter_has_name},
	        {FXT_CHOOSE_MODULE, "no function is known to be in module '%s'", query_filter_has_module},
	        {FXT_CHOOSE_FILE, "no function is known to be in source file '%s'", query_filter_has_file},
	        {FXT_CHOOSE_UNDER, NULL, query_filter_has_name},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct fxt_patterns *patterns = &query->patterns[kinds[i].what];
		bool is_object = kinds[i].what <= FXT_CHOOSE_THREAD;
		bool **chosen = is_object                           ? &filter->threads
		                : kinds[i].what == FXT_CHOOSE_UNDER ? &filter->under
		                                                    : &filter->names;

		if (query_filter_narrow(chosen, patterns, scan,
		            is_object ? scan->tables.thread_count : scan->tables.string_count,
		            kinds[i].is_chosen))
			continue;
		if (kinds[i].complaint)
			snprintf(error, error_bytes, kinds[i].complaint, fxt_patterns_text(patterns));
		else
			fxt_query_filter_explain(patterns, scan, error, error_bytes);
		return false;
	}
	if (query->where.count > 0 && !fxt_conditions_find(&query->where, scan, &filter->records,
	                                      &filter->record_count, error, error_bytes))
		return false;
	return query_filter_find_time(query, scan, filter, error, error_bytes);
}

/* A trace that was cut to a time holds nothing outside of it, except the rest of slices
 * that cross its boundaries. */
static bool query_filter_stay_inside(
        const struct fxt_scan *scan, struct fxt_filter *filter, char *error, size_t error_bytes)
{
	if (!(scan->cut.what & FXT_CUT_TIME))
		return true;
	if (filter->from < scan->cut.from)
		filter->from = scan->cut.from;
	if (filter->to > scan->cut.to)
		filter->to = scan->cut.to;
	if (filter->from >= filter->to)
		snprintf(error, error_bytes, "the chosen time was cut from this trace");
	return filter->from < filter->to;
}

void fxt_unfold(const struct fxt_scan *scan, const bool *names)
{
	for (size_t i = 0; scan->folded && names && i < scan->tables.string_count; i++)
		scan->folded[i] &= !names[i];
}

/* Folds the functions of the library that the question is not about. Returns 0. */
static int query_filter_fold(
        const struct fxt_query_filter *query, struct fxt_scan *scan, const struct fxt_filter *filter)
{
	size_t count = scan->tables.string_count;
	bool any = false;

	if (!query->folds_library)
		return 0;
	scan->folded = fxt_allocate(count * sizeof(*scan->folded));
	for (uint32_t id = 0; id < count; id++)
		any |= scan->folded[id] = fxt_is_library_name(fxt_tables_plain(&scan->tables, id));
	if (any) {
		fxt_unfold(scan, filter->names);
		fxt_unfold(scan, filter->under);
		return 0;
	}
	free(scan->folded);
	scan->folded = NULL;
	return 0;
}

int fxt_query_filter_apply(const struct fxt_query_filter *query, struct fxt_scan *scan,
        struct fxt_filter *filter, char *error, size_t error_bytes)
{
	*filter = (struct fxt_filter){.to = UINT64_MAX, .least = query_filter_from_ns(scan, query->min_ns)};
	scan->filter = NULL;
	if (query->shortens_names)
		fxt_tables_shorten(&scan->tables);
	if (fxt_query_filter_is_all(query) && !(scan->cut.what & FXT_CUT_TIME))
		return query_filter_fold(query, scan, filter);
	if (!query_filter_find_all(query, scan, filter, error, error_bytes) ||
	        !query_filter_stay_inside(scan, filter, error, error_bytes)) {
		fxt_filter_free(filter);
		return -1;
	}
	scan->filter = filter;
	return query_filter_fold(query, scan, filter);
}

void fxt_filter_free(struct fxt_filter *filter)
{
	free(filter->threads);
	free(filter->names);
	free(filter->under);
	free(filter->records);
	*filter = (struct fxt_filter){0};
}

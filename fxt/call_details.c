/*
 * Collects the waits, context switches, page faults and deaths of a trace during its scan,
 * and finds and explains single calls. Runs on the main thread; the search for calls walks
 * the trace on several.
 */
#include "call_details.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "options.h"
#include "reader/trace/instrumenting.h"
#include "reader/trace/text.h"

enum { NUMBER_MAX = 1000000 };

/* Removes ":3" from the end of a function's name, which may have colons itself. Returns
 * 1 if there is no number, or 0 if it is not a valid one. */
static uint64_t call_details_take_number(char *function)
{
	char *colon = strrchr(function, ':');
	uint64_t number;
	char *end;

	if (!colon || colon == function || colon[-1] == ':' || colon[1] < '0' || colon[1] > '9')
		return 1;
	number = strtoull(colon + 1, &end, 10);
	if (*end)
		return 1;
	*colon = '\0';
	return number <= NUMBER_MAX ? number : 0;
}

/* True if the text is a file: the user has forgotten the function's name. */
static bool call_details_is_trace(const char *text)
{
	return strstr(text, ".fxt") && access(text, F_OK) == 0;
}

int fxt_call_details_take(struct fxt_patterns *functions, const char *command, char *text, uint64_t *number)
{
	const char *problem;

	if (!text)
		return fxt_bad_usage(command, "no function given");
	if (call_details_is_trace(text))
		return fxt_bad_usage(command, "'%s' is a file; the name of a function comes first", text);
	if (number) {
		*number = call_details_take_number(text);
		if (*number == 0)
			return fxt_bad_usage(
			        command, "the number of a call is from 1, the slowest, to %d", NUMBER_MAX);
	}
	problem = fxt_patterns_add(functions, text);
	return problem ? fxt_bad_usage(command, "'%s' %s", text, problem) : FXT_DONE;
}

static void call_details_on_death(
        struct fxt_call_details *m, struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_call_details_death death;

	if (!fxt_death_read(t, view, &death.how))
		return;
	death.ns = fxt_provider_ns(t->provider, view->event.ticks);
	fxt_make_room(m->deaths, m->death_count, m->death_room);
	m->deaths[m->death_count++] = death;
}

static void call_details_begin(void *state)
{
	struct fxt_call_details *m = state;
	bool follows_flows = m->follows_flows;

	fxt_call_details_free(m);
	fxt_call_details_init(m);
	m->follows_flows = follows_flows;
}

static void call_details_record(
        void *state, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_call_details *m = state;

	fxt_timeline_record(&m->timeline, t, view);
	fxt_faults_record(&m->faults, t, view);
	fxt_waits_record(&m->waits, t, view, offset);
	if (m->follows_flows)
		fxt_hops_record(&m->hops, t, view);
	call_details_on_death(m, t, view);
}

void fxt_call_details_init(struct fxt_call_details *m)
{
	*m = (struct fxt_call_details){.listener = {call_details_begin, call_details_record, m}};
	fxt_timeline_init(&m->timeline);
	fxt_faults_init(&m->faults);
	fxt_waits_init(&m->waits);
}

void fxt_call_details_free(struct fxt_call_details *m)
{
	free(m->deaths);
	fxt_causes_free(&m->causes);
	fxt_slowest_free(&m->slowest);
	fxt_timeline_free(&m->timeline);
	fxt_faults_free(&m->faults);
	fxt_waits_free(&m->waits);
	fxt_hops_free(&m->hops);
}

void fxt_call_details_finish(struct fxt_call_details *m, const struct fxt_scan *scan)
{
	m->scan = scan;
	fxt_timeline_finish(&m->timeline, fxt_scan_states_from(scan), fxt_scan_ns(scan, scan->end));
	fxt_faults_finish(&m->faults);
	fxt_waits_finish(&m->waits, scan);
}

/* Finds the call to compare with. Without a call that does not satisfy the conditions, it is
 * the median of those that do. */
static bool call_details_find_usual(struct fxt_call_details *m, const bool *names)
{
	struct fxt_scan scan = *m->scan;
	struct fxt_slowest slowest;

	m->usual = m->slowest.median;
	m->others = 0;
	if (!m->has_conditions)
		return true;
	struct fxt_filter filter = *scan.filter;

	filter.are_others = true;
	scan.filter = &filter;
	bool is_whole = fxt_slowest_read(&slowest, &scan, names, true, NULL, 0, fxt_walk_workers(&scan));

	if (slowest.all_calls > 0) {
		m->usual = slowest.median;
		m->others = slowest.all_calls;
	}
	fxt_slowest_free(&slowest);
	return is_whole;
}

bool fxt_call_details_find(struct fxt_call_details *m, const char *name, const struct fxt_scan *scan,
        const struct fxt_patterns *functions, size_t least, size_t most)
{
	bool *names = fxt_query_filter_names(functions, scan);
	char error[1024];

	fxt_call_details_finish(m, scan);
	if (!names) {
		fxt_query_filter_explain(functions, scan, error, sizeof(error));
		fxt_report_name(name, error);
		return false;
	}
	fxt_unfold(scan, names);

	bool is_whole = fxt_slowest_read(&m->slowest, scan, names, true, m->by, most, fxt_walk_workers(scan));

	is_whole &= call_details_find_usual(m, names);
	free(names);
	fxt_report_changed(name, is_whole);
	if (m->slowest.count >= least)
		return true;
	fflush(stdout);
	if (m->slowest.count == 0)
		fprintf(stderr, "fxt: %s: no call of '%s' is in the chosen part%s%s\n", name,
		        fxt_patterns_text(functions), scan->has_calls ? "" : "; ",
		        scan->has_calls ? "" : fxt_no_calls(scan->has_earlier_waits).text);
	else
		fprintf(stderr, "fxt: %s: '%s' has no more than %zu call%s\n", name,
		        fxt_patterns_text(functions), m->slowest.count, fxt_plural(m->slowest.count));
	return false;
}

int fxt_call_details_explain(
        struct fxt_call_details *m, const char *name, size_t first, size_t count, unsigned depth)
{
	const struct fxt_slice **calls = fxt_allocate((count + 1) * sizeof(*calls));

	for (size_t i = 0; i < count; i++)
		calls[i] = &m->slowest.calls[first + i].slice;
	bool is_whole = fxt_causes_read(&m->causes, m->scan, &m->timeline, &m->faults, &m->waits, calls,
	        count, fxt_call_details_compares(m) ? &m->usual.slice : NULL, depth);

	free(calls);
	return fxt_report_changed(name, is_whole);
}

void fxt_call_details_print_calls(const struct fxt_call_details *m, const struct fxt_patterns *functions)
{
	uint64_t ns = fxt_scan_ns(m->scan, m->slowest.median.time);

	if (m->slowest.all_calls == 1 && !fxt_lacks_calls(m->scan))
		fxt_print_line("%s: one call", fxt_patterns_text(functions));
	else
		fxt_print_line("%s: %s calls, the median takes %s", fxt_patterns_text(functions),
		        fxt_calls_text(m->scan, m->slowest.all_calls).text, fxt_time_text((double)ns).text);
	fxt_print_fact("calls", (double)m->slowest.all_calls);
	fxt_print_fact("median_ns", (double)ns);
	if (m->others > 0) {
		uint64_t usual = fxt_scan_ns(m->scan, m->usual.time);

		fxt_print_line("compared with the %s call%s that --where leaves out: %s takes %s",
		        fxt_calls_text(m->scan, m->others).text, fxt_plural(m->others),
		        m->others == 1 ? "it" : "their median", fxt_time_text((double)usual).text);
		fxt_print_fact("other_calls", (double)m->others);
		fxt_print_fact("other_median_ns", (double)usual);
	}
	if (!fxt_timeline_is_known(&m->timeline))
		fxt_print_line("no context switches in the trace: when threads ran and waited is not known");
}

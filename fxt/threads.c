/*
 * fxt threads: shows which threads ran, waited and were preempted, and for which other
 * threads. The main thread prints. Without context switches it must not
 * claim running times.
 */
#include <inttypes.h>
#include <string.h>
#include "call_details.h"
#include "options.h"
#include "reader/trace/text.h"
#include "reader/time/usage.h"
#include "describe.h"

static const char help[] =
        "usage: fxt threads [OPTION]... [FILE]...\n"
        "\n"
        "Prints for each thread how long it ran on a CPU, could have run but something\n"
        "else did, and was blocked, by the trace's context switches; how often and how\n"
        "long it waited for locks and other threads; and its number of page faults.\n"
        "Threads that ran longest come first. A second table shows which thread waited\n"
        "for which, or was preempted by it, and in which functions threads waited for\n"
        "something else; the longest time comes first. After fxtrun --attach a third\n"
        "one shows which threads waited already, for what, and in which functions.\n"
        "\n"
        "      --critical=FUNC[:CALL]\n"
        "                       the critical path of the slowest or the CALL-th slowest\n"
        "                       call: from its end back to the thread that it waited\n"
        "                       for, and so on; each step is time in which all later\n"
        "                       steps waited for it\n"
        "  -n, --limit=N        the first N lines of each table\n" FXT_HELP_CHOICE FXT_HELP_FORMAT
                FXT_HELP_FILE;

enum { OPTION_CRITICAL = FXT_OPTION_OWN };

static const struct fxt_column thread_columns[] = {
        {"running_ns", "running", FXT_COLUMN_TIME, 0},
        {"preempted_ns", "preempted", FXT_COLUMN_TIME, 0},
        {"blocked_ns", "blocked", FXT_COLUMN_TIME, 0},
        {"switches", "switches", FXT_COLUMN_COUNT, 2},
        {"waits", "waits", FXT_COLUMN_COUNT, 2},
        {"waiting_ns", "in waits", FXT_COLUMN_TIME, 1},
        {"page_faults", "faults", FXT_COLUMN_COUNT, 2},
        {"thread", "thread", FXT_COLUMN_TEXT, 0},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column hindrance_columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"thread", "thread", FXT_COLUMN_TEXT, 0},
        {"how", "", FXT_COLUMN_TEXT, 0},
        {"by", "by whom", FXT_COLUMN_TEXT, 0},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"by_koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column earlier_columns[] = {
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"thread", "thread", FXT_COLUMN_TEXT, 0},
        {"wait", "waited since before the attach", FXT_COLUMN_TEXT, 0},
        {"path", "called by", FXT_COLUMN_TEXT, 0},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
static const struct fxt_column step_columns[] = {
        {"start_ns", "from", FXT_COLUMN_TIME, 1},
        {"time_ns", "time", FXT_COLUMN_TIME, 0},
        {"thread", "thread", FXT_COLUMN_TEXT, 0},
        {"until", "until", FXT_COLUMN_TEXT, 0},
        {"koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
};
enum { THREAD_COLUMNS = sizeof(thread_columns) / sizeof(*thread_columns) };
enum { SWITCH_COLUMNS = 4, FAULTS_COLUMN = 6 }; /* among these */
enum { HINDRANCE_COLUMNS = sizeof(hindrance_columns) / sizeof(*hindrance_columns) };
enum { EARLIER_COLUMNS = sizeof(earlier_columns) / sizeof(*earlier_columns) };
enum { STEP_COLUMNS = sizeof(step_columns) / sizeof(*step_columns) };

/* The options, and the state while traces are read. */
struct threads_command {
	struct fxt_options wanted;
	struct fxt_patterns functions; /* of --critical */
	uint64_t number;
	struct fxt_call_details details;
};

/* ---- threads ---- */

/* True if the threads shown belong to several processes, so each needs its process's
 * name. */
static bool threads_of_several(const struct fxt_scan *scan)
{
	const struct fxt_koids *threads = scan->tables.threads;

	for (size_t i = 2; i < scan->tables.thread_count; i++)
		if (threads[i].process != threads[1].process)
			return true;
	return false;
}

/* Leaves out columns that are empty for all threads, for people: after an attach nothing is
 * known of context switches and page faults. */
static void threads_find_columns(struct fxt_column columns[THREAD_COLUMNS], const struct fxt_usage *usage,
        const struct fxt_faults *faults)
{
	bool has_switches = false;

	memcpy(columns, thread_columns, sizeof(thread_columns));
	for (size_t i = 0; i < usage->thread_count; i++)
		has_switches |= usage->threads[i].has_switches;
	for (size_t i = 0; i < SWITCH_COLUMNS && !has_switches; i++)
		columns[i].rank = FXT_COLUMN_DATA;
	if (!fxt_faults_are_known(faults))
		columns[FAULTS_COLUMN].rank = FXT_COLUMN_DATA;
}

static void threads_print_usage(const struct fxt_scan *scan, const struct fxt_faults *faults,
        const struct fxt_thread_usage *usage, bool with_process)
{
	struct fxt_cell cells[THREAD_COLUMNS] = {0};
	struct fxt_describer thread;

	fxt_describe_begin(&thread);
	fxt_describe_thread(thread.out, scan, usage->thread, with_process);
	if (usage->has_switches) {
		cells[0] = fxt_cell_number((double)usage->running);
		cells[1] = fxt_cell_number((double)usage->runnable);
		cells[2] = fxt_cell_number((double)usage->blocked);
		cells[3] = fxt_cell_number((double)usage->switches);
	}
	cells[4] = fxt_cell_number((double)usage->waits);
	cells[5] = fxt_cell_number((double)usage->waiting);
	if (fxt_faults_are_known(faults)) {
		cells[6] = fxt_cell_number((double)usage->faults);
		cells[6].is_least = faults->has_missing;
	}
	cells[7] = fxt_cell_text(fxt_describe_end(&thread));
	cells[8] = fxt_cell_number((double)scan->tables.threads[usage->thread].thread);
	fxt_table_row(cells);
	fxt_describe_free(&thread);
}

static void threads_print_hindrance(const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_hindrance *hindrance)
{
	struct fxt_cell cells[HINDRANCE_COLUMNS] = {0};
	struct fxt_span wait = scan->tables.strings[hindrance->waited_in];
	struct fxt_describer thread, other;

	fxt_describe_begin(&thread);
	fxt_describe_begin(&other);
	fxt_describe_thread(thread.out, scan, hindrance->thread, false);
	if (hindrance->blocker)
		fxt_describe_blocker(other.out, scan, &timeline->blockers[hindrance->blocker - 1]);
	else if (hindrance->koid)
		fxt_describe_koid(other.out, scan, hindrance->koid);
	else if (hindrance->waited_in != FXT_NOTHING)
		fprintf(other.out, "in %.*s", (int)wait.bytes, wait.data);
	else
		fputs("another program, or unknown", other.out);
	cells[0] = fxt_cell_number((double)hindrance->ns);
	cells[1] = fxt_cell_text(fxt_describe_end(&thread));
	cells[2] = fxt_cell_text(fxt_span(hindrance->blocker                    ? "blocked"
	                                  : hindrance->waited_in != FXT_NOTHING ? "waited"
	                                  : hindrance->was_waiting              ? "waited for"
	                                                                        : "preempted by"));
	cells[3] = fxt_cell_text(fxt_describe_end(&other));
	cells[4] = fxt_cell_number((double)scan->tables.threads[hindrance->thread].thread);
	if (hindrance->koid)
		cells[5] = fxt_cell_number((double)hindrance->koid);
	fxt_table_row(cells);
	fxt_describe_free(&thread);
	fxt_describe_free(&other);
}

static void threads_print_earlier_wait(
        const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_wait *wait)
{
	struct fxt_span name = scan->tables.strings[wait->name];
	struct fxt_cell cells[EARLIER_COLUMNS] = {0};
	struct fxt_describer thread, what, path;

	fxt_describe_begin(&thread);
	fxt_describe_begin(&what);
	fxt_describe_begin(&path);
	fxt_describe_thread(thread.out, scan, wait->thread, false);
	fprintf(what.out, "in %.*s", (int)name.bytes, name.data);
	if (wait->object || wait->file != FXT_NOTHING) {
		fputs(" of ", what.out);
		fxt_describe_awaited(what.out, scan, waits, wait);
		fxt_describe_keeper(what.out, scan, waits, wait);
	}
	fxt_describe_path(path.out, scan, &waits->paths, wait->path);
	cells[0] = fxt_cell_number((double)(wait->end - wait->start));
	cells[1] = fxt_cell_text(fxt_describe_end(&thread));
	cells[2] = fxt_cell_text(fxt_describe_end(&what));
	cells[3] = fxt_cell_text(fxt_describe_end(&path));
	cells[4] = fxt_cell_number((double)scan->tables.threads[wait->thread].thread);
	fxt_table_row(cells);
	fxt_describe_free(&thread);
	fxt_describe_free(&what);
	fxt_describe_free(&path);
}

static bool threads_has_earlier(const struct fxt_waits *waits)
{
	for (uint32_t i = 0; i < fxt_waits_count(waits); i++)
		if (fxt_waits_item(waits, i).is_earlier)
			return true;
	return false;
}

/* The waits that began before their process was attached to. */
static int threads_print_earlier(struct fxt_call_details *m, const char *name, uint64_t left)
{
	struct fxt_waits *waits = &m->waits;
	int status = FXT_DONE;

	if (threads_has_earlier(waits)) /* their paths take a walk */
		status = fxt_report_changed(name, fxt_waits_walk(waits, m->scan));
	fxt_table_begin("earlier_waits", NULL, earlier_columns, EARLIER_COLUMNS);
	for (uint32_t i = 0; i < fxt_waits_count(waits) && left > 0; i++) {
		const struct fxt_wait wait = fxt_waits_item(waits, i);

		if (wait.is_earlier && fxt_waits_is_chosen(waits, m->scan, &wait)) {
			threads_print_earlier_wait(m->scan, waits, &wait);
			left--;
		}
	}
	fxt_table_end();
	return status;
}

/* True if the trace says what the thread did. */
static bool threads_is_shown(const struct fxt_thread_usage *usage)
{
	return usage->has_switches || usage->waits > 0;
}

static int threads_print_all(struct threads_command *c, struct fxt_call_details *m, const char *name)
{
	uint64_t left = fxt_options_limit(&c->wanted, UINT64_MAX);
	bool with_process = threads_of_several(m->scan);
	struct fxt_column columns[THREAD_COLUMNS];
	struct fxt_usage usage;
	size_t count = 0;

	fxt_usage_read(&usage, m->scan, &m->timeline, &m->faults, &m->waits);
	threads_find_columns(columns, &usage, &m->faults);
	for (size_t i = 0; i < usage.thread_count; i++)
		count += threads_is_shown(&usage.threads[i]);
	fxt_print_line("%s: %zu thread%s that ran or waited", name, count, fxt_plural(count));
	if (!fxt_timeline_is_known(&m->timeline))
		fxt_print_line("no context switches in the trace: when threads ran and waited is not known");
	fxt_table_begin("threads", NULL, columns, THREAD_COLUMNS);
	for (size_t i = 0; i < usage.thread_count && left > 0; i++) {
		if (!threads_is_shown(&usage.threads[i]))
			continue;
		threads_print_usage(m->scan, &m->faults, &usage.threads[i], with_process);
		left--;
	}
	fxt_table_end();
	left = fxt_options_limit(&c->wanted, UINT64_MAX);
	fxt_table_begin("hindrances", NULL, hindrance_columns, HINDRANCE_COLUMNS);
	for (size_t i = 0; i < usage.hindrance_count && i < left; i++)
		threads_print_hindrance(m->scan, &m->timeline, &usage.hindrances[i]);
	fxt_table_end();
	fxt_usage_free(&usage);
	return threads_print_earlier(m, name, fxt_options_limit(&c->wanted, UINT64_MAX));
}

/* ---- the critical path ---- */

static void threads_print_step(const struct fxt_call_details *m, const struct fxt_critical_step *step,
        const struct fxt_slow_call *call)
{
	const struct fxt_waits *waits = &m->waits;
	struct fxt_cell cells[STEP_COLUMNS] = {0};
	struct fxt_describer thread, until;

	fxt_describe_begin(&thread);
	fxt_describe_begin(&until);
	fxt_describe_thread(thread.out, m->scan, step->thread, false);
	const struct fxt_release release = step->release != FXT_NO_RELEASE
	                                           ? fxt_waits_release(waits, step->release)
	                                           : (struct fxt_release){0};

	if (step->release == FXT_NO_RELEASE) {
		fputs("the end of ", until.out);
		fxt_describe_path(until.out, m->scan, &m->slowest.paths, call->path);
	} else if (release.born && step->is_wakeup) {
		fputs("it began", until.out);
	} else if (release.born) {
		fputs("it created ", until.out);
		fxt_describe_place(until.out, m->scan, waits, release.born, release.path);
	} else {
		const struct fxt_wait wait = fxt_waits_item(waits, release.wait);

		fputs(step->is_wakeup ? "it was back from the wait for " : "it let go ", until.out);
		fxt_describe_object(until.out, m->scan, wait.kind, wait.symbol, wait.object, wait.life);
		fputs(" in ", until.out);
		fxt_describe_path(
		        until.out, m->scan, &waits->paths, step->is_wakeup ? wait.path : release.path);
	}
	cells[0] = fxt_cell_number((double)(step->start - fxt_scan_ns(m->scan, m->scan->start)));
	cells[1] = fxt_cell_number((double)(step->end - step->start));
	cells[2] = fxt_cell_text(fxt_describe_end(&thread));
	cells[3] = fxt_cell_text(fxt_describe_end(&until));
	cells[4] = fxt_cell_number((double)m->scan->tables.threads[step->thread].thread);
	fxt_table_row(cells);
	fxt_describe_free(&thread);
	fxt_describe_free(&until);
}

static int threads_print_critical(struct threads_command *c, struct fxt_call_details *m, const char *name)
{
	struct fxt_spill_window window = {0};
	struct fxt_critical_path path;

	const struct fxt_slow_call *call = &m->slowest.calls[c->number - 1];
	uint64_t start = fxt_scan_ns(m->scan, call->slice.start);
	int status = fxt_report_changed(name, fxt_waits_walk(&m->waits, m->scan));

	fxt_critical_path_read(&path, &m->waits, call->slice.thread, start,
	        start + fxt_scan_ns(m->scan, call->slice.end - call->slice.start));
	fxt_call_details_print_calls(m, &c->functions);
	fxt_table_begin("critical_path", NULL, step_columns, STEP_COLUMNS);
	for (uint64_t i = 0; i < path.steps.count; i++)
		threads_print_step(m, fxt_spill_at(&path.steps, &window, i), call);
	fxt_table_end();
	fxt_critical_path_free(&path);
	return status;
}

/* ---- the command ---- */

static int threads_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct threads_command *c = state;
	bool is_critical = c->functions.count > 0;
	struct fxt_call_details *m = &c->details;

	if (!is_critical)
		fxt_call_details_finish(m, scan);
	else if (!fxt_call_details_find(m, name, scan, &c->functions, c->number, c->number))
		return FXT_FAILED;
	int status = is_critical ? threads_print_critical(c, m, name) : threads_print_all(c, m, name);

	fxt_print_missing(scan);
	return status;
}

int fxt_command_threads(int argc, char **argv)
{
	struct threads_command command = {.wanted.listener = &command.details.listener}, *c = &command;
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, FXT_OPTIONS,
	        {"critical", required_argument, NULL, OPTION_CRITICAL}, {0}};
	int option;

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1) {
		if (!fxt_options_take(&c->wanted, argv[0], option) &&
		        fxt_call_details_take(&c->functions, argv[0], optarg, &c->number) != FXT_DONE)
			return FXT_FAILED;
	}
	fxt_call_details_init(&c->details);
	int status = fxt_each_scan(argc, argv, &c->wanted, threads_answer, c);

	fxt_call_details_free(&c->details);
	fxt_patterns_free(&c->functions);
	return status;
}

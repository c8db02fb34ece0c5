/*
 * fxt locks: shows the waits for locks, their waiting threads, and the threads that held
 * the locks. The main thread prints. The holders' shares of a wait must add up to the wait.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "call_details.h"
#include "options.h"
#include "reader/trace/text.h"
#include "deadlocks.h"
#include "describe.h"

static const char help[] =
        "usage: fxt locks [OPTION]... [FILE]...\n"
        "\n"
        "Prints the locks, semaphores and futexes that threads waited for:\n"
        "  waits    number of waits; open: waits without an end\n"
        "  total    time of all waits; longest: the longest wait\n"
        "  at once  how many threads waited at the same time\n"
        "and for each lock who held it while which thread waited, in which functions,\n"
        "and for how long: the holder's functions are those in which it released the\n"
        "lock. Then come the waits that never ended. If threads wait for each other in a\n"
        "circle, for locks or by joining, that deadlock is the first line. A trace has\n"
        "nothing about locks that no thread waited for.\n"
        "\n"
        "  -n, --limit=N        the first N locks, and N lines of each [10; all in\n"
        "                       JSON and CSV]\n" FXT_HELP_CHOICE FXT_HELP_FORMAT FXT_HELP_FILE;

enum { LINES = 10, CONVOY = 3 };

static const struct fxt_column lock_columns[] = {
        {"lock", "lock", FXT_COLUMN_TEXT, 0},
        {"waits", "waits", FXT_COLUMN_COUNT, 0},
        {"open", "open", FXT_COLUMN_COUNT, 2},
        {"total_ns", "total", FXT_COLUMN_TIME, 0},
        {"longest_ns", "longest", FXT_COLUMN_TIME, 1},
        {"at_once", "at once", FXT_COLUMN_COUNT, 1},
        {"function", "in", FXT_COLUMN_TEXT, 2},
        {"process", "process", FXT_COLUMN_COUNT, 3},
};
/* For people, the activity of holder and waiter takes a line each, because names are
 * long. */
static const struct fxt_column blame_columns[] = {
        {"total_ns", "waited", FXT_COLUMN_TIME, 0},
        {"waits", "waits", FXT_COLUMN_COUNT, 1},
        {"holder", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"waiter", "", FXT_COLUMN_TEXT, FXT_COLUMN_DATA},
        {"holder_koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {"waiter_koid", "", FXT_COLUMN_COUNT, FXT_COLUMN_DATA},
        {NULL, "held by; below: who waited", FXT_COLUMN_TEXT, 0},
};
enum { LOCK_COLUMNS = sizeof(lock_columns) / sizeof(*lock_columns) };
enum { BILL_COLUMNS = sizeof(blame_columns) / sizeof(*blame_columns) };
enum { WAITER_INDENT = 4 };

/* ---- tables ---- */

/* The row limit; programs get all rows. */
static uint64_t locks_limit(const struct fxt_options *wanted)
{
	return fxt_options_limit(wanted, wanted->format == FXT_FORMAT_TEXT ? LINES : UINT64_MAX);
}

static void locks_print_lock(const struct fxt_scan *scan, const struct fxt_contended_lock *lock)
{
	struct fxt_cell cells[LOCK_COLUMNS] = {0};
	struct fxt_describer name;

	fxt_describe_begin(&name);
	fxt_describe_object(name.out, scan, FXT_WAIT_LOCK, lock->symbol, lock->object, lock->life);
	cells[0] = fxt_cell_text(fxt_describe_end(&name));
	cells[1] = fxt_cell_number((double)lock->waits);
	cells[2] = fxt_cell_number((double)lock->open);
	cells[3] = fxt_cell_number((double)lock->ns);
	cells[4] = fxt_cell_number((double)lock->longest);
	cells[5] = fxt_cell_number(lock->at_once);
	cells[6] = fxt_cell_text(scan->tables.strings[lock->name]);
	cells[7] = fxt_cell_number((double)lock->process);
	fxt_table_row(cells);
	fxt_describe_free(&name);
}

static void locks_print_blame(const struct fxt_call_details *m, const struct fxt_blame *blame)
{
	const struct fxt_koids *threads = m->scan->tables.threads;
	struct fxt_describer holder, waiter;

	fxt_describe_begin(&holder);
	fxt_describe_begin(&waiter);
	fxt_describe_holder(holder.out, m->scan, &m->waits, blame);
	fxt_describe_place(waiter.out, m->scan, &m->waits, blame->waiter, blame->waiter_path);

	struct fxt_cell held = fxt_cell_text(fxt_describe_end(&holder)),
	                waited = fxt_cell_text(fxt_describe_end(&waiter));
	uint64_t koid = blame->holder != FXT_NOTHING ? threads[blame->holder].thread : blame->keeper;

	fxt_table_row((const struct fxt_cell[BILL_COLUMNS]){fxt_cell_number((double)blame->ns),
	        fxt_cell_number((double)blame->waits), held, waited,
	        koid ? fxt_cell_number((double)koid) : fxt_cell_unknown(),
	        fxt_cell_number((double)threads[blame->waiter].thread), held});
	if (fxt_print_format() == FXT_FORMAT_TEXT) {
		waited.indent = WAITER_INDENT;
		fxt_table_row((const struct fxt_cell[BILL_COLUMNS]){
		        fxt_cell_blank(), fxt_cell_blank(), [BILL_COLUMNS - 1] = waited});
	}
	fxt_describe_free(&holder);
	fxt_describe_free(&waiter);
}

/* `next` is the first blame of the lock, then that of the next lock. */
static void locks_print_blames(const struct fxt_options *wanted, const struct fxt_call_details *m,
        const struct fxt_contention *c, size_t lock, size_t *next)
{
	uint64_t left = locks_limit(wanted);
	struct fxt_describer of;

	fxt_describe_begin(&of);
	fputs("lock ", of.out);
	fxt_describe_object(of.out, m->scan, FXT_WAIT_LOCK, c->locks[lock].symbol, c->locks[lock].object,
	        c->locks[lock].life);
	fputc('\0', of.out);
	fxt_table_begin("bill", fxt_describe_end(&of).data, blame_columns, BILL_COLUMNS);
	for (; *next < c->blame_count && c->blames[*next].lock == lock; ++*next) {
		if (left == 0)
			continue;
		locks_print_blame(m, &c->blames[*next]);
		left--;
	}
	fxt_table_end();
	fxt_describe_free(&of);
}

/* ---- what is wrong ---- */

static void locks_print_convoys(const struct fxt_scan *scan, const struct fxt_contention *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fxt_describer text;

		if (c->locks[i].at_once < CONVOY)
			continue;
		fxt_describe_begin(&text);
		fxt_describe_object(text.out, scan, FXT_WAIT_LOCK, c->locks[i].symbol, c->locks[i].object,
		        c->locks[i].life);
		struct fxt_span name = fxt_describe_end(&text);

		fxt_print_note("convoy: up to %" PRIu32 " threads queued for %.*s at once",
		        c->locks[i].at_once, (int)name.bytes, name.data);
		fxt_describe_free(&text);
	}
}

static void locks_print_never_got(const struct fxt_call_details *m, const struct fxt_wait *wait)
{
	struct fxt_describer text;

	fxt_describe_begin(&text);
	fputs("never got: ", text.out);
	fxt_describe_thread(text.out, m->scan, wait->thread, true);
	fprintf(text.out, " has waited for %s for ", fxt_time_text((double)(wait->end - wait->start)).text);
	fxt_describe_awaited(text.out, m->scan, &m->waits, wait);
	fxt_describe_keeper(text.out, m->scan, &m->waits, wait);
	fputs(", in ", text.out);
	fxt_describe_path(text.out, m->scan, &m->waits.paths, wait->path);
	struct fxt_span line = fxt_describe_end(&text);

	fxt_print_note("%.*s", (int)line.bytes, line.data);
	fxt_describe_free(&text);
}

/* The waits for locks that never ended and are in no deadlock. */
static void locks_print_open(const struct fxt_call_details *m, const struct fxt_deadlocks *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (!d->waits[i].circle && d->waits[i].wait.kind == FXT_WAIT_LOCK &&
		        fxt_waits_is_chosen(&m->waits, m->scan, &d->waits[i].wait))
			locks_print_never_got(m, &d->waits[i].wait);
}

/* ---- the command ---- */

/* The options, and the state while traces are read. */
struct locks_command {
	struct fxt_options wanted;
	struct fxt_call_details details;
};

static int locks_answer(void *state, const char *name, struct fxt_scan *scan)
{
	struct locks_command *c = state;
	const struct fxt_options *wanted = &c->wanted;
	struct fxt_call_details *m = &c->details;
	struct fxt_contention contention;
	struct fxt_deadlocks deadlocks;
	size_t count;

	fxt_call_details_finish(m, scan);
	int status = fxt_report_changed(name, fxt_waits_walk(&m->waits, scan));

	fxt_deadlocks_find(&deadlocks, &m->waits, scan);
	fxt_deadlocks_print(&deadlocks, &m->waits, scan);
	fxt_contention_read(&contention, &m->waits, scan);
	count = contention.lock_count;
	if (count > locks_limit(wanted))
		count = (size_t)locks_limit(wanted);
	fxt_print_line("%zu lock%s that threads waited for", contention.lock_count,
	        fxt_plural(contention.lock_count));
	fxt_table_begin("locks", NULL, lock_columns, LOCK_COLUMNS);
	for (size_t i = 0; i < count; i++)
		locks_print_lock(scan, &contention.locks[i]);
	fxt_table_end();
	for (size_t i = 0, next = 0; i < count; i++)
		locks_print_blames(wanted, m, &contention, i, &next);
	locks_print_convoys(scan, &contention, count);
	locks_print_open(m, &deadlocks);
	fxt_print_missing(scan);
	fxt_deadlocks_free(&deadlocks);
	fxt_contention_free(&contention);
	return status;
}

int fxt_command_locks(int argc, char **argv)
{
	struct locks_command command = {.wanted.listener = &command.details.listener}, *c = &command;

	fxt_call_details_init(&c->details);
	fxt_options_take_all(&c->wanted, argc, argv, help);
	int status = fxt_each_scan(argc, argv, &c->wanted, locks_answer, c);

	fxt_call_details_free(&c->details);
	return status;
}

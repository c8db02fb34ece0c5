/* Reads a trace once, pairs messages and collective calls in files, and prints tables
 * (mpi_report.h). Runs on the main thread. Memory grows with ranks, functions, and messages
 * whose span has not ended. */
#include "mpi_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "options.h"
#include "reader/slices/call.h"
#include "reader/trace/spill.h"
#include "reader/trace/tables.h"
#include "table.h"
#include "writer/shared/job.h"

enum { LINES = 10 };

/* Calls that end on no rank before all ranks have entered them. */
static const char *const collectives[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv",
        "MPI_Alltoall", "MPI_Alltoallv", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"};

/* One end of a message, or one rank in a collective call: the span that it is in. */
struct mpi_part {
	uint64_t key, order; /* of a message: its id, and 1 if it is received. Of a collective call:
	                        a hash of communicator and name, and its number among these */
	uint64_t start, end; /* of the span, in ns */
	uint64_t bytes;
	uint32_t rank, name;
	uint32_t thread;
	bool is_collective;
};

/* An end of a message whose span has not ended. Those of a thread are a chain: a trace may
 * have many of them, and each span takes those of its thread. */
struct mpi_pending {
	struct mpi_part message;
	uint32_t next; /* index + 1; 0: the last one */
};

/* Figures by up to four numbers; which ones, says the table. */
struct mpi_sum {
	uint64_t key[4];
	uint64_t count, total, longest;
};

struct mpi_sums {
	struct mpi_sum *items;
	size_t count, room;
	struct fxt_index index;
};

struct mpi_reader {
	struct fxt_tables tables;
	struct fxt_call_categories categories;
	uint32_t mpi; /* ids of strings */
	bool has_ranks;
	struct fxt_spill parts;
	struct mpi_pending *pending;
	size_t pending_count, pending_room;
	uint32_t *pending_of; /* by thread: index + 1 of the last one; 0: there is none */
	size_t pending_threads;
	uint32_t pending_free;     /* index + 1 of the first one that is free */
	struct mpi_sums numbers;   /* of collective calls, by key and rank */
	struct mpi_sums functions; /* by function and rank */
	struct mpi_sums waits;     /* by kind, rank, function of MPI, late rank */
	struct mpi_sums messages;  /* by sender and receiver; total: bytes */
};

static struct mpi_sum *sums_find(struct mpi_sums *sums, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t key[4] = {a, b, c, d};
	uint32_t hash = fxt_hash_word(fxt_hash_mix(fxt_hash_mix(fxt_hash_mix(a) ^ b) ^ c) ^ d);

	for (struct fxt_probe probe = fxt_probe(&sums->index, hash); fxt_probe_next(&sums->index, &probe);)
		if (memcmp(sums->items[probe.id].key, key, sizeof(key)) == 0)
			return &sums->items[probe.id];
	fxt_index_add(&sums->index, hash, (uint32_t)sums->count);
	fxt_make_room(sums->items, sums->count, sums->room);
	sums->items[sums->count] = (struct mpi_sum){.key = {a, b, c, d}};
	return &sums->items[sums->count++];
}

static void sums_add(struct mpi_sum *sum, uint64_t value)
{
	sum->count++;
	sum->total += value;
	sum->longest = value > sum->longest ? value : sum->longest;
}

static void sums_free(struct mpi_sums *sums)
{
	free(sums->items);
	fxt_index_free(&sums->index);
}

/* ---- reading ---- */

static uint64_t reader_number(struct mpi_reader *m, const struct fxt_view *view, const char *name)
{
	struct fxt_argument found;

	return fxt_tables_argument(&m->tables, view, name, &found) && found.type == FXT_ARGUMENT_INT64
	               ? found.value.word
	               : UINT64_MAX;
}

static uint32_t reader_free_pending(struct mpi_reader *m)
{
	uint32_t at = m->pending_free;

	if (at > 0) {
		m->pending_free = m->pending[at - 1].next;
		return at;
	}
	fxt_make_room(m->pending, m->pending_count, m->pending_room);
	return (uint32_t)++m->pending_count;
}

/* A message that does not say its bytes has none. */
static void reader_on_message(
        struct mpi_reader *m, const struct fxt_view *view, uint32_t thread, uint32_t rank)
{
	uint32_t at = reader_free_pending(m);
	uint64_t bytes = reader_number(m, view, "bytes");

	fxt_make_zeroed(m->pending_of, m->pending_threads, thread);
	m->pending[at - 1].message = (struct mpi_part){.key = view->event.extra,
	        .order = view->event.type == FXT_EVENT_FLOW_END,
	        .start = fxt_provider_ns(m->tables.provider, view->event.ticks),
	        .bytes = bytes <= INT64_MAX ? bytes : 0,
	        .rank = rank,
	        .thread = thread};
	m->pending[at - 1].next = m->pending_of[thread];
	m->pending_of[thread] = at;
}

static bool reader_is_collective(struct fxt_span name)
{
	for (size_t i = 0; i < sizeof(collectives) / sizeof(*collectives); i++)
		if (fxt_span_is(name, collectives[i]))
			return true;
	return false;
}

/* The thread's messages inside of the span are in it; those before it were in none. */
static void reader_take_pending(struct mpi_reader *m, const struct mpi_part *span)
{
	uint32_t at = span->thread < m->pending_threads ? m->pending_of[span->thread] : 0;

	while (at > 0) {
		struct mpi_pending *pending = &m->pending[at - 1];
		struct mpi_part message = pending->message;
		uint32_t next = pending->next;

		if (message.start >= span->start) {
			message.start = span->start;
			message.end = span->end;
			message.name = span->name;
			fxt_spill_add(&m->parts, &message);
		}
		pending->next = m->pending_free;
		m->pending_free = at;
		m->pending_of[span->thread] = at = next;
	}
}

static void reader_on_span(struct mpi_reader *m, const struct fxt_view *view, uint32_t thread, uint32_t rank)
{
	struct mpi_part span = {.start = fxt_provider_ns(m->tables.provider, view->event.ticks),
	        .end = fxt_provider_ns(m->tables.provider, view->event.extra),
	        .rank = rank,
	        .name = fxt_tables_string(&m->tables, view->event.name),
	        .thread = thread,
	        .is_collective = true};
	uint64_t comm = reader_number(m, view, "comm");

	reader_take_pending(m, &span);
	if (comm == UINT64_MAX || !reader_is_collective(fxt_tables_text(&m->tables, view->event.name)))
		return;
	span.key = fxt_hash_mix(comm) ^ span.name;
	span.order = sums_find(&m->numbers, span.key, rank, 0, 0)->count++;
	fxt_spill_add(&m->parts, &span);
}

static void reader_on_event(struct mpi_reader *m, const struct fxt_view *view)
{
	uint32_t thread = fxt_tables_thread(&m->tables, view->event.thread);
	uint32_t category = fxt_tables_string(&m->tables, view->event.category);
	const struct fxt_job_place place = fxt_tables_place(&m->tables, m->tables.threads[thread].process);
	enum fxt_event_type type = view->event.type;

	if (!place.is_known)
		return;
	m->has_ranks = true;
	if (category == m->mpi && (type == FXT_EVENT_FLOW_BEGIN || type == FXT_EVENT_FLOW_END) &&
	        view->event.extra & FXT_JOB_FLOW)
		reader_on_message(m, view, thread, place.rank);
	if (type != FXT_EVENT_DURATION_COMPLETE || view->event.extra < view->event.ticks)
		return;
	if (category == m->mpi)
		reader_on_span(m, view, thread, place.rank);
	else if (fxt_is_call(&m->categories, category))
		sums_add(sums_find(&m->functions, fxt_tables_string(&m->tables, view->event.name), place.rank,
		                 0, 0),
		        fxt_provider_ns(m->tables.provider, view->event.extra) -
		                fxt_provider_ns(m->tables.provider, view->event.ticks));
}

/* ---- waits ---- */

enum wait_kind { LATE_SENDER, LATE_RECEIVER, COLLECTIVE };

static const char *const kinds[] = {"late sender", "late receiver", "all ranks"};

/* `part` waited for `late` from its start until the other one began, or itself ended. */
static void wait_add(
        struct mpi_reader *m, enum wait_kind kind, const struct mpi_part *part, const struct mpi_part *late)
{
	uint64_t until = late->start < part->end ? late->start : part->end;

	if (until > part->start)
		sums_add(sums_find(&m->waits, kind, part->rank, part->name, late->rank), until - part->start);
}

static int parts_compare(const void *left, const void *right)
{
	const struct mpi_part *a = left, *b = right;

	if (a->is_collective != b->is_collective)
		return a->is_collective < b->is_collective ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	/* of a collective call: the latest rank first */
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void reader_match(struct mpi_reader *m)
{
	struct fxt_spill_window window = {0};
	struct mpi_part before = {0};

	fxt_spill_sort(&m->parts, parts_compare);
	for (uint64_t i = 0; i < m->parts.count; i++) {
		const struct mpi_part part = *(const struct mpi_part *)fxt_spill_at(&m->parts, &window, i);
		bool is_same = i > 0 && part.is_collective == before.is_collective && part.key == before.key;

		if (part.is_collective && is_same && part.order == before.order) {
			wait_add(m, COLLECTIVE, &part, &before);
			continue;
		}
		if (!part.is_collective && is_same && part.order == 1 && before.order == 0) {
			struct mpi_sum *sum = sums_find(&m->messages, before.rank, part.rank, 0, 0);

			sums_add(sum, before.bytes);
			wait_add(m, LATE_SENDER, &part, &before);
			/* A send that ended before the receive began waited for nobody. */
			if (before.end > part.start)
				wait_add(m, LATE_RECEIVER, &before, &part);
		}
		before = part;
	}
}

/* ---- printing ---- */

static void sums_sort(struct mpi_sums *sums, size_t count, int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(sums->items, count, sizeof(*sums->items), compare);
}

static int by_total(const void *left, const void *right)
{
	const struct mpi_sum *a = left, *b = right;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return memcmp(a->key, b->key, sizeof(a->key));
}

static size_t report_lines(size_t count)
{
	return fxt_print_format() == FXT_FORMAT_TEXT && count > LINES ? LINES : count;
}

static void report_waits(struct mpi_reader *m)
{
	static const struct fxt_column columns[] = {{"wait", "waited for", FXT_COLUMN_TEXT, 0},
	        {"rank", "rank", FXT_COLUMN_COUNT, 0}, {"function", "in", FXT_COLUMN_TEXT, 0},
	        {"late_rank", "late rank", FXT_COLUMN_COUNT, 0}, {"waits", "waits", FXT_COLUMN_COUNT, 1},
	        {"total_ns", "total", FXT_COLUMN_TIME, 0}, {"longest_ns", "longest", FXT_COLUMN_TIME, 2}};

	sums_sort(&m->waits, m->waits.count, by_total);
	fxt_table_begin("waits", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < report_lines(m->waits.count); i++) {
		const struct mpi_sum *sum = &m->waits.items[i];

		fxt_table_row((struct fxt_cell[]){fxt_cell_text(fxt_span(kinds[sum->key[0]])),
		        fxt_cell_number((double)sum->key[1]), fxt_cell_text(m->tables.strings[sum->key[2]]),
		        fxt_cell_number((double)sum->key[3]), fxt_cell_number((double)sum->count),
		        fxt_cell_number((double)sum->total), fxt_cell_number((double)sum->longest)});
	}
	fxt_table_end();
}

static int by_function(const void *left, const void *right)
{
	return memcmp(
	        ((const struct mpi_sum *)left)->key, ((const struct mpi_sum *)right)->key, sizeof(uint64_t));
}

/* Makes one sum of those of each function: count: ranks; total: how much longer than the
 * average the longest one is; key: function, rank of the longest, average. */
static size_t report_unequal(struct mpi_sums *sums)
{
	size_t made = 0, same;

	sums_sort(sums, sums->count, by_function);
	for (size_t i = 0; i < sums->count; i += same) {
		struct mpi_sum one = {.key = {sums->items[i].key[0]}};
		uint64_t all = 0;

		for (same = 0; i + same < sums->count && sums->items[i + same].key[0] == one.key[0]; same++) {
			const struct mpi_sum *sum = &sums->items[i + same];

			all += sum->total;
			if (sum->total >= one.longest) {
				one.longest = sum->total;
				one.key[1] = sum->key[1];
			}
		}
		one.count = same;
		one.key[2] = all / same;
		one.total = one.longest - one.key[2];
		if (same > 1)
			sums->items[made++] = one;
	}
	sums_sort(sums, made, by_total);
	return made;
}

static void report_functions(struct mpi_reader *m)
{
	static const struct fxt_column columns[] = {{"function", "function", FXT_COLUMN_TEXT, 0},
	        {"ranks", "ranks", FXT_COLUMN_COUNT, 1}, {"average_ns", "average", FXT_COLUMN_TIME, 0},
	        {"longest_ns", "longest", FXT_COLUMN_TIME, 0}, {"rank", "on rank", FXT_COLUMN_COUNT, 0},
	        {"excess_ns", "more", FXT_COLUMN_TIME, 0}};
	size_t count = report_unequal(&m->functions);

	fxt_table_begin("imbalance", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < report_lines(count); i++) {
		const struct mpi_sum *sum = &m->functions.items[i];

		fxt_table_row((struct fxt_cell[]){fxt_cell_text(m->tables.strings[sum->key[0]]),
		        fxt_cell_number((double)sum->count), fxt_cell_number((double)sum->key[2]),
		        fxt_cell_number((double)sum->longest), fxt_cell_number((double)sum->key[1]),
		        fxt_cell_number((double)sum->total)});
	}
	fxt_table_end();
}

static void report_messages(struct mpi_reader *m)
{
	static const struct fxt_column columns[] = {{"from_rank", "from rank", FXT_COLUMN_COUNT, 0},
	        {"to_rank", "to rank", FXT_COLUMN_COUNT, 0}, {"messages", "messages", FXT_COLUMN_COUNT, 0},
	        {"total_bytes", "bytes", FXT_COLUMN_BYTES, 0}};

	sums_sort(&m->messages, m->messages.count, by_total);
	fxt_table_begin("messages", NULL, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < report_lines(m->messages.count); i++) {
		const struct mpi_sum *sum = &m->messages.items[i];

		fxt_table_row((struct fxt_cell[]){fxt_cell_number((double)sum->key[0]),
		        fxt_cell_number((double)sum->key[1]), fxt_cell_number((double)sum->count),
		        fxt_cell_number((double)sum->total)});
	}
	fxt_table_end();
}

int fxt_mpi_report(void *state, const char *name, const struct fxt_archive *archive)
{
	struct mpi_reader m = {.mpi = 0};
	struct fxt_cursor cursor = fxt_cursor(archive);
	uint64_t malformed = 0, unknown = 0;
	struct fxt_record r;
	struct fxt_view view;

	(void)state;
	fxt_tables_init(&m.tables);
	fxt_spill_init(&m.parts, sizeof(struct mpi_part), FXT_SPILL_MEMORY_BYTES);
	m.categories = fxt_categories(&m.tables);
	m.mpi = fxt_tables_intern(&m.tables, fxt_span("mpi"));
	while (fxt_next(&cursor, &r)) {
		if (fxt_decode(&r, &view) != NULL) {
			malformed++;
			continue;
		}
		unknown += view.is_unknown;
		fxt_tables_apply(&m.tables, &view);
		if (view.type == FXT_RECORD_EVENT)
			reader_on_event(&m, &view);
	}
	reader_match(&m);
	fxt_print_trace(name);
	report_waits(&m);
	report_functions(&m);
	report_messages(&m);
	if (!m.has_ranks)
		fxt_print_note("no process of the trace has a rank of a job");
	fxt_spill_free(&m.parts);
	free(m.pending);
	free(m.pending_of);
	sums_free(&m.numbers);
	sums_free(&m.functions);
	sums_free(&m.waits);
	sums_free(&m.messages);
	fxt_tables_free(&m.tables);
	return fxt_report_unread(name, malformed, unknown, &cursor.fault);
}

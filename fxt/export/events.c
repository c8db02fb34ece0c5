#include "events.h"

#include <inttypes.h>
#include "fxt/commands.h"

void fxt_export_scan(struct fxt_export *e, struct fxt_scan *scan)
{
	fxt_scan(scan, e->source, NULL);
	int status = fxt_report_unread(e->name, scan->malformed, scan->unknown, &scan->fault);

	if (status > e->status)
		e->status = status;
}

static void events_decoded(
        struct fxt_tables *tables, const struct fxt_view *view, fxt_export_visit *visit, void *state)
{
	struct fxt_view counters;

	if (fxt_view_heap_counters(view, &counters))
		view = &counters;
	if (view->type != FXT_RECORD_EVENT)
		return;
	struct fxt_export_event event = {.type = view->event.type,
	        .thread = fxt_tables_thread(tables, view->event.thread),
	        .category = fxt_tables_string(tables, view->event.category),
	        .name = fxt_tables_string(tables, view->event.name),
	        .ns = fxt_provider_ns(tables->provider, view->event.ticks),
	        .extra = view->event.extra,
	        .arguments = view->arguments,
	        .tables = tables};

	if (event.type == FXT_EVENT_DURATION_COMPLETE) {
		event.end_ns = fxt_provider_ns(tables->provider, view->event.extra);
		if (event.end_ns < event.ns)
			return;
	}
	visit(state, &event);
}

static void events_plain_call(
        struct fxt_tables *tables, const uint64_t *words, fxt_export_visit *visit, void *state)
{
	const struct fxt_provider_tables *provider = tables->provider;
	struct fxt_export_event event = {.type = FXT_EVENT_DURATION_COMPLETE,
	        .thread = fxt_provider_thread(provider, fxt_field(words[0], 24, 8)),
	        .category = fxt_provider_string(provider, fxt_field(words[0], 32, 15)),
	        .name = fxt_provider_string(provider, fxt_field(words[0], 48, 15)),
	        .ns = fxt_provider_ns(provider, words[1]),
	        .end_ns = fxt_provider_ns(provider, words[2]),
	        .tables = tables};

	if (event.end_ns >= event.ns)
		visit(state, &event);
}

void fxt_export_events(
        struct fxt_export *e, const struct fxt_scan *scan, fxt_export_visit *visit, void *state)
{
	struct fxt_archive archive;
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;
	char error[4096 + 256];

	if (fxt_archive_open_fd(&archive, e->source->fd, e->name, error, sizeof(error)) != 0) {
		fprintf(stderr, "fxt: %s\n", error);
		e->status = FXT_FAILED;
		return;
	}
	struct fxt_cursor cursor = fxt_cursor(&archive);

	fxt_tables_init(&tables);
	tables.settled_by = &scan->tables;
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0])) {
			events_plain_call(&tables, r.words, visit, state);
		} else if (fxt_decode(&r, &view) == NULL) {
			fxt_tables_apply(&tables, &view);
			events_decoded(&tables, &view, visit, state);
		}
	}
	fxt_tables_free(&tables);
	fxt_archive_close(&archive);
}

/* In a trace the ids are local to a process. */
uint64_t fxt_export_flow_id(const struct fxt_export_event *event)
{
	uint64_t process = event->tables->threads[event->thread].process;

	return (event->extra ^ process << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 12;
}

void fxt_export_number(FILE *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, out);
}

void fxt_export_microseconds(FILE *out, uint64_t ns)
{
	unsigned below = (unsigned)(ns % 1000);
	char digits[4] = {
	        '.', (char)('0' + below / 100), (char)('0' + below / 10 % 10), (char)('0' + below % 10)};

	fxt_export_number(out, ns / 1000);
	fwrite_unlocked(digits, 1, sizeof(digits), out);
}

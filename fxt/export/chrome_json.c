/*
 * Chrome's JSON trace format ("Trace Event Format"), an object of events. Calls are
 * complete events (X); every other event is the one with the same meaning. Times are
 * microseconds with three decimals. Context switches have no place in the format and are
 * left out. Names of processes and threads are at the beginning.
 */
#include <stdlib.h>
#include "events.h"
#include "fxt/json.h"
#include "reader/trace/text.h"

struct chrome {
	FILE *out;
	bool is_begun;
	struct chrome_text {
		char *json;
		size_t bytes;
	} * texts; /* by id of a string, as JSON */
	size_t text_count;
};

static void chrome_next(struct chrome *c)
{
	fputs_unlocked(c->is_begun ? ",\n" : "\n", c->out);
	c->is_begun = true;
}

/* A name is written for each event, so its JSON text is made once and kept. */
static void chrome_write_text(struct chrome *c, const struct fxt_tables *tables, uint32_t id)
{
	fxt_make_zeroed(c->texts, c->text_count, id);
	struct chrome_text *text = &c->texts[id];

	if (!text->json) {
		FILE *json = fxt_memory_open(&text->json, &text->bytes);

		fxt_json_string(json, tables->strings[id]);
		fxt_memory_close(json, &text->json);
	}
	fwrite_unlocked(text->json, 1, text->bytes, c->out);
}

static void chrome_begin_event(struct chrome *c, const struct fxt_export_event *event, char phase)
{
	struct fxt_koids koids = event->tables->threads[event->thread];

	chrome_next(c);
	fputs_unlocked("{\"ph\":\"", c->out);
	putc_unlocked(phase, c->out);
	fputs_unlocked("\",\"pid\":", c->out);
	fxt_export_number(c->out, koids.process);
	fputs_unlocked(",\"tid\":", c->out);
	fxt_export_number(c->out, koids.thread);
	fputs_unlocked(",\"ts\":", c->out);
	fxt_export_microseconds(c->out, event->ns);
}

/* The events of a flow may have different names in the trace, but must have the same
 * name here. */
static void chrome_name(struct chrome *c, const struct fxt_export_event *event, bool is_flow)
{
	if (is_flow) {
		fputs_unlocked(",\"cat\":\"flow\",\"name\":\"flow\",\"bp\":\"e\"", c->out);
		return;
	}
	fputs_unlocked(",\"cat\":", c->out);
	chrome_write_text(c, event->tables, event->category);
	fputs_unlocked(",\"name\":", c->out);
	chrome_write_text(c, event->tables, event->name);
}

static void chrome_event(void *state, const struct fxt_export_event *event)
{
	static const char phases[] = {
	        [FXT_EVENT_INSTANT] = 'i',
	        [FXT_EVENT_COUNTER] = 'C',
	        [FXT_EVENT_DURATION_BEGIN] = 'B',
	        [FXT_EVENT_DURATION_END] = 'E',
	        [FXT_EVENT_DURATION_COMPLETE] = 'X',
	        [FXT_EVENT_ASYNC_BEGIN] = 'b',
	        [FXT_EVENT_ASYNC_INSTANT] = 'n',
	        [FXT_EVENT_ASYNC_END] = 'e',
	        [FXT_EVENT_FLOW_BEGIN] = 's',
	        [FXT_EVENT_FLOW_STEP] = 't',
	        [FXT_EVENT_FLOW_END] = 'f',
	};
	struct chrome *c = state;
	bool is_flow = event->type >= FXT_EVENT_FLOW_BEGIN && event->type <= FXT_EVENT_FLOW_END;

	if (event->type >= sizeof(phases))
		return;
	chrome_begin_event(c, event, phases[event->type]);
	if (event->type == FXT_EVENT_DURATION_COMPLETE) {
		fputs_unlocked(",\"dur\":", c->out);
		fxt_export_microseconds(c->out, event->end_ns - event->ns);
	} else if (event->type == FXT_EVENT_INSTANT) {
		fputs_unlocked(",\"s\":\"t\"", c->out);
	} else if (event->type == FXT_EVENT_COUNTER) {
		fputs_unlocked(",\"id\":", c->out);
		fxt_export_number(c->out, event->extra);
	} else if (is_flow) {
		fputs_unlocked(",\"id\":", c->out);
		fxt_export_number(c->out, fxt_export_flow_id(event));
	} else if (event->type >= FXT_EVENT_ASYNC_BEGIN && event->type <= FXT_EVENT_ASYNC_END) {
		fprintf(c->out, ",\"id2\":{\"local\":\"0x%llx\"}", (unsigned long long)event->extra);
	}
	chrome_name(c, event, is_flow);
	if (event->arguments.left > 0) {
		fputs_unlocked(",\"args\":", c->out);
		fxt_json_arguments(c->out, event->tables, event->tables->threads[event->thread].process,
		        event->arguments);
	}
	putc_unlocked('}', c->out);
}

static void chrome_object_name(
        struct chrome *c, const struct fxt_tables *tables, enum fxt_object_type type, struct fxt_koids koids)
{
	bool is_thread = type == FXT_OBJECT_THREAD;
	uint32_t name = fxt_tables_object_name(tables, type, is_thread ? koids.thread : koids.process);

	if (name == FXT_NOTHING)
		return;
	chrome_next(c);
	fprintf(c->out, "{\"ph\":\"M\",\"pid\":%llu,\"tid\":%llu,\"name\":\"%s\",\"args\":{\"name\":",
	        (unsigned long long)koids.process, (unsigned long long)koids.thread,
	        is_thread ? "thread_name" : "process_name");
	fxt_json_string(c->out, tables->strings[name]);
	fputs("}}", c->out);
}

static void chrome_losses(FILE *out, const struct fxt_scan *scan)
{
	fprintf(out,
	        "\"otherData\":{\"records_lost\":%llu,\"records_overwritten\":%llu,\"calls_left_out\":%llu,"
	        "\"finished\":%s}",
	        (unsigned long long)scan->records_lost, (unsigned long long)scan->records_overwritten,
	        (unsigned long long)scan->elided_sums.calls, scan->state.is_finished ? "true" : "false");
}

void fxt_export_chrome_json(struct fxt_export *e)
{
	struct chrome c = {.out = e->out};
	struct fxt_scan scan;

	fxt_export_scan(e, &scan);
	fputs("{\"displayTimeUnit\":\"ns\",", e->out);
	chrome_losses(e->out, &scan);
	fputs(",\"traceEvents\":[", e->out);
	for (size_t i = 1; i < scan.tables.thread_count; i++) {
		chrome_object_name(&c, &scan.tables, FXT_OBJECT_PROCESS, scan.tables.threads[i]);
		chrome_object_name(&c, &scan.tables, FXT_OBJECT_THREAD, scan.tables.threads[i]);
	}
	fxt_export_events(e, &scan, chrome_event, &c);
	fxt_scan_free(&scan);
	fputs("\n]}\n", e->out);
	for (size_t i = 0; i < c.text_count; i++)
		free(c.texts[i].json);
	free(c.texts);
}

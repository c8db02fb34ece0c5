/*
 * fxt dump: prints one line for each record, with the meaning of its references at that
 * place. Times are ticks, as in the file. Offsets, pointers and ids of counters, async
 * events and flows are hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "reader/trace/kinds.h"
#include "reader/trace/tables.h"
#include "reader/trace/progress_line.h"
#include "reader/trace/text.h"

static const char help[] = "usage: fxt dump [FILE]...\n"
                           "\n"
                           "Prints a trace record by record, a line each: its offset in the file, its kind\n"
                           "and its fields, with names in place of references.\n" FXT_HELP_FILE;

static void print_field(const char *field, struct fxt_span text)
{
	printf(" %s=", field);
	fxt_print_quoted(text);
}

static void print_string(struct fxt_tables *t, const char *field, struct fxt_string string)
{
	uint32_t id = fxt_tables_string(t, string);

	if (id == FXT_NOTHING)
		printf(" %s=?%u", field, string.ref);
	else
		print_field(field, t->strings[id]);
}

static void dump_print_thread(struct fxt_tables *t, const char *field, struct fxt_thread thread)
{
	uint32_t id = fxt_tables_thread(t, thread);

	if (id == FXT_NOTHING)
		printf(" %s=?%u", field, thread.ref);
	else
		printf(" %s=%" PRIu64 "/%" PRIu64, field, t->threads[id].process, t->threads[id].thread);
}

static void print_argument(struct fxt_tables *t, const struct fxt_argument *argument)
{
	uint64_t word = argument->value.word;
	double number;

	switch (argument->type) {
	case FXT_ARGUMENT_NULL:
		fputs("null", stdout);
		break;
	case FXT_ARGUMENT_INT32:
		printf("int32:%" PRId32, (int32_t)word);
		break;
	case FXT_ARGUMENT_UINT32:
		printf("uint32:%" PRIu64, word);
		break;
	case FXT_ARGUMENT_INT64:
		printf("int64:%" PRId64, (int64_t)word);
		break;
	case FXT_ARGUMENT_UINT64:
		printf("uint64:%" PRIu64, word);
		break;
	case FXT_ARGUMENT_DOUBLE:
		memcpy(&number, &word, sizeof(number));
		printf("double:%.17g", number);
		break;
	case FXT_ARGUMENT_STRING: {
		uint32_t id = fxt_tables_string(t, argument->value.string);

		if (id == FXT_NOTHING)
			printf("?%u", argument->value.string.ref);
		else
			fxt_print_quoted(t->strings[id]);
		break;
	}
	case FXT_ARGUMENT_POINTER:
		printf("pointer:0x%" PRIx64, word);
		break;
	case FXT_ARGUMENT_KOID:
		printf("koid:%" PRIu64, word);
		break;
	case FXT_ARGUMENT_BOOL:
		fputs(word ? "true" : "false", stdout);
		break;
	case FXT_ARGUMENT_BLOB:
		printf("blob:%zu", argument->value.blob.bytes);
		break;
	default:
		printf("?type%u", argument->type);
		break;
	}
}

static void print_arguments(struct fxt_tables *t, struct fxt_arguments arguments)
{
	const char *before = " {";
	struct fxt_argument argument;

	if (arguments.left == 0)
		return;
	while (fxt_next_argument(&arguments, &argument)) {
		uint32_t name = fxt_tables_string(t, argument.name);

		fputs(before, stdout);
		if (name == FXT_NOTHING)
			printf("?%u", argument.name.ref);
		else
			fxt_print_text(t->strings[name]);
		putchar('=');
		print_argument(t, &argument);
		before = ", ";
	}
	putchar('}');
}

static void print_metadata(struct fxt_tables *t, const struct fxt_view *view)
{
	(void)t;
	if (view->metadata.type == FXT_METADATA_TRACE_INFO)
		return;
	printf(" id=%" PRIu32, view->metadata.provider);
	if (view->metadata.type == FXT_METADATA_PROVIDER_INFO)
		print_field("name", view->metadata.name);
	else if (view->metadata.type == FXT_METADATA_PROVIDER_EVENT)
		printf(" event=%u%s", view->metadata.event,
		        view->metadata.event == FXT_PROVIDER_EVENT_BUFFER_FULL ? " (buffer full)" : "");
}

static void print_initialization(struct fxt_tables *t, const struct fxt_view *view)
{
	(void)t;
	printf(" ticks_per_second=%" PRIu64, view->initialization.ticks_per_second);
}

static void print_string_record(struct fxt_tables *t, const struct fxt_view *view)
{
	(void)t;
	printf(" index=%u", view->string.index);
	print_field("text", view->string.text);
}

static void print_thread_record(struct fxt_tables *t, const struct fxt_view *view)
{
	(void)t;
	printf(" index=%u thread=%" PRIu64 "/%" PRIu64, view->thread.index, view->thread.process,
	        view->thread.thread);
}

static void print_event(struct fxt_tables *t, const struct fxt_view *view)
{
	dump_print_thread(t, "thread", view->event.thread);
	printf(" time=%" PRIu64, view->event.ticks);
	if (view->event.type == FXT_EVENT_DURATION_COMPLETE)
		printf(" end=%" PRIu64, view->event.extra);
	else if (fxt_event_has_extra(view->event.type))
		printf(" id=0x%" PRIx64, view->event.extra);
	else if (view->event.type > FXT_EVENT_FLOW_END)
		printf(" type=%u", view->event.type);
	print_string(t, "category", view->event.category);
	print_string(t, "name", view->event.name);
}

static void print_blob(struct fxt_tables *t, const struct fxt_view *view)
{
	print_string(t, "name", view->blob.name);
	printf(" type=%u bytes=%zu", view->blob.type, view->blob.data.bytes);
}

static void print_userspace_object(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_thread process = view->userspace_object.process;
	uint32_t id = process.ref ? fxt_tables_thread(t, process) : FXT_NOTHING;

	if (process.ref == 0)
		printf(" process=%" PRIu64, process.process);
	else if (id == FXT_NOTHING)
		printf(" process=?%u", process.ref);
	else
		printf(" process=%" PRIu64, t->threads[id].process);
	printf(" pointer=0x%" PRIx64, view->userspace_object.pointer);
	print_string(t, "name", view->userspace_object.name);
}

static void print_kernel_object(struct fxt_tables *t, const struct fxt_view *view)
{
	uint8_t type = view->kernel_object.type;

	if (type == FXT_OBJECT_PROCESS || type == FXT_OBJECT_THREAD)
		printf(" type=%s", type == FXT_OBJECT_PROCESS ? "process" : "thread");
	else
		printf(" type=%u", type);
	printf(" koid=%" PRIu64, view->kernel_object.koid);
	print_string(t, "name", view->kernel_object.name);
}

static void print_scheduling(struct fxt_tables *t, const struct fxt_view *view)
{
	printf(" time=%" PRIu64 " cpu=%u", view->scheduling.ticks, view->scheduling.cpu);
	switch (view->scheduling.type) {
	case FXT_SCHEDULING_CONTEXT_SWITCH:
		printf(" out=%" PRIu64 " state=%u in=%" PRIu64, view->scheduling.outgoing.thread,
		        view->scheduling.outgoing_state, view->scheduling.incoming.thread);
		break;
	case FXT_SCHEDULING_THREAD_WAKEUP:
		printf(" thread=%" PRIu64, view->scheduling.incoming.thread);
		break;
	case FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH:
		dump_print_thread(t, "out", view->scheduling.outgoing);
		printf(" state=%u priority=%u", view->scheduling.outgoing_state,
		        view->scheduling.outgoing_priority);
		dump_print_thread(t, "in", view->scheduling.incoming);
		printf(" priority=%u", view->scheduling.incoming_priority);
		break;
	}
}

static void print_log(struct fxt_tables *t, const struct fxt_view *view)
{
	dump_print_thread(t, "thread", view->log.thread);
	printf(" time=%" PRIu64, view->log.ticks);
	print_field("text", view->log.text);
}

static void print_large_blob(struct fxt_tables *t, const struct fxt_view *view)
{
	if (view->large_blob.format == FXT_LARGE_BLOB_WITH_METADATA) {
		dump_print_thread(t, "thread", view->large_blob.thread);
		printf(" time=%" PRIu64, view->large_blob.ticks);
	}
	print_string(t, "category", view->large_blob.category);
	print_string(t, "name", view->large_blob.name);
	printf(" bytes=%zu", view->large_blob.data.bytes);
}

static void (*const print[16])(struct fxt_tables *, const struct fxt_view *) = {
        [FXT_RECORD_METADATA] = print_metadata,
        [FXT_RECORD_INITIALIZATION] = print_initialization,
        [FXT_RECORD_STRING] = print_string_record,
        [FXT_RECORD_THREAD] = print_thread_record,
        [FXT_RECORD_EVENT] = print_event,
        [FXT_RECORD_BLOB] = print_blob,
        [FXT_RECORD_USERSPACE_OBJECT] = print_userspace_object,
        [FXT_RECORD_KERNEL_OBJECT] = print_kernel_object,
        [FXT_RECORD_SCHEDULING] = print_scheduling,
        [FXT_RECORD_LOG] = print_log,
        [FXT_RECORD_LARGE] = print_large_blob,
};

static int dump_file(const char *name, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;
	int status = FXT_DONE;

	fxt_progress_stop();
	fxt_tables_init(&tables);
	while (fxt_next(&cursor, &r)) {
		const char *reason = fxt_decode(&r, &view);

		printf("0x%08" PRIx64 " ", r.offset);
		if (reason) {
			printf("%s malformed: %s", fxt_record_type_name(fxt_record_type(r.words[0])), reason);
			status = FXT_BROKEN;
		} else {
			fputs(fxt_kind_name(fxt_kind(&view)), stdout);
			if (print[view.type])
				print[view.type](&tables, &view);
			else
				printf(" type=%u words=%zu", view.type, r.size);
			print_arguments(&tables, view.arguments);
			fxt_tables_apply(&tables, &view);
		}
		putchar('\n');
	}
	fxt_tables_free(&tables);
	if (fxt_report_unread(name, 0, &cursor.fault) != FXT_DONE)
		status = FXT_BROKEN;
	return status;
}

int fxt_command_dump(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};

	fxt_options_begin();
	while (fxt_option(argc, argv, options, help) != -1)
		;
	return fxt_each_archive(argc, argv, dump_file);
}

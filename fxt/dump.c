/*
 * fxt dump: prints one line for each record, with the meaning of its references at that
 * place. Times are ticks, as in the file. Offsets, pointers and ids of counters, async
 * events and flows are hexadecimal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "reader/trace/fields.h"
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

/* Events and userspace objects point to other objects, whose names are printed. */
static bool dump_process(struct fxt_tables *t, const struct fxt_view *view, uint64_t *process)
{
	struct fxt_thread thread =
	        view->type == FXT_RECORD_EVENT ? view->event.thread : view->userspace_object.process;
	uint32_t id = thread.ref ? fxt_provider_thread(t->provider, thread.ref) : FXT_NOTHING;

	*process = thread.ref ? t->threads[id].process : thread.process;
	return view->type == FXT_RECORD_EVENT || view->type == FXT_RECORD_USERSPACE_OBJECT;
}

static void print_arguments(struct fxt_tables *t, const struct fxt_view *view)
{
	struct fxt_arguments arguments = view->arguments;
	bool has_labels;
	uint64_t process;
	const char *before = " {";
	struct fxt_argument argument;

	if (arguments.left == 0)
		return;
	has_labels = dump_process(t, view, &process);
	while (fxt_next_argument(&arguments, &argument)) {
		uint32_t name = fxt_tables_string(t, argument.name);

		fputs(before, stdout);
		if (name == FXT_NOTHING)
			printf("?%u", argument.name.ref);
		else
			fxt_print_text(t->strings[name]);
		putchar('=');
		print_argument(t, &argument);
		struct fxt_span label = fxt_tables_label(t, process, &argument);

		if (has_labels && label.bytes > 0) {
			putchar(' ');
			fxt_print_quoted(label);
		}
		before = ", ";
	}
	putchar('}');
}

static void print_process(struct fxt_tables *t, const char *field, struct fxt_thread process)
{
	uint32_t id = process.ref ? fxt_tables_thread(t, process) : FXT_NOTHING;

	if (process.ref != 0 && id == FXT_NOTHING)
		printf(" %s=?%u", field, process.ref);
	else
		printf(" %s=%" PRIu64, field, process.ref ? t->threads[id].process : process.process);
}

/* The numbers that have names. */
static const char *dump_number_name(const struct fxt_view *view, const char *field)
{
	static const char *const objects[] = {
	        [FXT_OBJECT_PROCESS] = "process", [FXT_OBJECT_THREAD] = "thread"};

	if (view->type == FXT_RECORD_KERNEL_OBJECT && strcmp(field, "type") == 0 &&
	        view->kernel_object.type <= FXT_OBJECT_THREAD)
		return objects[view->kernel_object.type];
	if (view->type == FXT_RECORD_METADATA && strcmp(field, "event") == 0 &&
	        view->metadata.event == FXT_PROVIDER_EVENT_BUFFER_FULL)
		return "0 (buffer full)";
	return NULL;
}

struct dump {
	struct fxt_tables *tables;
	const struct fxt_view *view;
	unsigned order;
};

static void print_value(void *context, const struct fxt_field_value *value)
{
	const struct dump *dump = context;
	struct fxt_tables *t = dump->tables;
	const char *field = value->rule->name, *name;

	if (!field || value->rule->order != dump->order)
		return;
	switch (value->rule->type) {
	case FXT_FIELD_ID:
	case FXT_FIELD_FLOW:
		printf(" %s=0x%" PRIx64, field, value->number);
		break;
	case FXT_FIELD_STRING:
		print_string(t, field, value->string);
		break;
	case FXT_FIELD_THREAD:
		if (value->rule->bits > 0)
			dump_print_thread(t, field, value->thread);
		else /* as registered, not what it is a row of */
			printf(" %s=%" PRIu64 "/%" PRIu64, field, value->thread.process,
			        value->thread.thread);
		break;
	case FXT_FIELD_PROCESS:
		print_process(t, field, value->thread);
		break;
	case FXT_FIELD_TEXT:
		print_field(field, value->span);
		break;
	case FXT_FIELD_DATA:
		printf(" %s=%zu", field, value->span.bytes);
		break;
	default:
		name = dump_number_name(dump->view, field);
		if (name)
			printf(" %s=%s", field, name);
		else
			printf(" %s=%" PRIu64, field, value->number);
		break;
	}
}

static void print_fields(struct fxt_tables *t, const struct fxt_record *r, const struct fxt_view *view)
{
	if (view->is_unknown && view->type == FXT_RECORD_OTHER) {
		printf(" type=%u", fxt_record_type(r->words[0]));
		if (fxt_record_subtype(r->words[0]) > 0)
			printf(" kind=%u", fxt_record_subtype(r->words[0]));
		printf(" words=%zu", r->size);
	}
	for (struct dump dump = {t, view, 0}; dump.order < FXT_FIELD_ORDERS; dump.order++)
		fxt_visit_fields(r, FXT_FIELDS_ALL, print_value, &dump);
}

static int dump_file(void *state, const char *name, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;
	int status = FXT_DONE;

	(void)state;
	fxt_progress_stop();
	fxt_tables_init(&tables);
	while (fxt_next(&cursor, &r)) {
		const char *reason = fxt_decode(&r, &view);

		printf("0x%08" PRIx64 " %s", r.offset, fxt_kind_name(fxt_kind(r.words[0])));
		if (reason) {
			printf(" malformed: %s", reason);
			status = FXT_BROKEN;
		} else {
			print_fields(&tables, &r, &view);
			print_arguments(&tables, &view);
			fxt_tables_apply(&tables, &view);
		}
		putchar('\n');
	}
	fxt_tables_free(&tables);
	if (fxt_report_unread(name, 0, 0, &cursor.fault) != FXT_DONE)
		status = FXT_BROKEN;
	return status;
}

int fxt_command_dump(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};

	fxt_options_begin();
	while (fxt_option(argc, argv, options, help) != -1)
		;
	return fxt_each_archive(argc, argv, dump_file, NULL);
}

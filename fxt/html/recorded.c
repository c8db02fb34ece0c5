#include "recorded.h"

#include <inttypes.h>
#include <stdlib.h>
#include "fxt/json.h"
#include "perfetto/perfetto.h"
#include "perfetto/protobuf.h"
#include "reader/trace/index.h"

/* Appends a word to a text, with a space between. */
static void recorded_add_word(char **text, struct fxt_span word)
{
	size_t before = *text ? strlen(*text) : 0;

	*text = fxt_resize(*text, before + 1 + word.bytes + 1, 1);
	if (before > 0)
		(*text)[before++] = ' ';
	if (word.bytes > 0)
		memcpy(*text + before, word.data, word.bytes);
	(*text)[before + word.bytes] = '\0';
}

static void recorded_take_processes(struct fxt_html_recorded *r, struct fxt_span tree)
{
	struct fxt_message_field process, argument;

	while (!r->command && fxt_message_next(&tree, &process)) {
		if (process.number != PERFETTO_TREE_PROCESSES || !process.is_bytes)
			continue;
		while (fxt_message_next(&process.bytes, &argument))
			if (argument.number == PERFETTO_TREE_PROCESS_ARGUMENT && argument.is_bytes)
				recorded_add_word(&r->command, argument.bytes);
	}
}

static void recorded_take_names(struct fxt_html_recorded *r, struct fxt_span names)
{
	struct fxt_message_field name;

	while (fxt_message_next(&names, &name))
		if (name.is_bytes && name.number != PERFETTO_UTSNAME_VERSION)
			recorded_add_word(&r->system, name.bytes);
}

static void recorded_take_system(struct fxt_html_recorded *r, struct fxt_span system)
{
	struct fxt_message_field field;

	if (r->system)
		return;
	while (fxt_message_next(&system, &field))
		if (field.number == PERFETTO_SYSTEM_UTSNAME && field.is_bytes)
			recorded_take_names(r, field.bytes);
		else if (field.number == PERFETTO_SYSTEM_CPUS)
			r->processors = field.value;
}

void fxt_html_recorded_take(struct fxt_html_recorded *r, const struct fxt_view *view)
{
	struct fxt_message_field packet, field;
	struct fxt_anchor anchor;
	struct fxt_span data;

	if (view->type != FXT_RECORD_BLOB)
		return;
	if (r->began_ns == 0 && fxt_view_anchor(view, &anchor))
		r->began_ns = anchor.realtime_ns;
	if (view->blob.type != FXT_BLOB_PERFETTO)
		return;
	data = view->blob.data;
	while (fxt_message_next(&data, &packet)) {
		if (packet.number != PERFETTO_TRACE_PACKET || !packet.is_bytes)
			continue;
		while (fxt_message_next(&packet.bytes, &field))
			if (field.number == PERFETTO_PACKET_PROCESS_TREE && field.is_bytes)
				recorded_take_processes(r, field.bytes);
			else if (field.number == PERFETTO_PACKET_SYSTEM_INFO && field.is_bytes)
				recorded_take_system(r, field.bytes);
	}
}

static void recorded_write_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\n\"%s\": ", key);
	if (text)
		fxt_json_string_in_html(out, fxt_span(text));
	else
		fputs("null", out);
}

void fxt_html_recorded_write(const struct fxt_html_recorded *r, FILE *out)
{
	fprintf(out, ",\n\"began_ms\": %" PRIu64 ",\n\"processors\": %" PRIu64, r->began_ns / 1000000,
	        r->processors);
	recorded_write_text(out, "command", r->command);
	recorded_write_text(out, "system", r->system);
}

void fxt_html_recorded_free(struct fxt_html_recorded *r)
{
	free(r->command);
	free(r->system);
	*r = (struct fxt_html_recorded){0};
}

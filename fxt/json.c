#include "json.h"

#include <inttypes.h>
#include <math.h>
#include "reader/trace/text.h"

static void json_string(FILE *out, struct fxt_span text, bool in_html)
{
	char escape[8];

	putc('"', out);
	for (size_t i = 0; i < text.bytes;) {
		size_t bytes = fxt_escape((struct fxt_span){text.data + i, text.bytes - i}, escape);
		unsigned char c = (unsigned char)text.data[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f || (c == '<' && in_html))
			fprintf(out, "\\u%04x", c);
		else if (escape[0] && escape[1] == 'u')
			fputs(escape, out);
		else if (escape[0])
			fputs("\\ufffd", out); /* invalid UTF-8 */
		else
			fwrite(text.data + i, 1, bytes, out);
		i += bytes;
	}
	putc('"', out);
}

void fxt_json_string(FILE *out, struct fxt_span text)
{
	json_string(out, text, false);
}

void fxt_json_string_in_html(FILE *out, struct fxt_span text)
{
	json_string(out, text, true);
}

void fxt_json_number(FILE *out, double number)
{
	if (!isfinite(number))
		fputs("null", out);
	else if (number == floor(number) && fabs(number) < 1e15)
		fprintf(out, "%.0f", number);
	else
		fprintf(out, "%.15g", number);
}

/* ---- arguments ---- */

static void json_value(FILE *out, struct fxt_tables *tables, const struct fxt_argument *argument)
{
	uint64_t word = argument->value.word;
	double number;

	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
		fprintf(out, "%" PRId32, (int32_t)word);
		break;
	case FXT_ARGUMENT_UINT32:
		fprintf(out, "%" PRIu32, (uint32_t)word);
		break;
	case FXT_ARGUMENT_INT64:
		fprintf(out, "%" PRId64, (int64_t)word);
		break;
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_KOID:
		fprintf(out, "%" PRIu64, word);
		break;
	case FXT_ARGUMENT_DOUBLE:
		memcpy(&number, &word, sizeof(number));
		if (isfinite(number))
			fprintf(out, "%.17g", number);
		else
			fputs("null", out);
		break;
	case FXT_ARGUMENT_STRING:
		fxt_json_string(out, fxt_tables_text(tables, argument->value.string));
		break;
	case FXT_ARGUMENT_POINTER:
		fprintf(out, "\"0x%" PRIx64 "\"", word);
		break;
	case FXT_ARGUMENT_BOOL:
		fputs((uint32_t)word ? "true" : "false", out);
		break;
	default:
		fputs("null", out);
		break;
	}
}

/* Prints what a pointer or koid means, as an argument of its own. */
static void json_label(
        FILE *out, struct fxt_tables *tables, uint64_t process, const struct fxt_argument *argument)
{
	struct fxt_span label = fxt_tables_label(tables, process, argument);
	struct fxt_label_key key = fxt_label_key(fxt_tables_text(tables, argument->name));

	if (label.bytes == 0)
		return;
	fputs(", ", out);
	fxt_json_string(out, fxt_span(key.text));
	fputs(": ", out);
	fxt_json_string(out, label);
}

void fxt_json_arguments(
        FILE *out, struct fxt_tables *tables, uint64_t process, struct fxt_arguments arguments)
{
	struct fxt_argument argument;
	const char *before = "";

	putc('{', out);
	while (fxt_next_argument(&arguments, &argument)) {
		fputs(before, out);
		fxt_json_string(out, fxt_tables_text(tables, argument.name));
		fputs(": ", out);
		json_value(out, tables, &argument);
		json_label(out, tables, process, &argument);
		before = ", ";
	}
	putc('}', out);
}

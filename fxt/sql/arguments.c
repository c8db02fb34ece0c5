#include "arguments.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "reader/text.h"

static void arguments_put_text(FILE *out, struct fxt_span text)
{
	char escape[8];

	putc('"', out);
	for (size_t i = 0; i < text.bytes;) {
		size_t bytes = fxt_escape((struct fxt_span){text.data + i, text.bytes - i}, escape);
		unsigned char c = (unsigned char)text.data[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (escape[0] && escape[1] != 'u')
			fputs("\\ufffd", out); /* no UTF-8 */
		else
			fwrite(text.data + i, 1, bytes, out);
		i += bytes;
	}
	putc('"', out);
}

static void arguments_put_string(FILE *out, struct fxt_tables *t, struct fxt_string string)
{
	uint32_t id = fxt_tables_string(t, string);

	arguments_put_text(out, string.ref & FXT_STRING_INLINE_BIT ? fxt_inline_text(string)
	                        : id == FXT_NOTHING && string.ref  ? fxt_span("(unregistered)")
	                        : string.ref                       ? t->strings[id]
	                                                           : fxt_span(""));
}

static void arguments_put_value(FILE *out, struct fxt_tables *t, const struct fxt_argument *argument)
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
		arguments_put_string(out, t, argument->value.string);
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

char *fxt_sql_arguments(struct fxt_tables *t, struct fxt_arguments arguments)
{
	const char *before = "{";
	struct fxt_argument argument;
	char *text = NULL;
	size_t bytes = 0;

	if (arguments.left == 0)
		return NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	while (fxt_next_argument(&arguments, &argument)) {
		fputs(before, out);
		arguments_put_string(out, t, argument.name);
		fputs(": ", out);
		arguments_put_value(out, t, &argument);
		before = ", ";
	}
	putc('}', out);
	fclose(out);
	return text;
}

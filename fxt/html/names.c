#include "names.h"

#include <stdlib.h>
#include "fxt/json.h"

uint32_t fxt_html_name(struct fxt_html_names *names, uint32_t string)
{
	fxt_make_zeroed(names->number_of, names->room, string);
	if (names->number_of[string] == 0) {
		fxt_make_room(names->strings, names->count, names->string_room);
		names->strings[names->count++] = string;
		names->number_of[string] = (uint32_t)names->count;
	}
	return names->number_of[string] - 1;
}

void fxt_html_names_write(FILE *out, const struct fxt_html_names *names, const struct fxt_tables *tables)
{
	putc('[', out);
	for (size_t i = 0; i < names->count; i++) {
		fputs(i > 0 ? ",\n" : "", out);
		fxt_json_string_in_html(out, tables->strings[names->strings[i]]);
	}
	putc(']', out);
}

void fxt_html_names_free(struct fxt_html_names *names)
{
	free(names->number_of);
	free(names->strings);
}

void fxt_html_words_write(FILE *out, struct fxt_describer *words)
{
	fxt_json_string_in_html(out, fxt_describe_end(words));
	fxt_describe_free(words);
}

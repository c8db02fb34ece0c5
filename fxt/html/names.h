/*
 * The texts of a page. Each text that is referred to stands in the page once, and is
 * referred to by its number.
 */
#ifndef FXT_FXT_HTML_NAMES_H
#define FXT_FXT_HTML_NAMES_H

#include <stdio.h>
#include "fxt/describe.h"
#include "reader/trace/tables.h"

/* All zeros: it is empty. */
struct fxt_html_names {
	uint32_t *number_of; /* by the string's id, plus 1; 0: it has none yet */
	uint32_t *strings;   /* ids, by number */
	size_t room, count, string_room;
};

/* The number of a string, which is added if it has none yet. */
uint32_t fxt_html_name(struct fxt_html_names *names, uint32_t string);

/* Writes all texts as a JSON array inside a script element. */
void fxt_html_names_write(FILE *out, const struct fxt_html_names *names, const struct fxt_tables *tables);
void fxt_html_names_free(struct fxt_html_names *names);

/* Writes a text that occurs only once as a string of such JSON, and frees it. */
void fxt_html_words_write(FILE *out, struct fxt_describer *words);

#endif

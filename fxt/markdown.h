/*
 * Tables as Markdown, for pages and the summaries of CI services (--markdown). These
 * functions implement table.h as layout.h does; cells have the numbers that people see, and
 * no column is left out.
 */
#ifndef FXT_FXT_MARKDOWN_H
#define FXT_FXT_MARKDOWN_H

#include "table.h"

/* Prints a text so that Markdown shows it as it is. */
void fxt_markdown_text(struct fxt_span text);

void fxt_markdown_begin(const char *of, const struct fxt_column *columns, size_t count);
void fxt_markdown_row(const struct fxt_cell *cells);

#endif

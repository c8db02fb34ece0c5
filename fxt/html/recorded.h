/*
 * The circumstances of a recording: its time, command and system. All of them are optional.
 * They come from the first anchor (writer/format/anchor.h), and from the
 * packets about the session that the manager writes (launcher/manager/description.h).
 */
#ifndef FXT_FXT_HTML_RECORDED_H
#define FXT_FXT_HTML_RECORDED_H

#include <stdio.h>
#include "reader/trace/cursor.h"

/* All zeros: nothing is known. */
struct fxt_html_recorded {
	uint64_t began_ns; /* since 1970, of the system's clock; 0: not known */
	char *command;     /* of the first process; its arguments, with spaces between */
	char *system;      /* its name, release and machine */
	uint64_t processors;
};

/* Takes over what a record says. */
void fxt_html_recorded_take(struct fxt_html_recorded *recorded, const struct fxt_view *view);

/* Writes members of an object, each with a comma before it. */
void fxt_html_recorded_write(const struct fxt_html_recorded *recorded, FILE *out);

void fxt_html_recorded_free(struct fxt_html_recorded *recorded);

#endif

/*
 * The lines of the program's logs: when each thread wrote which line. They are log records,
 * those of FXT_LOG and of fxtrun's option --log, and are collected during the scan (scan.h).
 * A line's text stays in the trace; memory, and then a file in TMPDIR (spill.h), hold its
 * place. Module records, which have the same form, are no lines.
 *
 *   struct fxt_log_lines lines;
 *   fxt_log_lines_init(&lines)
 *   in the listener's begin():   fxt_log_lines_clear(&lines)
 *   in the listener's record():  fxt_log_lines_record(&lines, tables, view, offset)
 *   fxt_log_lines_finish(&lines)
 */
#ifndef FXT_READER_LOG_LINES_H
#define FXT_READER_LOG_LINES_H

#include "reader/trace/source.h"
#include "reader/trace/spill.h"
#include "reader/trace/tables.h"

struct fxt_log_line {
	uint64_t ns;
	uint64_t offset; /* of the text in the trace */
	uint32_t thread; /* id in the tables */
	uint32_t bytes;  /* of the text */
};

struct fxt_log_lines {
	struct fxt_spill lines; /* struct fxt_log_line, by time once finished */
};

void fxt_log_lines_init(struct fxt_log_lines *l);
void fxt_log_lines_free(struct fxt_log_lines *l);

/* Forgets all lines. */
void fxt_log_lines_clear(struct fxt_log_lines *l);

/* Takes a record at its offset; records of other kinds change nothing. */
void fxt_log_lines_record(
        struct fxt_log_lines *l, struct fxt_tables *tables, const struct fxt_view *view, uint64_t offset);

/* Puts the lines in order. Call it once all records are there. */
void fxt_log_lines_finish(struct fxt_log_lines *l);

static inline struct fxt_log_line fxt_log_lines_item(const struct fxt_log_lines *l, uint64_t index)
{
	struct fxt_log_line line;

	fxt_spill_read(&l->lines, index, 1, &line);
	return line;
}

/* Reads the text of a line; `room` has at least FXT_STRING_MAX_BYTES. A file that has
 * changed may give less than the whole text. */
static inline struct fxt_span fxt_log_line_text(
        const struct fxt_source *source, const struct fxt_log_line *line, char *room)
{
	return (struct fxt_span){room, fxt_source_read(source, line->offset, room, line->bytes)};
}

#endif

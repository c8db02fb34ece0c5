#include "named.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reader/trace/cursor.h"
#include "reader/trace/index.h"
#include "reader/trace/spill.h"
#include "reader/trace/text.h"
#include "symbolizer/rewrite.h"

/* The bytes of a trace that are searched: functions are registered from the first call
 * on. */
#define LOOK_BYTES ((size_t)1 << 20)

static bool named_has_placeholder(const struct fxt_record *r)
{
	struct fxt_view view;

	return fxt_decode(r, &view) == NULL && view.type == FXT_RECORD_STRING &&
	       fxt_begins_with(view.string.text, "{{{pc:");
}

static bool named_lacks_names(const struct fxt_source *source)
{
	uint64_t *words = fxt_allocate(LOOK_BYTES);
	struct fxt_archive first = {.words = words, .bytes = fxt_source_read(source, 0, words, LOOK_BYTES)};
	struct fxt_cursor cursor = fxt_cursor(&first);
	struct fxt_record r;
	bool lacks = false;

	while (!lacks && fxt_next(&cursor, &r))
		lacks = named_has_placeholder(&r);
	free(words);
	return lacks;
}

static void named_fail(const char *name, const char *reason)
{
	fprintf(stderr, "fxt: %s: functions are shown by address: %s\n", name, reason);
}

/* Replaces the source by a copy with names. If there is no room for the copy, reports
 * that and uses the trace as it is. */
static void named_rewrite(struct fxt_source *source, const char *name)
{
	const struct fxt_rewrite_options rewriting = {.symbols = true};
	struct fxt_rewrite_result result;
	struct fxt_source named;
	char error[4096 + 256];
	int fd = fxt_spill_file();

	if (fd < 0) {
		named_fail(name, strerror(errno));
		return;
	}
	if (fxt_rewrite_archive(source->fd, fd, &rewriting, &result, error, sizeof(error)) != 0) {
		named_fail(name, error);
	} else if (result.fault.reason) {
		/* The reader reports a trace that ends inside a record. */
	} else if (fxt_source_open_fd(&named, fd, name, error, sizeof(error)) != 0) {
		named_fail(name, error);
	} else {
		named.file = source->file;
		fxt_source_close(source);
		*source = named;
		if (result.unknown > 0)
			fprintf(stderr,
			        "fxt: %s: no name is known for %" PRIu64 " of %" PRIu64 " functions\n", name,
			        result.unknown, result.functions);
	}
	close(fd);
}

int fxt_named_source_open(struct fxt_source *source, const char *name, char *error, size_t error_bytes)
{
	if (fxt_source_open(source, name, error, error_bytes) != 0)
		return -1;
	if (named_lacks_names(source))
		named_rewrite(source, name);
	return 0;
}

int fxt_named_archive_open(struct fxt_archive *archive, const char *name, char *error, size_t error_bytes)
{
	struct fxt_source source;

	if (fxt_named_source_open(&source, name, error, error_bytes) != 0)
		return -1;
	int result = fxt_archive_open_fd(archive, source.fd, name, error, error_bytes);

	archive->file = source.file;
	fxt_source_close(&source);
	return result;
}

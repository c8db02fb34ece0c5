/*
 * Any bytes as a trace that is cut. The first word chooses the part: its lowest byte is a
 * sum of what chooses, the next three are the time's begin and end in 255ths of the trace's
 * and the shortest duration, the others a pattern. Whatever it is, the part can be read to
 * its end, and if the whole makes sense and has one clock, the part has the same slices
 * that the choice shows of the whole.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"
#include "fxt/cut/others.h"
#include "fxt/cut/write.h"
#include "reader/slices/query_filter.h"
#include "reader/slices/walk.h"

enum { FUZZ_TIME = 1, FUZZ_MIN = 2, FUZZ_PROCESS = 4, FUZZ_THREAD = 8, FUZZ_FUNCTION = 16, FUZZ_UNDER = 32 };

static void fuzz_enter(void *state, struct fxt_walk_frame *frame)
{
	*(uint64_t *)state += !frame->is_context;
}

static void fuzz_leaf(void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)slice, (void)parent;
	++*(uint64_t *)state;
}

static void fuzz_count(struct fxt_walker *walker, void *state)
{
	static const struct fxt_visitor visitor = {.enter = fuzz_enter, .leaf = fuzz_leaf};

	fxt_walk_ranges(walker, &visitor, state);
}

static uint64_t fuzz_slices(const struct fxt_scan *scan)
{
	uint64_t slices = 0;

	fxt_walk(scan, fuzz_count, &slices, sizeof(slices), 1);
	return slices;
}

static void fuzz_read_cut(const char *data, size_t bytes, const struct fxt_scan *whole)
{
	const struct fxt_query_filter all = {0};
	struct fxt_source source;
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];
	int fd = fuzz_file(data, bytes);

	if (fxt_source_open_fd(&source, fd, "cut", error, sizeof(error)) != 0)
		abort();
	fxt_scan(&scan, &source, NULL);
	if (scan.fault.reason || fxt_query_filter_apply(&all, &scan, &filter, error, sizeof(error)) != 0)
		abort();
	if (!whole->malformed && !whole->fault.reason && whole->in_ticks &&
	        (scan.malformed || fuzz_slices(&scan) != fuzz_slices(whole)))
		abort();
	fxt_filter_free(&filter);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
	close(fd);
}

static void fuzz_write(const struct fxt_scan *scan, const struct fxt_filter *f)
{
	const struct fxt_cut note = {.what = FXT_CUT_TIME,
	        .ticks_per_second = scan->rate.ticks_per_second,
	        .from = f->from,
	        .to = f->to,
	        .start = scan->start,
	        .end = f->to < scan->end ? f->to : scan->end};
	struct fxt_archive archive;
	struct fxt_keep keep;
	char error[1024], *data;
	size_t bytes;
	FILE *out = open_memstream(&data, &bytes);

	if (!out || fxt_archive_open_fd(&archive, scan->source->fd, "trace", error, sizeof(error)) != 0)
		abort();
	if (!fxt_keep_slices(&keep, scan, &archive))
		abort();
	fxt_keep_others(&keep, &archive);
	fxt_cut_write(out, &archive, &keep, &note, "");
	fclose(out);
	fxt_keep_free(&keep);
	fxt_archive_close(&archive);
	fuzz_read_cut(data, bytes, scan);
	free(data);
}

static void fuzz_choose(struct fxt_query_filter *choice, const uint8_t *how, const struct fxt_scan *scan)
{
	static const enum fxt_choose chosen[] = {
	        FXT_CHOOSE_PROCESS, FXT_CHOOSE_THREAD, FXT_CHOOSE_FUNCTION, FXT_CHOOSE_UNDER};
	uint64_t all = scan->end > scan->start ? fxt_scan_ns(scan, scan->end - scan->start) : 0;
	char pattern[5] = {0};

	memcpy(pattern, how + 4, 4);
	if (how[0] & FUZZ_TIME) {
		choice->time = FXT_TIME_BETWEEN;
		choice->from_ns = all / 255 * how[1];
		choice->to_ns = choice->from_ns + all / 255 * how[2] + 1;
	}
	if (how[0] & FUZZ_MIN)
		choice->min_ns = all / 255 * how[3];
	for (unsigned i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		if (how[0] & FUZZ_PROCESS << i)
			fxt_query_filter_set(choice, chosen[i], pattern);
}

static void fuzz_cut(const struct fxt_source *source, const uint8_t *how)
{
	struct fxt_query_filter choice = {0};
	struct fxt_filter filter;
	struct fxt_scan scan;
	char error[1024];

	fxt_scan(&scan, source, NULL);
	fuzz_choose(&choice, how, &scan);
	if (fxt_query_filter_apply(&choice, &scan, &filter, error, sizeof(error)) == 0 && scan.filter)
		fuzz_write(&scan, &filter);
	fxt_filter_free(&filter);
	fxt_query_filter_free(&choice);
	fxt_scan_free(&scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fxt_source source;
	char error[1024];

	if (bytes < 8)
		return 0;
	int fd = fuzz_file(data + 8, bytes - 8);

	if (fxt_source_open_fd(&source, fd, "trace", error, sizeof(error)) == 0) {
		fuzz_cut(&source, data);
		fxt_source_close(&source);
	}
	close(fd);
	return 0;
}

/*
 * fxt merge: writes several traces as one, on one timeline; fxt/merge/ has the parts of
 * that. Runs on the main thread. It must never put traces together by clocks that are not
 * related, nor count a trace twice.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "commands.h"
#include "merge/write.h"
#include "named.h"
#include "profiled.h"
#include "reader/trace/text.h"

static const char help[] = "usage: fxt merge [OPTION]... FILE FILE...\n"
                           "\n"
                           "Writes one trace with the contents of several: their processes, threads, calls,\n"
                           "heaps and losses on one timeline. Traces of one boot of a machine are aligned\n"
                           "by its clocks, those of the ranks of a run of MPI by round trips between them,\n"
                           "and those of several machines by TCP connections between these, which\n"
                           "fxtrun --connections records; the command says how exactly. A process or\n"
                           "thread of two traces appears twice, with different numbers.\n"
                           "\n"
                           "  -o, --output=OUT  the output; - is the standard output; compressed if it ends\n"
                           "                    in .gz or .zst [merged.fxt]\n"
                           "      --realtime    also merge traces of several machines or boots, by their\n"
                           "                    time of day\n"
                           "\n"
                           "One FILE may be -, the standard input.\n";

enum { OPTION_REALTIME = 256 };

static const struct option options[] = {{"help", no_argument, NULL, 'h'},
        {"output", required_argument, NULL, 'o'}, {"realtime", no_argument, NULL, OPTION_REALTIME}, {0}};

struct merging {
	struct fxt_merge_input *inputs;
	struct fxt_merge_clock *clocks;
	size_t count; /* opened so far */
	struct fxt_merge_timeline timeline;
	struct fxt_merge_messages messages;
	struct fxt_merge_streams streams;
	char said[1024];
};

static void merging_free(struct merging *m)
{
	for (size_t i = 0; i < m->count; i++) {
		fxt_merge_free(&m->inputs[i]);
		fxt_merge_clock_free(&m->clocks[i]);
	}
	fxt_merge_messages_free(&m->messages);
	fxt_merge_streams_free(&m->streams);
	free(m->inputs);
	free(m->clocks);
}

static int merge_fail(const char *error)
{
	fprintf(stderr, "fxt: %s\n", error);
	return FXT_FAILED;
}

/* ---- reading ---- */

/* Compares by cursors, which keep no more than a piece of each archive in memory. */
static bool merge_is_same(const struct fxt_archive *one, const struct fxt_archive *other)
{
	struct fxt_cursor a = fxt_cursor(one), b = fxt_cursor(other);
	struct fxt_record r, s;

	if (one->bytes != other->bytes)
		return false;
	while (fxt_next(&a, &r))
		if (!fxt_next(&b, &s) || r.size != s.size || memcmp(r.words, s.words, r.size * 8) != 0)
			return false;
	size_t rest = one->bytes - (size_t)(a.next - a.first) * 8;

	return !fxt_next(&b, &s) && memcmp(a.next, b.next, rest) == 0;
}

/* Returns the name of an earlier input with the same records. */
static const char *merge_same(const struct merging *m, const struct fxt_archive *archive)
{
	for (size_t i = 0; i < m->count; i++)
		if (merge_is_same(&m->inputs[i].archive, archive))
			return m->inputs[i].name;
	return NULL;
}

static int merge_open(struct merging *m, const char *name)
{
	struct fxt_merge_input *input = &m->inputs[m->count];
	struct fxt_merge_clock *clock = &m->clocks[m->count];
	char error[4096 + 256];

	if (fxt_named_archive_open(&input->archive, name, error, sizeof(error)) != 0)
		return merge_fail(error);
	const char *same = merge_same(m, &input->archive);

	m->count++;
	input->name = clock->name = name;
	if (same) {
		snprintf(error, sizeof(error), "%s: is the same trace as %s, and would count twice", name,
		        same);
		return merge_fail(error);
	}
	return fxt_merge_read(input, clock, &m->messages, &m->streams, (uint32_t)(m->count - 1), error,
	               sizeof(error)) == 0
	               ? FXT_DONE
	               : merge_fail(error);
}

static int merge_read(struct merging *m, char **names, size_t count, bool may_be_realtime)
{
	char error[2 * 4096 + 256];

	m->inputs = fxt_allocate(count * sizeof(*m->inputs));
	m->clocks = fxt_allocate(count * sizeof(*m->clocks));
	while (m->count < count)
		if (merge_open(m, names[m->count]) != FXT_DONE)
			return FXT_FAILED;
	fxt_merge_find_machines(m->clocks, count);
	fxt_merge_streams_match(&m->streams, m->clocks, count, &m->messages);
	if (fxt_merge_timeline_choose(&m->timeline, m->clocks, count, &m->streams.links, may_be_realtime,
	            error, sizeof(error)) != 0)
		return merge_fail(error);
	fxt_merge_messages_judge(&m->messages, m->clocks, count, &m->timeline);
	fxt_merge_settle(m->inputs, m->clocks, count);
	fxt_merge_tell_gaps(m->inputs, count);
	fxt_merge_timeline_describe(&m->timeline, m->said, sizeof(m->said));
	fxt_merge_messages_describe(&m->messages, m->said, sizeof(m->said));
	return FXT_DONE;
}

/* ---- writing ---- */

static bool merge_has_profiles(const struct merging *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->inputs[i].has_profiles)
			return true;
	return false;
}

static void merge_write_trace(void *merging, FILE *out)
{
	const struct merging *m = merging;

	fxt_merge_write(out, m->inputs, m->clocks, m->count, &m->timeline, m->said);
}

/* Checks that the output would not overwrite one of the inputs. */
static int merge_check_output(const struct merging *m, const char *output)
{
	struct stat to;

	if (strcmp(output, "-") == 0 || stat(output, &to) != 0)
		return 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct fxt_source_file *of = &m->inputs[i].archive.file;

		if (of->device != to.st_dev || of->inode != to.st_ino)
			continue;
		fprintf(stderr, "fxt: %s: is one of the traces; choose another file\n", output);
		return -1;
	}
	return 0;
}

/* The output may be read only by users who may read all inputs. */
static struct fxt_source_file merge_file(const struct merging *m)
{
	struct fxt_source_file all = {.mode = 0666, .group = m->inputs[0].archive.file.group};

	for (size_t i = 0; i < m->count; i++) {
		const struct fxt_source_file *file = &m->inputs[i].archive.file;

		all.mode &=
		        file->group == all.group ? file->mode : (file->mode & 0606) | (file->mode & 06) << 3;
	}
	return all;
}

/* How exact the times of each trace are, and which were moved. */
static void merge_print_errors(const struct merging *m)
{
	bool are_known = m->timeline.by == FXT_MERGE_BY_TRIPS || m->timeline.by == FXT_MERGE_BY_CONNECTIONS;

	for (size_t i = 0; i < m->count && are_known; i++) {
		const struct fxt_merge_clock *clock = &m->clocks[i];

		printf("%s: to %s", clock->name, fxt_time_text((double)clock->error_ns).text);
		if (clock->moved_ns > 0)
			printf(", moved by %s", fxt_time_text((double)clock->moved_ns).text);
		putchar('\n');
	}
}

static int merge_write(struct merging *m, const char *output)
{
	const struct fxt_profiled profiled = {.has_profiles = merge_has_profiles(m),
	        .ticks_per_second = m->timeline.rate,
	        .write = merge_write_trace,
	        .context = m};
	const struct fxt_source_file file = merge_file(m);

	if (merge_check_output(m, output) != 0 || fxt_profiled_write(output, &file, &profiled) != 0)
		return FXT_FAILED;
	if (strcmp(output, "-") != 0) {
		printf("%s: %zu traces on one timeline, %s\n", output, m->count, m->said);
		merge_print_errors(m);
	}
	return FXT_DONE;
}

int fxt_command_merge(int argc, char **argv)
{
	const char *output = "merged.fxt";
	bool may_be_realtime = false;
	struct merging m = {0};
	int option;

	fxt_merge_messages_init(&m.messages);
	fxt_merge_streams_init(&m.streams);

	fxt_options_begin();
	while ((option = fxt_option(argc, argv, options, help)) != -1)
		if (option == 'o')
			output = optarg;
		else
			may_be_realtime = true;
	if (argc - optind < 2)
		return fxt_bad_usage(argv[0], "at least two traces are needed");
	int status = merge_read(&m, argv + optind, (size_t)(argc - optind), may_be_realtime);

	if (status == FXT_DONE)
		status = merge_write(&m, output);
	for (size_t i = 0; i < m.count && status != FXT_FAILED; i++)
		if (fxt_report_unread(m.inputs[i].name, m.inputs[i].malformed, m.inputs[i].unknown,
		            &m.inputs[i].fault) != FXT_DONE)
			status = FXT_BROKEN;
	merging_free(&m);
	return status;
}

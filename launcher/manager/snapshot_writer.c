/*
 * Runs in a forked process, which writes one snapshot and ends. Locks of other threads may
 * be held forever in a fork, so it must not take any of theirs.
 */
#include "snapshot_writer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "launcher/categories.h"
#include "launcher/message.h"
#include "description.h"
#include "output.h"
#include "provider_thread.h"
#include "results.h"
#include "writer/collect/snapshot.h"
#include "writer/shared/handshake.h"

/* ---- names ---- */

/* Makes the path of an unnamed snapshot: the session's output with -number before the
 * extension, or trace-number.fxt for an output that is no file ("-", or below /dev). False:
 * the path is too long. */
static bool snapshot_numbered_path(char path[PATH_MAX], const char *output, unsigned number)
{
	const char *extension;

	if (fxt_trace_output_is_standard(output) || !strncmp(output, "/dev/", 5))
		output = "trace.fxt";
	extension = fxt_trace_output_extension(output);
	return snprintf(path, PATH_MAX, "%.*s-%u%s", (int)(extension - output), output, number, extension) <
	       PATH_MAX;
}

/* Takes the first name without a file: snapshots of earlier runs are kept. */
static bool snapshot_reserve_path(struct fxt_snapshot_result *result, const char *output)
{
	for (unsigned number = 1;; number++) {
		int fd;

		if (!snapshot_numbered_path(result->path, output, number)) {
			snprintf(result->error, sizeof(result->error), "%s: %s", output,
			        strerror(ENAMETOOLONG));
			return false;
		}
		fd = open(result->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FXT_TRACE_MODE);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		if (errno != EEXIST) {
			snprintf(result->error, sizeof(result->error), "%s: %s", result->path,
			        strerror(errno));
			return false;
		}
	}
}

/* ---- the records ---- */

struct snapshot_copy {
	struct fxt_archive_writer archive;
	struct fxt_archive_provider identity;
	struct fxt_totals *totals;
};

static int snapshot_emit(void *context, const void *records, uint64_t bytes)
{
	struct snapshot_copy *copy = context;

	fxt_archive_write(&copy->archive, &copy->identity, records, bytes);
	return 0;
}

/* Adds the records of a running provider. */
static void snapshot_add_provider(struct snapshot_copy *copy, struct fxt_provider *p)
{
	/* in a circular session nothing was taken from the buffer yet, so the collector is
	 * in its initial state */
	struct fxt_collector collector = p->collector;
	struct fxt_snapshot snapshot;
	const char *reason;
	int error = fxt_snapshot_take(&snapshot, p->memory.buffer, p->memory.buffer_bytes, p->memory.control,
	        &p->memory.map, p->memory.map.elides_calls);

	copy->identity = p->identity;
	fxt_provider_describe(p, &copy->archive);
	if (error) {
		reason = error == EPROTO ? "its memory breaks a rule" : strerror(error);
	} else {
		collector.buffer = snapshot.buffer;
		collector.control = snapshot.map.control;
		collector.map = &snapshot.map;
		collector.copy.emit = snapshot_emit;
		/* The rewriting adds the names, and then knows which calls are excluded. */
		collector.copy.emit_record = NULL;
		collector.copy.excluded = NULL;
		collector.copy.context = copy;
		error = p->end == FXT_END_KNOWN
		                ? fxt_collect_rest(&collector, p->ending, p->end_ticks)
		                : fxt_collect_rest(&collector, FXT_STILL_RUNNING, snapshot.ticks);
		reason = collector.reason ? collector.reason : error ? strerror(error) : NULL;
		fxt_totals_add(copy->totals, &collector);
		/* for the sums; this process has its own copy */
		p->collector.threads = collector.threads;
		if (collector.losses.lost)
			fxt_archive_write_loss(&copy->archive, &copy->identity);
		if (collector.threads && p->end != FXT_END_KNOWN)
			fxt_results_write_moment(
			        p, &copy->archive, &copy->identity, "snapshot", snapshot.ticks);
		if (collector.threads)
			fxt_results_write_changes(p, &copy->archive, &copy->identity, &p->records.counter);
		if (collector.threads)
			fxt_results_write_call_cost(p, &copy->archive, &copy->identity, snapshot.ticks);
		fxt_snapshot_free(&snapshot);
	}
	if (reason) {
		fxt_say("%.*s[%d] is incomplete in the snapshot: %s", p->identity.name_bytes,
		        p->identity.name, p->pid, reason);
		copy->totals->incomplete = true;
	}
}

/* Copies the archive as it was at the fork. False and errno: it could not be copied. */
static bool snapshot_copy_archive(const struct fxt_archive_writer *archive, int to)
{
	off_t at = 0;

	while ((uint64_t)at < archive->bytes) {
		ssize_t copied = sendfile(to, archive->fd, &at, archive->bytes - (uint64_t)at);

		if (copied == 0)
			errno = EIO; /* the archive was truncated by another process */
		if (copied <= 0)
			return false;
	}
	return true;
}

/* Writes the raw snapshot into an unnamed file. Returns its descriptor, or -1 and errno;
 * the process then ends, which closes open files. */
static int snapshot_write_raw(
        const struct fxt_session *s, uint64_t ticks_per_second, struct fxt_snapshot_result *result)
{
	struct snapshot_copy copy = {.archive = *s->archive, .totals = &result->totals};
	int fd = fxt_trace_output_temporary_file();

	if (s->gone)
		result->totals = s->gone->totals;
	result->totals.without_calls = !fxt_categories_have(&s->config.options->categories, "function");
	result->totals.wants_heap = fxt_options_want_heap(s->config.options);
	if (fd < 0)
		return -1;
	if (!snapshot_copy_archive(s->archive, fd))
		return -1;
	pthread_mutex_init(&copy.archive.lock, NULL); /* the session's lock was held at the fork */
	copy.archive.fd = fd;
	copy.archive.name = result->path;
	copy.archive.error = 0; /* records missing from the session are missing here too */
	fxt_ended_join(&s->ended, &copy.archive);
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		enum fxt_provider_state state = fxt_provider_state(p);

		if (!p->runs)
			continue;
		/* the archive has all its records */
		if (state == FXT_STATE_DONE || state == FXT_STATE_SAVED)
			fxt_totals_add(copy.totals, &p->collector);
		else if (state != FXT_STATE_ABORTED)
			snapshot_add_provider(&copy, p);
	}
	fxt_sched_write(&s->sched, &copy.archive);
	if (ticks_per_second)
		fxt_describe_open_calls(&copy.archive, ticks_per_second);
	fxt_archive_write_anchor(&copy.archive, s->config.clock);
	fxt_session_join_images(s, copy.totals);
	fxt_totals_drop(copy.totals, &s->ended.dropped);
	copy.totals->refused = s->refused;
	if (s->ledger && s->config.options->follow & FXT_FOLLOW_FORK)
		copy.totals->refused += load_relaxed(&s->ledger->common->untraced);
	/* if this fails, the snapshot is marked as unfinished */
	fxt_archive_finish(&copy.archive, FXT_ARCHIVE_FINISHED);
	copy.totals->bytes_unwritten = copy.archive.bytes_lost;
	return fd;
}

static void snapshot_write(const struct fxt_session *s, struct fxt_snapshot_result *result)
{
	const struct fxt_rewrite_options options =
	        fxt_trace_output_rewriting(s->config.options, s->config.filter_changed_ticks,
	                fxt_session_final_rate(s), true, fxt_trace_output_is_compressed(result->path));
	struct fxt_rewrite_result rewrite = {0};
	struct stat status;
	char raw[64];
	int fd = snapshot_write_raw(s, options.ticks_per_second, result);

	if (fd < 0) {
		snprintf(result->error, sizeof(result->error), "no temporary file in TMPDIR or /tmp: %s",
		        strerror(errno));
		return;
	}
	snprintf(raw, sizeof(raw), "/proc/self/fd/%d", fd);
	if (fxt_rewrite_copy(raw, result->path, &options, &rewrite, result->error, sizeof(result->error)) !=
	        0)
		return;
	result->totals.events -= rewrite.calls_left_out;
	if (rewrite.fault.reason)
		fxt_say("%s: %s; the rest was dropped", result->path, rewrite.fault.reason);
	if (stat(result->path, &status) == 0)
		result->bytes = (uint64_t)status.st_size;
}

static int snapshot_compare_files(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

/* Closes all descriptors of the session except the archive, its segments and the report.
 * Otherwise the other end of a pipe or socket of the session would wait for this process
 * too. */
static void snapshot_close_others(const struct fxt_session *s, int report)
{
	int kept[FXT_ENDED_SEGMENTS + 2] = {s->archive->fd, report};
	unsigned count = 2, from = 3;

	for (unsigned i = 0; i < FXT_ENDED_SEGMENTS; i++)
		if (s->ended.segments[i].is_open)
			kept[count++] = s->ended.segments[i].archive.fd;
	qsort(kept, count, sizeof(*kept), snapshot_compare_files);
	for (unsigned i = 0; i < count; from = (unsigned)kept[i++] + 1)
		if (from < (unsigned)kept[i])
			syscall(SYS_close_range, from, kept[i] - 1, 0);
	syscall(SYS_close_range, from, ~0u, 0);
}

void fxt_snapshot_write(const struct fxt_session *s, const char *path, const char *output, int report)
{
	static struct fxt_snapshot_result result;

	snapshot_close_others(s, report);
	strcpy(result.path, path);
	if (*path || snapshot_reserve_path(&result, output)) {
		snapshot_write(s, &result);
		if (result.error[0] && !*path)
			unlink(result.path);
	}
	_exit(write(report, &result, sizeof(result)) != (ssize_t)sizeof(result));
}

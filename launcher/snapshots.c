#include "snapshots.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "message.h"
#include "output.h"
#include "summary.h"
#include "writer/atomics.h"
#include "writer/snapshot.h"

/* ---- names ---- */

bool fxt_snapshots_path(char path[PATH_MAX], const char *output, unsigned number)
{
	const char *base, *extension;

	if (!strcmp(output, "-") || !strncmp(output, "/dev/", 5))
		output = "trace.fxt";
	base = strrchr(output, '/') ? strrchr(output, '/') + 1 : output;
	extension = strrchr(base, '.');
	if (!extension || extension == base)
		extension = base + strlen(base);
	return snprintf(path, PATH_MAX, "%.*s-%u%s", (int)(extension - output), output, number, extension) <
	       PATH_MAX;
}

/* Takes the first name that no file has: snapshots of earlier runs are kept. */
static bool reserve_path(struct fxt_snapshot_result *result, const char *output)
{
	for (unsigned number = 1;; number++) {
		int fd;

		if (!fxt_snapshots_path(result->path, output, number)) {
			snprintf(result->error, sizeof(result->error), "%s: %s", output,
			        strerror(ENAMETOOLONG));
			return false;
		}
		fd = open(result->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

/* ---- the process that writes one ---- */

struct copy {
	struct fxt_archive_writer archive;
	struct fxt_archive_provider identity;
	struct fxt_totals *totals;
};

static int emit(void *context, const void *records, uint64_t bytes)
{
	struct copy *copy = context;

	fxt_archive_write(&copy->archive, &copy->identity, records, bytes);
	return 0;
}

static void count(struct fxt_totals *totals, const struct fxt_collector *collector)
{
	totals->events += collector->events;
	totals->threads += collector->threads;
	totals->lost += collector->lost;
	totals->processes++;
}

/* Adds what a running provider holds. */
static void add_provider(struct copy *copy, const struct fxt_provider *p)
{
	struct fxt_collector collector = p->collector; /* as it began: nothing was taken yet */
	struct fxt_snapshot snapshot;
	const char *reason;
	int error = fxt_snapshot_take(&snapshot, p->memory.buffer, p->memory.buffer_bytes, p->memory.control);

	copy->identity = p->identity;
	if (error) {
		reason = error == EPROTO ? "its memory breaks a rule" : strerror(error);
	} else {
		collector.buffer = snapshot.buffer;
		collector.control = snapshot.control;
		collector.emit = emit;
		collector.context = copy;
		error = p->end_is_due ? fxt_collect_rest(&collector, p->ending, p->end_ticks)
		                      : fxt_collect_rest(&collector, FXT_STILL_RUNNING, snapshot.ticks);
		reason = collector.reason ? collector.reason : error ? strerror(error) : NULL;
		count(copy->totals, &collector);
		if (collector.lost)
			fxt_archive_write_loss(&copy->archive, &copy->identity);
		if (collector.threads)
			fxt_provider_write_call_cost(p, &copy->archive, &copy->identity, snapshot.ticks);
		fxt_snapshot_free(&snapshot);
	}
	if (reason) {
		fxt_say("%.*s[%d] is not whole in the snapshot: %s", p->identity.name_bytes, p->identity.name,
		        p->pid, reason);
		copy->totals->incomplete = true;
	}
}

/* What the archive held at the fork. False and errno: it could not be copied. */
static bool copy_archive(const struct fxt_archive_writer *archive, int to)
{
	off_t at = 0;

	while ((uint64_t)at < archive->bytes) {
		ssize_t copied = sendfile(to, archive->fd, &at, archive->bytes - (uint64_t)at);

		if (copied == 0)
			errno = EIO; /* somebody has cut it */
		if (copied <= 0)
			return false;
	}
	return true;
}

/* Writes the raw snapshot into a file without a name. Returns its descriptor, or -1 and errno; the process
 * ends, and closes what was opened. */
static int write_raw(const struct fxt_session *s, struct fxt_snapshot_result *result)
{
	struct copy copy = {.archive = s->archive, .totals = &result->totals};
	int fd = fxt_output_temporary_file();

	if (fd < 0)
		return -1;
	if (!copy_archive(&s->archive, fd))
		return -1;
	pthread_mutex_init(&copy.archive.lock, NULL); /* the session's was held at the fork */
	copy.archive.fd = fd;
	copy.archive.name = result->path;
	copy.archive.error = 0;
	copy.archive.bytes_lost = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (p->done || p->results_taken) /* the archive has all of it */
			count(copy.totals, &p->collector);
		else if (p->started && !p->aborted)
			add_provider(&copy, p);
	}
	fxt_sched_write(&s->sched, &copy.archive);
	copy.totals->refused = s->refused;
	copy.totals->bytes_unwritten = copy.archive.bytes_lost;
	return fd;
}

static void write_snapshot(const struct fxt_session *s, struct fxt_snapshot_result *result)
{
	const struct fxt_rewrite_options options = {
	        .ticks_per_second = fxt_session_final_rate(s),
	        .symbols = true,
	        .heap_profiles = !s->terms.options->no_perfetto_heap,
	};
	struct fxt_rewrite_result rewrite = {0};
	struct stat status;
	char raw[64];
	int fd = write_raw(s, result);

	if (fd < 0) {
		snprintf(result->error, sizeof(result->error), "no temporary file in TMPDIR or /tmp: %s",
		        strerror(errno));
		return;
	}
	snprintf(raw, sizeof(raw), "/proc/self/fd/%d", fd);
	if (fxt_rewrite_copy(raw, result->path, &options, &rewrite, result->error, sizeof(result->error)) !=
	        0)
		return;
	if (rewrite.fault.reason)
		fxt_say("%s: %s; what is behind it was left out", result->path, rewrite.fault.reason);
	if (stat(result->path, &status) == 0)
		result->bytes = (uint64_t)status.st_size;
}

/* Closes what the session has open, lest somebody waits for its end in vain. */
static void keep_two(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	syscall(SYS_close_range, 3, low - 1, 0);
	syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
}

static void run_writer(const struct fxt_snapshots *s, int report)
{
	static struct fxt_snapshot_result result;
	const struct fxt_snapshot_request *request = s->requests;
	bool named = request->path[0];

	keep_two(s->session->archive.fd, report);
	umask(0777 & ~FXT_TRACE_MODE); /* for the file it will make */
	strcpy(result.path, request->path);
	if (named || reserve_path(&result, s->output)) {
		write_snapshot(s->session, &result);
		if (result.error[0] && !named)
			unlink(result.path);
	}
	_exit(write(report, &result, sizeof(result)) != (ssize_t)sizeof(result));
}

/* ---- the main thread's side ---- */

static void end_request(struct fxt_snapshots *s, const struct fxt_snapshot_result *result)
{
	const struct fxt_snapshot_request *request = s->requests;
	char line[2 * PATH_MAX + 256];

	if (result->error[0]) {
		fxt_say("no snapshot: %s", result->error);
	} else {
		fxt_summary(line, sizeof(line), &result->totals, s->session->terms.options->program[0],
		        result->path, result->bytes);
		fxt_say("snapshot: %s", line);
	}
	if (request->done)
		request->done(request->context, result);
	s->count--;
	memmove(s->requests, s->requests + 1, s->count * sizeof(*s->requests));
}

static void fail_request(struct fxt_snapshots *s, const char *reason)
{
	static struct fxt_snapshot_result result;

	snprintf(result.error, sizeof(result.error), "%s", reason);
	end_request(s, &result);
}

/* The writer reports all at once, and ends. */
static void take_result(struct fxt_snapshots *s)
{
	static struct fxt_snapshot_result result;
	size_t got = 0;
	ssize_t bytes;

	while (got < sizeof(result)) {
		bytes = read(s->result.fd, (char *)&result + got, sizeof(result) - got);
		if (bytes > 0)
			got += (size_t)bytes;
		else if (bytes == 0 || errno != EINTR)
			break;
	}
	fxt_watch_remove(s->session->epoll, &s->result);
	close(s->result.fd);
	s->result.fd = -1;
	while (waitpid(s->writer, NULL, 0) < 0 && errno == EINTR)
		;
	if (got == sizeof(result))
		end_request(s, &result);
	else
		fail_request(s, "the process that wrote it was killed");
}

static void result_came(struct fxt_watch *watch, void *context)
{
	(void)watch;
	take_result(context);
	fxt_snapshots_beat(context);
}

/* A provider whose results or rest are being taken is half in the archive: that has to end first, and soon
 * does, since meanwhile no other one that has ended is begun with. */
static bool is_settled(const struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if ((p->ended && !load_acquire(&p->done)) || load_acquire(&p->taking))
			return false;
	}
	return true;
}

/* Keeps all others from writing to the archive, whose records are whole then, if that can be had at once: a
 * slow disk is not waited for. */
static bool hold_archive(struct fxt_session *s)
{
	if (pthread_mutex_trylock(&s->archive.lock) != 0)
		return false;
	if (is_settled(s) && fxt_sched_hold(&s->sched))
		return true;
	pthread_mutex_unlock(&s->archive.lock);
	return false;
}

static void begin(struct fxt_snapshots *s)
{
	int report[2], error;

	if (pipe2(report, O_CLOEXEC) != 0) {
		fail_request(s, strerror(errno));
		return;
	}
	s->result = (struct fxt_watch){report[0], result_came, s};
	s->writer = fxt_watch_add(s->session->epoll, &s->result) == 0 ? fork() : -1;
	if (s->writer == 0)
		run_writer(s, report[1]);
	error = errno;
	close(report[1]);
	if (s->writer > 0)
		return;
	fxt_watch_remove(s->session->epoll, &s->result);
	close(report[0]);
	s->result.fd = -1;
	fail_request(s, strerror(error));
}

void fxt_snapshots_open(struct fxt_snapshots *s, struct fxt_session *session, const char *output)
{
	*s = (struct fxt_snapshots){.session = session, .output = output, .result = {.fd = -1}};
}

const char *fxt_snapshots_request(
        struct fxt_snapshots *s, const char *path, fxt_snapshot_done *done, void *context)
{
	struct fxt_snapshot_request *request = s->requests + s->count;

	if (s->session->terms.options->buffering_mode != FXT_CIRCULAR)
		return "only a session with --buffering-mode=circular can give one";
	if (s->count == FXT_SNAPSHOTS_WAITING)
		return "too many are waiting to be written";
	if (strlen(path) >= sizeof(request->path))
		return strerror(ENAMETOOLONG);
	strcpy(request->path, path);
	request->done = done;
	request->context = context;
	s->count++;
	fxt_snapshots_beat(s);
	return NULL;
}

void fxt_snapshots_forget(struct fxt_snapshots *s, const void *context)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->requests[i].context == context)
			s->requests[i].done = NULL;
}

void fxt_snapshots_beat(struct fxt_snapshots *s)
{
	while (s->count && s->result.fd < 0 && hold_archive(s->session)) {
		begin(s);
		fxt_sched_release(&s->session->sched);
		pthread_mutex_unlock(&s->session->archive.lock);
	}
	fxt_session_put_off_ends(s->session, s->count && s->result.fd < 0);
}

void fxt_snapshots_close(struct fxt_snapshots *s)
{
	if (s->result.fd >= 0)
		take_result(s);
	while (s->count)
		fail_request(s, "the program has ended");
}

/*
 * Queues snapshot requests, forks a writer for each, and reports its result. Runs on the
 * main thread, which must wait neither for the archive's lock nor for a disk, except when
 * the session closes.
 */
#include "snapshots.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launcher/message.h"
#include "providers.h"
#include "summary.h"
#include "writer/shared/atomics.h"

static void snapshots_end_request(struct fxt_snapshots *s, const struct fxt_snapshot_result *result)
{
	const struct fxt_snapshot_request *request = s->requests;
	char line[2 * PATH_MAX + 256];

	if (result->error[0]) {
		fxt_say("no snapshot: %s", result->error);
	} else {
		fxt_summary(line, sizeof(line), &result->totals, s->session->config.options->program[0],
		        result->path, result->bytes);
		fxt_say("snapshot: %s", line);
	}
	if (request->done)
		request->done(request->context, result);
	s->count--;
	memmove(s->requests, s->requests + 1, s->count * sizeof(*s->requests));
}

static void snapshots_fail_request(struct fxt_snapshots *s, const char *reason)
{
	static struct fxt_snapshot_result result;

	snprintf(result.error, sizeof(result.error), "%s", reason);
	snapshots_end_request(s, &result);
}

/* Reads the report of the writing process, in one piece at its end. */
static void snapshots_take_result(struct fxt_snapshots *s)
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
		snapshots_end_request(s, &result);
	else
		snapshots_fail_request(s, "the process that wrote it was killed");
}

static void snapshots_result_came(struct fxt_watch *watch, void *context)
{
	(void)watch;
	snapshots_take_result(context);
	fxt_snapshots_beat(context);
}

/* True if a snapshot would miss the provider's records: it has begun to record, and its
 * thread does not know yet. */
static bool snapshots_would_miss(const struct fxt_provider *p, enum fxt_provider_state state)
{
	return state < FXT_STATE_ABORTED && state != FXT_STATE_RECORDING && !fxt_provider_is_heard(p);
}

/* True if no provider is partly in the archive. A provider whose results or rest are being
 * saved must finish first. This is soon, because while a snapshot waits no thread learns of
 * another end. */
static bool snapshots_can_copy(const struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		enum fxt_provider_state state = fxt_provider_state(p);

		if ((p->end == FXT_END_SENT && state != FXT_STATE_DONE) ||
		        state == FXT_STATE_SAVING_RESULTS || snapshots_would_miss(p, state))
			return false;
	}
	return true;
}

/* Takes the lock of the archive, which then ends with a whole record, and freezes the
 * scheduler's records in memory. False: this is not possible at once, and is tried again
 * later; the main thread waits for no disk. */
static bool snapshots_hold_archive(struct fxt_session *s)
{
	if (pthread_mutex_trylock(&s->archive->lock) != 0)
		return false;
	if (snapshots_can_copy(s) && fxt_sched_hold(&s->sched))
		return true;
	pthread_mutex_unlock(&s->archive->lock);
	return false;
}

static void snapshots_begin(struct fxt_snapshots *s)
{
	int report[2], error;

	if (pipe2(report, O_CLOEXEC) != 0) {
		snapshots_fail_request(s, strerror(errno));
		return;
	}
	s->result = (struct fxt_watch){report[0], snapshots_result_came, s};
	s->writer = fxt_watch_add(s->session->epoll, &s->result) == 0 ? fork() : -1;
	if (s->writer == 0)
		fxt_snapshot_write(s->session, s->requests->path, s->output, report[1]);
	error = errno;
	close(report[1]);
	if (s->writer > 0)
		return;
	fxt_watch_remove(s->session->epoll, &s->result);
	close(report[0]);
	s->result.fd = -1;
	snapshots_fail_request(s, strerror(error));
}

void fxt_snapshots_open(struct fxt_snapshots *s, struct fxt_session *session, const char *output)
{
	*s = (struct fxt_snapshots){.session = session, .output = output, .result = {.fd = -1}};
}

const char *fxt_snapshots_request(
        struct fxt_snapshots *s, const char *path, fxt_snapshot_done *done, void *context)
{
	struct fxt_snapshot_request *request = s->requests + s->count;

	if (s->session->config.options->buffering_mode != FXT_CIRCULAR)
		return "only a session with --buffering-mode=circular can write one";
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

bool fxt_snapshots_is_one_waiting(const struct fxt_snapshots *s)
{
	for (unsigned i = s->result.fd >= 0; i < s->count; i++)
		if (!s->requests[i].path[0])
			return true;
	return false;
}

void fxt_snapshots_forget(struct fxt_snapshots *s, const void *context)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->requests[i].context == context)
			s->requests[i].done = NULL;
}

void fxt_snapshots_beat(struct fxt_snapshots *s)
{
	while (s->count && s->result.fd < 0 && snapshots_hold_archive(s->session)) {
		snapshots_begin(s);
		fxt_sched_release(&s->session->sched);
		pthread_mutex_unlock(&s->session->archive->lock);
	}
	fxt_session_note_snapshot(s->session, s->result.fd >= 0 ? FXT_SNAPSHOT_COPIES
	                                      : s->count        ? FXT_SNAPSHOT_WAITS
	                                                        : FXT_SNAPSHOT_NONE);
}

void fxt_snapshots_close(struct fxt_snapshots *s)
{
	if (s->result.fd >= 0)
		snapshots_take_result(s);
	while (s->count)
		snapshots_fail_request(s, "the program has ended");
}

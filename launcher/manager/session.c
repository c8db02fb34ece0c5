/*
 * The session: its clock, config and sums, its beginning and its end. Runs on the main
 * thread, which must keep the heartbeat: nothing between open and finish may wait for a
 * process.
 */
#include "session.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "death.h"
#include "description.h"
#include "idle.h"
#include "muting.h"
#include "providers.h"
#include "launcher/categories.h"
#include "launcher/debug.h"
#include "launcher/message.h"
#include "writer/shared/atomics.h"

#define MEASURE_NS UINT64_C(4000000) /* gives the rate to 2.8 ppm */

static void session_join_provider(struct fxt_session *s, struct fxt_provider *p)
{
	struct fxt_memory kept = {0};

	s->refused += fxt_provider_is_untraced(p);
	fxt_provider_join(p, p->is_kept ? &kept : NULL);
	if (p->ledger)
		fxt_ledger_send(s->ledger, FXT_LEDGER_DONE, 0, NULL, 0);
	s->alive--;
	if (p->is_kept)
		fxt_session_register_again(s, p, &kept);
	fxt_debug_check(fxt_session_is_valid(s));
}

/* Gives back the providers that are done. */
static void session_join_those_done(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->end != FXT_END_JOINED && fxt_provider_state(p) == FXT_STATE_DONE &&
		        !(p->is_kept && s->recording.snapshot == FXT_SNAPSHOT_COPIES))
			session_join_provider(s, p);
	}
}

/* Checks whether events have advanced the recording or a filter change. */
static void session_look(struct fxt_session *s)
{
	fxt_recording_look(s);
	fxt_filter_look(s);
	if (fxt_recording_is_to_end(s)) {
		fxt_session_end_all(s);
		session_join_those_done(s);
	}
}

static void session_woken(struct fxt_watch *watch, void *context)
{
	struct fxt_session *s = context;
	char name[FXT_ALERT_NAME_BYTES];
	struct fxt_alerts alerts;

	(void)watch;
	fxt_wakeup_receive(&s->wakeup, &alerts);
	if (alerts.lost)
		fxt_say("%u alert%s lost: alerts came faster than they could be taken", alerts.lost,
		        alerts.lost == 1 ? " is" : "s are");
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (alerts.triggered[i]) {
			s->listener.triggered(s->listener.context, i, alerts.triggered[i]);
			alerts.triggered[i] = 0;
		}
	while (fxt_alerts_take(&alerts, name))
		s->listener.alerted(s->listener.context, name);
	session_look(s);
}

int fxt_session_open(struct fxt_session *s, const struct fxt_options *options, enum fxt_clock_kind clock,
        struct fxt_clock_pair first)
{
	int error;

	*s = (struct fxt_session){.config = {.options = options, .clock = clock},
	        .first = first,
	        .recording = {.state = FXT_SESSION_READY}};
	s->archive = s->archives;
	fxt_session_take_config(s);
	fxt_call_counts_open(&s->counts);
	fxt_plans_open(&s->plans);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return errno;
	error = fxt_wakeup_open(&s->wakeup, s->epoll, session_woken, s);
	if (error)
		close(s->epoll);
	else
		fxt_resolver_open(&s->resolver);
	return error;
}

int fxt_session_prepare(struct fxt_session *s)
{
	const struct fxt_options *options = s->config.options;
	int error = fxt_memory_create(&s->prepared, options->buffer_bytes, options->buffering_mode,
	        fxt_options_elide_calls(options));

	if (!error)
		fxt_memory_populate(&s->prepared); /* the memories of descendants are left to
		                                    * their threads */
	return error;
}

static uint64_t session_measure_rate(const struct fxt_session *s)
{
	return fxt_clock_rate(s->config.clock, s->first, fxt_clock_read_pair(s->config.clock));
}

void fxt_session_measure_first_rate(struct fxt_session *s)
{
	uint64_t end = s->first.ns + MEASURE_NS;
	struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	s->config.ticks_per_second = session_measure_rate(s);
}

bool fxt_session_has_left(const struct fxt_session *s, const struct fxt_archive_writer *archive)
{
	/* Acquire: pairs with the release of the threads; all their records are written. */
	if (s->sched.is_begun && load_acquire(&s->sched.archive) == archive)
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->end != FXT_END_JOINED &&
		        load_acquire(&s->providers[i]->archive) == archive)
			return false;
	return true;
}

uint64_t fxt_session_final_rate(const struct fxt_session *s)
{
	return s->config.ticks_per_second ? session_measure_rate(s) : 0;
}

static bool session_providers_are_valid(const struct fxt_session *s)
{
	uint32_t alive = 0, id = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (!p || p->identity.id <= id || p->identity.id > s->last_id || !fxt_provider_is_valid(p))
			return false;
		id = p->identity.id;
		alive += p->end != FXT_END_JOINED;
	}
	return s->alive == alive && s->count <= s->capacity;
}

bool fxt_session_is_valid(const struct fxt_session *s)
{
	const struct fxt_recording *r = &s->recording;
	bool begins = r->state == FXT_SESSION_STARTING || r->state == FXT_SESSION_STARTED;

	if (r->state < FXT_SESSION_READY || r->state >= FXT_SESSION_STATES || s->config.begin != begins)
		return false;
	if ((r->state == FXT_SESSION_STARTING || r->state == FXT_SESSION_STOPPING) && !r->deadline_ns)
		return false;
	if (r->results_written && (begins || r->state < FXT_SESSION_STARTING))
		return false;
	if (r->terminate_ns && r->state != FXT_SESSION_TERMINATING)
		return false;
	if (s->count && !s->config.ticks_per_second)
		return false;
	return session_providers_are_valid(s);
}

/* ---- the end of a provider ---- */

/* Finds which traced process sent the signal to the program; 0: none of them, as far as is
 * known. */
static pid_t session_find_sender(const struct fxt_session *s, const struct fxt_provider *program)
{
	if (program->signal == SIGTERM && s->terminate_sent)
		return s->supervisor;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (p != program && p->end != FXT_END_JOINED &&
		        fxt_death_was_sent_by(p, program->pid, program->signal))
			return p->pid;
	}
	return 0;
}

void fxt_session_program_ended(struct fxt_session *s, int status, uint32_t seccomp)
{
	s->is_over |= !s->config.options->decouple;
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->pid != s->program)
			continue;
		if (WIFSIGNALED(status) && p->end == FXT_END_NONE) {
			p->signal = WTERMSIG(status);
			p->sender = session_find_sender(s, p);
			p->seccomp = seccomp;
		}
		fxt_session_end_provider(s, p,
		        status == FXT_SESSION_STATUS_UNKNOWN ? fxt_provider_own_account(p)
		        : WIFEXITED(status)                  ? FXT_ENDED_NORMALLY
		                                             : FXT_ENDED_BY_SIGNAL);
	}
	s->program = 0;
	if (s->listener.process_ended && (WIFSIGNALED(status) || WIFEXITED(status)))
		s->listener.process_ended(s->listener.context, WIFSIGNALED(status),
		        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void fxt_session_terminate(struct fxt_session *s)
{
	if (s->recording.terminate_ns)
		return;
	s->recording.terminate_ns = fxt_monotonic_ns();
	fxt_recording_terminate(s);
	if (fxt_session_is_idle_session(s)) {
		fxt_recording_stop_for_good(s);
		session_look(s);
		return;
	}
	if (s->program && !s->config.options->detach) {
		s->terminate_sent = true;
		kill(s->program, SIGTERM);
	}
}

/* ---- the session ---- */

void fxt_totals_add(struct fxt_totals *totals, const struct fxt_collector *collector)
{
	totals->events += collector->copy.events;
	totals->has_calls |= collector->copy.has_calls || collector->elided.calls > 0;
	totals->losses.lost += collector->losses.lost;
	totals->losses.overwritten += collector->losses.overwritten;
	totals->elided.calls += collector->elided.calls;
	totals->elided.ns += collector->elided.ns;
	totals->waited_ticks += collector->waited_ticks;
}

void fxt_totals_refuse(struct fxt_totals *totals, const struct fxt_archive_writer *archive)
{
	uint64_t refused = archive->events_refused;

	totals->bytes_unwritten = archive->is_full ? 0 : archive->bytes_lost;
	totals->max_bytes = archive->is_full ? archive->max_bytes : 0;
	totals->events -= refused < totals->events ? refused : totals->events;
	totals->losses.lost += refused;
}

void fxt_totals_drop(struct fxt_totals *totals, const struct fxt_ended_sum *dropped)
{
	totals->events -= dropped->events;
	totals->losses.overwritten += dropped->events;
	totals->processes_dropped = dropped->processes;
}

/* Sorts by process; within a process, images with threads come first. */
static int totals_compare_images(const void *left, const void *right)
{
	const struct fxt_image *a = left, *b = right;

	if (a->process_koid != b->process_koid)
		return a->process_koid < b->process_koid ? -1 : 1;
	return (a->threads < b->threads) - (a->threads > b->threads);
}

void fxt_totals_join_images(struct fxt_totals *totals, struct fxt_image *images, uint32_t count)
{
	uint32_t last = 0; /* index of the process's first image */

	totals->processes += images ? 0 : count;
	if (!images)
		return;
	qsort(images, count, sizeof(*images), totals_compare_images);
	for (uint32_t i = 0; i < count; i++) {
		bool is_further = i > 0 && images[i].process_koid == images[i - 1].process_koid;

		last = is_further ? last : i;
		images[last].had_runs |= images[i].had_runs;
		images[last].had_threads |= images[i].had_threads;
		totals->threads -= is_further && images[i].threads;
		if (i + 1 < count && images[i + 1].process_koid == images[i].process_koid)
			continue;
		totals->processes += !images[last].had_runs;
		totals->threads -= images[last].had_threads && images[last].threads;
	}
}

void fxt_session_join_images(const struct fxt_session *s, struct fxt_totals *totals)
{
	struct fxt_image *images = calloc(s->count + 1, sizeof(*images));
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (p->runs == 0)
			continue;
		totals->threads += p->collector.threads;
		if (images)
			images[count] = (struct fxt_image){
			        p->process_koid, p->collector.threads, p->had_runs, p->had_threads};
		count++;
	}
	fxt_totals_join_images(totals, images, count);
	free(images);
}

void fxt_totals_add_ended(struct fxt_totals *totals, const struct fxt_provider *p)
{
	fxt_totals_add(totals, &p->collector);
	totals->still_running += p->runs > 0 && p->ending == FXT_STILL_RUNNING;
	totals->noise += p->records.noise * (double)p->collector.copy.events;
	totals->library_calls_matched |= p->library_calls_matched;
	totals->thunks_with_arguments += p->thunks_with_arguments;
	totals->incomplete |= p->incomplete;
	totals->left_placeholders |= p->runs > 0 && p->records.left_placeholders;
	if (p->signal) /* known only for the program itself */
		memcpy(totals->killed, p->killed, sizeof(totals->killed));
}

/* ---- providers that have ended ---- */

enum { ENDED_KEPT = 64 }; /* fxtctl shows their statistics */

static bool session_may_forget(const struct fxt_provider *p)
{
	return p->end == FXT_END_JOINED && p->process.fd < 0 && !p->earlier;
}

/* Adds a provider to the sums of forgotten ones. It must be the earliest known image of its
 * process. */
static void session_forget(struct fxt_session_gone *gone, struct fxt_provider *p)
{
	uint32_t threads = p->collector.threads > 0;

	fxt_totals_add_ended(&gone->totals, p);
	gone->totals.threads += p->collector.threads - (threads && p->had_threads);
	gone->totals.processes += p->runs > 0 && !p->had_runs;
	if (p->runs && p->first_ticks && (!gone->first_ticks || p->identity.id < gone->first_id)) {
		gone->first_ticks = p->first_ticks;
		gone->first_id = p->identity.id;
	}
	if (p->later) {
		p->later->earlier = NULL;
		p->later->had_runs = p->had_runs || p->runs > 0;
		p->later->had_threads = p->had_threads || threads;
	}
	gone->koids[p->pid] = (uint16_t)(p->process_koid >> FXT_KOID_REUSE_SHIFT) + 1;
	free(p);
}

/* Forgets all ended providers except the latest, and keeps their sums: a session may have
 * any number of children, one after the other. */
static void session_forget_earliest(struct fxt_session *s)
{
	uint32_t ended = 0, kept = 0;

	for (uint32_t i = 0; i < s->count; i++)
		ended += session_may_forget(s->providers[i]);
	if (ended < 2 * ENDED_KEPT)
		return;
	if (!s->gone)
		s->gone = calloc(1, sizeof(*s->gone));
	if (!s->gone)
		return;
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (ended > ENDED_KEPT && session_may_forget(p)) {
			session_forget(s->gone, p);
			ended--;
		} else {
			s->providers[kept++] = p;
		}
	}
	s->count = kept;
	fxt_debug_check(fxt_session_is_valid(s));
}

void fxt_session_beat(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->end != FXT_END_JOINED)
			fxt_provider_beat(p);
	}
	session_join_those_done(s);
	if (fxt_session_is_idle_session(s) && s->recording.state == FXT_SESSION_READY)
		fxt_session_forget_ended(s);
	else
		session_forget_earliest(s);
	fxt_muting_look(s);
	session_look(s);
	if (fxt_archive_is_full(s->archive) && fxt_recording_may_stop(s) == 0)
		fxt_recording_stop(s, false);
}

/* Returns when the first of the providers began. A session of several recordings counts
 * those of the present recording only. */
static uint64_t session_first_ticks(const struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t ticks = s->providers[i]->first_ticks;

		if (s->gone && s->gone->first_ticks && s->gone->first_id < s->providers[i]->identity.id)
			return s->gone->first_ticks;
		if (ticks && s->providers[i]->runs)
			return ticks > s->start_ticks ? ticks : s->start_ticks;
	}
	return s->gone ? s->gone->first_ticks : 0;
}

/* ---- its end ---- */

void fxt_session_sum_up(struct fxt_session *s, struct fxt_totals *totals)
{
	*totals = s->gone ? s->gone->totals : (struct fxt_totals){0};
	totals->without_calls = !fxt_categories_have(&s->config.options->categories, "function");
	totals->wants_heap = fxt_options_want_heap(s->config.options);
	for (uint32_t i = 0; i < s->count; i++)
		fxt_totals_add_ended(totals, s->providers[i]);
	fxt_session_join_images(s, totals);
	totals->was_not_started =
	        s->last_id > 0 && totals->processes == 0 && s->config.options->start != FXT_START_NOW;
	if (s->ledger && s->config.options->follow & FXT_FOLLOW_FORK)
		s->refused += fxt_ledger_take_untraced(s->ledger);
	totals->refused = s->refused;
	s->start_ticks = session_first_ticks(s);
}

/* Waits for the providers that ended before the session. Then appends their rest to the
 * archive, as far as there is room beside the data that the other providers are about to
 * write. */
static void session_join_ended(struct fxt_session *s)
{
	uint64_t promised = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->end == FXT_END_SENT && p->ended)
			session_join_provider(s, p);
		else if (p->end != FXT_END_JOINED && p->runs)
			promised += fxt_provider_rest_bytes(p);
	}
	fxt_ended_join_at_end(&s->ended, s->archive, promised);
}

void fxt_session_finish(struct fxt_session *s, struct fxt_totals *totals)
{
	s->is_over = true;
	fxt_session_note_snapshot(s, FXT_SNAPSHOT_NONE);
	session_join_ended(s);
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->is_kept && p->end != FXT_END_JOINED)
			fxt_provider_command(p, FXT_COMMAND_QUIT, 0);
		p->is_kept = false;
		fxt_session_end_provider(s, p, FXT_STILL_RUNNING);
	}
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->end != FXT_END_JOINED)
			session_join_provider(s, s->providers[i]);
	fxt_session_sum_up(s, totals);
	fxt_session_finish_archive(s, totals);
}

void fxt_session_finish_archive(struct fxt_session *s, struct fxt_totals *totals)
{
	fxt_ended_join_at_end(&s->ended, s->archive, 0);
	fxt_totals_drop(totals, &s->ended.dropped);
	fxt_resolver_close(&s->resolver);
	fxt_sched_finish(&s->sched);
	fxt_archive_drain(s->archive);
}

void fxt_session_close(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		fxt_session_forget_process(s, s->providers[i]);
		free(s->providers[i]);
	}
	free(s->providers);
	free(s->gone);
	fxt_resolver_close(&s->resolver);
	fxt_filter_changes_free(s);
	fxt_plans_close(&s->plans);
	fxt_call_counts_close(&s->counts);
	fxt_program_categories_free(&s->program_categories);
	fxt_ended_close(&s->ended);
	fxt_archive_end(&s->archives[0]);
	fxt_archive_end(&s->archives[1]);
	fxt_wakeup_close(&s->wakeup);
	fxt_memory_free(&s->prepared);
	fxt_sched_close(&s->sched);
	close(s->epoll);
}

#include "session.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "death.h"
#include "description.h"
#include "provider_thread.h"
#include "launcher/categories.h"
#include "launcher/debug.h"
#include "launcher/message.h"
#include "launcher/preload.h"
#include "writer/atomics.h"

#define MEASURE_NS       UINT64_C(4000000) /* gives the rate to 2.8 ppm */
#define KOID_REUSE_SHIFT 22                /* pids have at most 22 bits */

static void session_look(struct fxt_session *s);

static void session_woken(struct fxt_watch *watch, void *context)
{
	struct fxt_session *s = context;
	char name[FXT_ALERT_NAME_BYTES];
	struct fxt_alerts alerts;

	(void)watch;
	fxt_wakeup_receive(&s->wakeup, &alerts);
	if (alerts.lost)
		fxt_say("%u alerts are lost: they came faster than they could be taken", alerts.lost);
	while (fxt_alerts_take(&alerts, name))
		s->listener.alerted(s->listener.context, name);
	session_look(s);
}

/* What the options say holds, until it is changed. */
static void session_take_terms(struct fxt_session *s)
{
	struct fxt_provider_terms *terms = &s->terms;

	terms->limits = terms->options->limits;
	terms->depth_limit = terms->options->depth_limit;
	terms->filter = NULL;
	terms->filter_changes = 0;
	terms->filter_changed_ticks = 0;
	s->last_change = &s->no_change;
}

int fxt_session_open(struct fxt_session *s, const struct fxt_options *options, enum fxt_clock_kind clock,
        struct fxt_clock_pair first)
{
	int error;

	*s = (struct fxt_session){.terms = {.options = options, .clock = clock},
	        .first = first,
	        .recording = {.state = FXT_SESSION_READY}};
	session_take_terms(s);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return errno;
	error = fxt_wakeup_open(&s->wakeup, s->epoll, session_woken, s);
	if (error)
		close(s->epoll);
	else
		fxt_namer_open(&s->namer);
	return error;
}

int fxt_session_prepare(struct fxt_session *s)
{
	const struct fxt_options *options = s->terms.options;
	int error = fxt_memory_create(&s->prepared, options->buffer_bytes, options->buffering_mode,
	        fxt_options_leave_out_calls(options));

	if (!error)
		fxt_memory_populate(&s->prepared); /* those of descendants are left to their threads */
	return error;
}

static uint64_t session_measure_rate(const struct fxt_session *s)
{
	return fxt_clock_rate(s->terms.clock, s->first, fxt_clock_read_pair(s->terms.clock));
}

/* The first rate has to be known before the first provider begins. Most of the time it takes has passed
 * already. */
static void session_measure_first_rate(struct fxt_session *s)
{
	uint64_t end = s->first.ns + MEASURE_NS;
	struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	s->terms.ticks_per_second = session_measure_rate(s);
}

void fxt_session_describe_start(struct fxt_session *s, uint64_t ticks_per_second)
{
	uint64_t ticks = s->start_ticks;

	if (ticks_per_second && ticks) {
		fxt_describe_start(&s->archive, ticks, ticks_per_second);
		fxt_describe_functions(&s->archive, &s->namer.functions, ticks, ticks_per_second);
	}
}

uint64_t fxt_session_final_rate(const struct fxt_session *s)
{
	return s->terms.ticks_per_second ? session_measure_rate(s) : 0;
}

static bool session_providers_are_valid(const struct fxt_session *s)
{
	uint32_t alive = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (!p || p->identity.id != i + 1 || !fxt_provider_is_valid(p))
			return false;
		alive += p->end != FXT_END_JOINED;
	}
	return s->alive == alive && s->count <= s->capacity;
}

bool fxt_session_is_valid(const struct fxt_session *s)
{
	const struct fxt_recording *r = &s->recording;
	bool begins = r->state == FXT_SESSION_STARTING || r->state == FXT_SESSION_STARTED;

	if (r->state < FXT_SESSION_READY || r->state >= FXT_SESSION_STATES || s->terms.begin != begins)
		return false;
	if ((r->state == FXT_SESSION_STARTING || r->state == FXT_SESSION_STOPPING) && !r->deadline_ns)
		return false;
	if (r->results_written && (begins || r->state < FXT_SESSION_STARTING))
		return false;
	if (r->terminate_ns && r->state != FXT_SESSION_TERMINATING)
		return false;
	if (s->count && !s->terms.ticks_per_second)
		return false;
	return session_providers_are_valid(s);
}

/* ---- the end of a provider ---- */

/* Nothing more is to be learnt of its process. */
static void session_forget_process(struct fxt_session *s, struct fxt_provider *p)
{
	if (p->process.fd < 0)
		return;
	fxt_watch_remove(s->epoll, &p->process);
	close(p->process.fd);
	p->process.fd = -1;
}

/* Ends a provider, unless its end is known already; one that was aborted may even be joined. */
static void session_end_provider(struct fxt_session *s, struct fxt_provider *p, enum fxt_ending ending)
{
	if (p->end != FXT_END_NONE)
		return;
	if (fxt_provider_state(p) == FXT_STATE_REGISTERED) {
		fxt_provider_unregister(p);
		s->alive--;
		return;
	}
	fxt_provider_note_end(p, ending, fxt_clock_ticks(s->terms.clock));
	if (!s->recording.ends_are_put_off)
		fxt_provider_tell_end(p);
}

void fxt_session_put_off_ends(struct fxt_session *s, bool put_off)
{
	s->recording.ends_are_put_off = put_off;
	for (uint32_t i = 0; i < s->count && !put_off; i++)
		if (s->providers[i]->end == FXT_END_KNOWN)
			fxt_provider_tell_end(s->providers[i]);
}

/* Which of those that are traced sent the signal to the program; 0: none of them, as far as is known. */
static pid_t session_find_sender(const struct fxt_session *s, const struct fxt_provider *program)
{
	if (program->signal == SIGTERM && s->terminate_sent)
		return s->job;
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
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->pid != s->program)
			continue;
		if (WIFSIGNALED(status) && p->end == FXT_END_NONE) {
			p->signal = WTERMSIG(status);
			p->sender = session_find_sender(s, p);
			p->seccomp = seccomp;
		}
		session_end_provider(s, p, WIFEXITED(status) ? FXT_ENDED_NORMALLY : FXT_ENDED_BY_SIGNAL);
	}
	s->program = 0;
}

void fxt_session_terminate(struct fxt_session *s)
{
	if (s->recording.terminate_ns)
		return;
	s->recording.terminate_ns = fxt_monotonic_ns();
	fxt_recording_terminate(s);
	if (fxt_session_is_lasting(s)) {
		fxt_recording_stop_for_good(s);
		session_look(s);
		return;
	}
	if (s->program && !s->terms.options->detach) {
		s->terminate_sent = true;
		kill(s->program, SIGTERM);
	}
}

static void session_process_is_gone(struct fxt_watch *watch, void *session)
{
	struct fxt_provider *p = fxt_watch_owner(watch, struct fxt_provider, process);
	struct fxt_session *s = session;

	/* How the program itself ended is told by its wait status, to fxt_session_program_ended(). */
	if (p->pid != s->program && p->end != FXT_END_JOINED)
		session_end_provider(s, p, fxt_provider_own_account(p));
	session_forget_process(s, p);
}

/* ---- its beginning ---- */

/*
 * The koid of a process that says hello. Where its number is known already, either the same process has come
 * back after an exec, which ends its earlier provider, or the kernel has given the number to another one
 * since.
 */
static uint64_t session_process_koid(struct fxt_session *s, pid_t pid)
{
	for (uint32_t i = s->count; i-- > 0;) {
		struct fxt_provider *earlier = s->providers[i];

		if (earlier->pid != pid)
			continue;
		if (earlier->process.fd < 0)
			return earlier->process_koid + (1u << KOID_REUSE_SHIFT);
		if (fxt_provider_is_dead(earlier)) {
			session_process_is_gone(&earlier->process, s);
			return earlier->process_koid + (1u << KOID_REUSE_SHIFT);
		}
		session_end_provider(s, earlier, FXT_ENDED_NORMALLY);
		session_forget_process(s, earlier);
		return earlier->process_koid;
	}
	return (uint64_t)pid;
}

/* The koid of the process that began the process `pid`; 0 if that is not in the trace. */
static uint64_t session_parent_koid(const struct fxt_session *s, pid_t pid)
{
	pid_t parent = fxt_description_parent(pid);

	for (uint32_t i = s->count; parent > 0 && i-- > 0;)
		if (s->providers[i]->pid == parent)
			return s->providers[i]->process_koid;
	return 0;
}

static void session_refuse(
        struct fxt_session *s, const struct fxt_archive_provider *who, pid_t pid, const char *reason)
{
	s->refused++;
	if (!s->refusal_said)
		fxt_say("%.*s[%d] runs untraced: %s", who->name_bytes, who->name, pid, reason);
	s->refusal_said = true;
}

void fxt_session_refuse_other_user(struct fxt_session *s, pid_t pid, uid_t user)
{
	char reason[64];
	struct fxt_archive_provider who = {0};

	if (!s->terms.options->follow)
		return;
	fxt_archive_name(&who, "process", strlen("process"));
	snprintf(reason, sizeof(reason), "it belongs to another user (%u)", user);
	session_refuse(s, &who, pid, reason);
}

/* Whether the session is to record that process: the program always, what came of it as --follow has it. */
static bool session_is_followed(const struct fxt_session *s, pid_t pid, const struct fxt_hello *hello)
{
	bool is_first = pid == s->program;

	for (uint32_t i = 0; i < s->count && is_first; i++)
		is_first = s->providers[i]->pid != pid;
	return is_first || (s->terms.options->follow & (hello->image ? FXT_FOLLOW_EXEC : FXT_FOLLOW_FORK));
}

static uint64_t session_buffer_bytes(
        const struct fxt_session *s, const struct fxt_archive_provider *identity, pid_t pid)
{
	return fxt_options_buffer_bytes(
	        s->terms.options, identity->name, identity->name_bytes, pid == s->program);
}

/* Each process may come to use its buffer; the first is traced whatever it takes. */
static bool session_has_room(const struct fxt_session *s, uint64_t bytes)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;

	for (uint32_t i = 0; i < s->count && bytes <= half; i++)
		bytes += s->providers[i]->memory.buffer_bytes;
	return s->alive == 0 || bytes <= half;
}

/* Room for one provider more. */
static struct fxt_provider *session_new_provider(struct fxt_session *s)
{
	struct fxt_provider *p;

	if (s->count == s->capacity) {
		uint32_t capacity = s->capacity ? 2 * s->capacity : 16;
		struct fxt_provider **providers = realloc(s->providers, capacity * sizeof(*providers));

		if (!providers)
			return NULL;
		s->providers = providers;
		s->capacity = capacity;
	}
	p = calloc(1, sizeof(*p));
	if (p)
		s->providers[s->count] = p;
	return p;
}

/* Makes a provider of a process: it is told how to record, and its thread begins. Returns 0, or an errno
 * value: it does not. */
static int session_enlist(struct fxt_session *s, struct fxt_provider *p)
{
	int error;

	p->archive = &s->archive;
	p->wakeup = &s->wakeup;
	p->filter_change = s->last_change;
	p->sched = &s->sched;
	p->namer = s->terms.options->raw ? NULL : &s->namer;
	if (s->ledger)
		p->ledger = fxt_ledger_add(s->ledger, &p->identity, p->pid, p->own_pid, p->process_koid);
	error = fxt_provider_start(p, &s->terms);
	/* Not before: the next one has the entry of one that did not begin. */
	if (!error && p->ledger)
		fxt_ledger_send(s->ledger, FXT_LEDGER_PROVIDER, p->identity.id,
		        (int[]){p->memory.buffer_fd, p->memory.control_fd}, 2);
	if (error && p->ledger)
		p->ledger->identity.id = 0;
	return error;
}

/* Whether no provider can be one of the session's recording: there is none, or it ends. */
static bool session_only_registers(const struct fxt_session *s)
{
	enum fxt_session_state state = s->recording.state;

	return fxt_session_is_lasting(s) && (state == FXT_SESSION_READY || state == FXT_SESSION_TERMINATING);
}

/* Gives a new provider what it needs to live. Returns 0, or an errno value; nothing of it is left then. */
static int session_start_provider(struct fxt_session *s, struct fxt_provider *p)
{
	uint64_t bytes = session_buffer_bytes(s, &p->identity, p->pid);
	int error = 0;

	p->process = (struct fxt_watch){(int)syscall(SYS_pidfd_open, p->pid, 0), session_process_is_gone, s};
	if (p->process.fd < 0)
		return errno;
	if (p->pid == s->program && s->prepared.buffer_bytes == bytes) {
		p->memory = s->prepared;
		s->prepared = (struct fxt_memory){0};
	} else {
		/* What a later recording will leave out is not known. */
		error = fxt_memory_create(&p->memory, bytes, s->terms.options->buffering_mode,
		        fxt_session_is_lasting(s) || fxt_options_leave_out_calls(s->terms.options));
	}
	if (!error && fxt_watch_add(s->epoll, &p->process) != 0)
		error = errno;
	if (!error && session_only_registers(s))
		fxt_provider_register(p, &s->terms);
	else if (!error)
		error = session_enlist(s, p);
	if (error) {
		session_forget_process(s, p);
		fxt_memory_free(&p->memory);
	}
	return error;
}

struct fxt_provider *fxt_session_connect(
        struct fxt_session *s, pid_t pid, const struct fxt_hello *hello, struct fxt_welcome *welcome)
{
	struct fxt_archive_provider identity = {.id = s->count + 1};
	struct fxt_provider *p;
	int error;

	fxt_archive_name(&identity, hello->name, hello->name_bytes);
	*welcome = (struct fxt_welcome){
	        .magic = FXT_WELCOME_MAGIC, .version = FXT_SHARED_VERSION, .status = FXT_WELCOME_REFUSED};
	if (hello->version != FXT_SHARED_VERSION) {
		welcome->status = FXT_WELCOME_VERSION;
		session_refuse(s, &identity, pid,
		        "its " FXT_AGENT_FILE " is of another version than fxtrun; use that of fxtrun");
		return NULL;
	}
	if (!session_is_followed(s, pid, hello)) {
		session_process_koid(s, pid); /* ends an earlier image */
		return NULL;
	}
	if (!session_has_room(s, session_buffer_bytes(s, &identity, pid)))
		fxt_session_beat(s); /* some may be done */
	if (!session_has_room(s, session_buffer_bytes(s, &identity, pid))) {
		session_refuse(s, &identity, pid,
		        "the buffers of all processes would take more than half of this machine's memory; "
		        "--buffer-size makes them smaller");
		return NULL;
	}
	if (!s->terms.ticks_per_second)
		session_measure_first_rate(s);
	p = session_new_provider(s);
	if (!p) {
		session_refuse(s, &identity, pid, strerror(ENOMEM));
		return NULL;
	}
	p->identity = identity;
	p->pid = pid;
	p->own_pid = (pid_t)hello->pid;
	p->process_koid = session_process_koid(s, pid);
	error = session_start_provider(s, p);
	if (error) {
		session_refuse(s, &identity, pid, strerror(error));
		free(p);
		return NULL;
	}
	s->count++;
	s->alive++;
	fxt_debug_check(fxt_session_is_valid(s));
	if (fxt_provider_state(p) != FXT_STATE_REGISTERED)
		fxt_describe_process(
		        &s->archive, &identity, pid, p->process_koid, session_parent_koid(s, pid));
	welcome->status = FXT_WELCOME_OK;
	welcome->buffer_bytes = p->memory.buffer_bytes;
	welcome->control_bytes = p->memory.control_bytes;
	return p;
}

void fxt_session_welcomed(struct fxt_session *s, struct fxt_provider *p, bool sent)
{
	if (!fxt_session_is_lasting(s)) { /* else the job is to have it with each recording */
		close(p->memory.control_fd);
		p->memory.control_fd = -1;
	}
	if (!sent)
		session_end_provider(s, p, FXT_ENDED_BY_SIGNAL);
}

/* ---- the session ---- */

void fxt_totals_add(struct fxt_totals *totals, const struct fxt_collector *collector)
{
	totals->events += collector->copy.events;
	totals->threads += collector->threads;
	totals->losses.lost += collector->losses.lost;
	totals->losses.overwritten += collector->losses.overwritten;
	totals->left_out.calls += collector->left_out.calls;
	totals->left_out.ns += collector->left_out.ns;
}

void fxt_totals_add_ended(struct fxt_totals *totals, const struct fxt_provider *p)
{
	fxt_totals_add(totals, &p->collector);
	totals->processes += p->runs > 0;
	totals->still_running += p->runs > 0 && p->ending == FXT_STILL_RUNNING;
	totals->noise += p->records.noise * (double)p->collector.copy.events;
	totals->incomplete |= p->incomplete;
	totals->left_placeholders |= p->runs > 0 && p->records.left_placeholders;
	if (p->signal) /* of the program alone it is known */
		memcpy(totals->killed, p->killed, sizeof(totals->killed));
}

/* Registers the process of a provider that has ended with its recording, and what it is recorded into. */
static void session_register_again(
        struct fxt_session *s, struct fxt_provider *ended, struct fxt_memory *memory)
{
	struct fxt_provider *p = ended->process.fd < 0 ? NULL : session_new_provider(s);

	if (p) {
		fxt_watch_remove(s->epoll, &ended->process);
		p->process = ended->process;
		ended->process.fd = -1;
	}
	if (!p || fxt_watch_add(s->epoll, &p->process) != 0) {
		fxt_memory_free(memory);
		return;
	}
	fxt_memory_release(memory);
	p->identity = (struct fxt_archive_provider){.id = s->count + 1};
	fxt_archive_name(&p->identity, ended->identity.name, ended->identity.name_bytes);
	p->pid = ended->pid;
	p->own_pid = ended->own_pid;
	p->process_koid = ended->process_koid;
	p->memory = *memory;
	p->had_recordings = true;
	fxt_provider_register(p, &s->terms);
	s->count++;
	s->alive++;
}

static void session_join_provider(struct fxt_session *s, struct fxt_provider *p)
{
	struct fxt_memory kept = {0};

	if (s->terms.options->follow & FXT_FOLLOW_FORK)
		s->refused += exchange_acquire(&p->memory.control->children_untraced, 0);
	fxt_provider_join(p, p->is_kept ? &kept : NULL);
	if (p->ledger)
		fxt_ledger_send(s->ledger, FXT_LEDGER_DONE, 0, NULL, 0);
	s->alive--;
	if (p->is_kept)
		session_register_again(s, p, &kept);
	fxt_debug_check(fxt_session_is_valid(s));
}

/* Whether the process takes part in no recording any more, although it lives. */
static bool session_is_out(const struct fxt_provider *p)
{
	return p->end == FXT_END_JOINED && p->process.fd >= 0;
}

/* Forgets providers whose processes have ended, and of others what was recorded. */
static void session_forget_ended(struct fxt_session *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->end == FXT_END_JOINED && p->process.fd < 0) {
			free(p);
			continue;
		}
		if (session_is_out(p)) {
			p->collector = (struct fxt_collector){0};
			p->runs = 0;
			p->incomplete = false;
		}
		s->providers[kept++] = p;
		p->identity.id = kept;
	}
	s->count = kept;
	fxt_debug_check(fxt_session_is_valid(s));
}

/* Gives back the providers that are done. */
static void session_join_those_done(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->end != FXT_END_JOINED &&
		        fxt_provider_state(s->providers[i]) == FXT_STATE_DONE)
			session_join_provider(s, s->providers[i]);
}

/* All providers are to end with the recording. A process that does not stop takes part in no other one. */
static void session_end_all(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (!fxt_provider_is_live(p) || p->end != FXT_END_NONE)
			continue;
		p->is_kept =
		        fxt_provider_follows(p, false) && !load_relaxed(&p->memory.control->commands_ignored);
		if (!p->is_kept)
			fxt_provider_say(p, "cannot be told to stop%s, and is recorded no more",
			        load_relaxed(&p->memory.control->commands_ignored)
			                ? ", since it has confined itself (seccomp)"
			                : "");
		session_end_provider(s, p, p->is_kept ? FXT_ENDED_NORMALLY : FXT_STILL_RUNNING);
	}
}

/* Whether what happened has brought the recording further. */
static void session_look(struct fxt_session *s)
{
	fxt_recording_look(s);
	fxt_filter_look(s);
	if (fxt_recording_is_to_end(s)) {
		session_end_all(s);
		session_join_those_done(s);
	}
}

void fxt_session_beat(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->end != FXT_END_JOINED)
			fxt_provider_beat(p);
	}
	session_join_those_done(s);
	if (fxt_session_is_lasting(s) && s->recording.state == FXT_SESSION_READY)
		session_forget_ended(s);
	session_look(s);
}

/* ---- recordings of a lasting session ---- */

/* A process that was registered becomes a provider, if it carries out commands. */
static void session_enlist_registered(struct fxt_session *s, struct fxt_provider *p)
{
	struct fxt_archive_provider identity = p->identity;
	const char *reason = NULL;

	if (session_is_out(p))
		s->refused++;
	if (fxt_provider_state(p) != FXT_STATE_REGISTERED)
		return;
	if (load_relaxed(&p->memory.control->commands_ignored))
		reason = "it has confined itself (seccomp)";
	else if (session_enlist(s, p) != 0)
		reason = strerror(ENOMEM);
	else
		fxt_describe_process(
		        &s->archive, &identity, p->pid, p->process_koid, session_parent_koid(s, p->pid));
	if (reason) {
		session_refuse(s, &p->identity, p->pid, reason);
		p->state = FXT_STATE_REGISTERED;
		session_end_provider(s, p, FXT_STILL_RUNNING);
	}
}

void fxt_session_begin_recording(struct fxt_session *s)
{
	session_forget_ended(s);
	session_take_terms(s);
	s->terms.recording++;
	s->refused = 0;
	s->refusal_said = false;
	s->start_ticks = fxt_clock_ticks(s->terms.clock);
	for (uint32_t i = 0; i < s->count; i++)
		session_enlist_registered(s, s->providers[i]);
}

bool fxt_session_recording_has_ended(const struct fxt_session *s)
{
	bool has_ended = fxt_session_is_lasting(s) && fxt_recording_is_to_end(s);

	for (uint32_t i = 0; i < s->count && has_ended; i++)
		has_ended = s->providers[i]->end == FXT_END_JOINED ||
		            fxt_provider_state(s->providers[i]) == FXT_STATE_REGISTERED;
	return has_ended;
}

/* When the first of those that are summed up began; none of a lasting session before its recording. */
static uint64_t session_first_ticks(const struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint64_t ticks = s->providers[i]->first_ticks;

		if (ticks && s->providers[i]->runs)
			return ticks > s->start_ticks ? ticks : s->start_ticks;
	}
	return 0;
}

void fxt_session_renew(struct fxt_session *s)
{
	fxt_filter_changes_free(s);
	fxt_archive_end(&s->archive);
	s->archive = (struct fxt_archive_writer){0};
	session_take_terms(s);
	fxt_namer_open(&s->namer);
	session_forget_ended(s);
	fxt_recording_renew(s);
}

/* ---- its end ---- */

void fxt_session_sum_up(struct fxt_session *s, struct fxt_totals *totals)
{
	*totals = (struct fxt_totals){
	        .without_calls = !fxt_categories_have(&s->terms.options->categories, "function")};
	for (uint32_t i = 0; i < s->count; i++)
		fxt_totals_add_ended(totals, s->providers[i]);
	totals->was_not_started =
	        s->count > 0 && totals->processes == 0 && s->terms.options->start != FXT_START_NOW;
	totals->refused = s->refused;
	s->start_ticks = session_first_ticks(s);
}

void fxt_session_finish(struct fxt_session *s, struct fxt_totals *totals)
{
	fxt_session_put_off_ends(s, false);
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];

		if (p->is_kept && p->end != FXT_END_JOINED)
			fxt_provider_command(p, FXT_COMMAND_QUIT, 0);
		p->is_kept = false;
		session_end_provider(s, p, FXT_STILL_RUNNING);
	}
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->end != FXT_END_JOINED)
			session_join_provider(s, s->providers[i]);
	fxt_session_sum_up(s, totals);
	fxt_session_finish_archive(s, totals);
}

void fxt_session_finish_archive(struct fxt_session *s, struct fxt_totals *totals)
{
	fxt_namer_close(&s->namer);
	fxt_sched_finish(&s->sched);
	fxt_archive_drain(&s->archive);
	totals->bytes_unwritten = s->archive.bytes_lost;
	totals->incomplete |= s->archive.error != 0;
}

void fxt_session_close(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		session_forget_process(s, s->providers[i]);
		free(s->providers[i]);
	}
	free(s->providers);
	fxt_namer_close(&s->namer);
	fxt_filter_changes_free(s);
	fxt_archive_end(&s->archive);
	fxt_wakeup_close(&s->wakeup);
	fxt_memory_free(&s->prepared);
	fxt_sched_close(&s->sched);
	close(s->epoll);
}

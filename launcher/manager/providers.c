/*
 * Makes providers of processes and ends them, on the main thread. It must not wait for a
 * process or for a provider's thread.
 */
#include "providers.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "description.h"
#include "provider_thread.h"
#include "session.h"
#include "launcher/message.h"
#include "writer/shared/clock.h"

void fxt_session_take_config(struct fxt_session *s)
{
	struct fxt_provider_config *config = &s->config;

	config->limits = config->options->limits;
	config->depth_limit = config->options->depth_limit;
	memset(config->triggers, 0, sizeof(config->triggers));
	memcpy(config->triggers, config->options->triggers,
	        config->options->trigger_count * sizeof(*config->triggers));
	config->had_calls = 0;
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		config->had_calls |= (uint32_t)fxt_trigger_is_of_calls(&config->triggers[i]) << i;
	config->filter = NULL;
	config->filter_changes = 0;
	config->filter_changed_ticks = 0;
	config->awaits_decisions = false;
	s->last_change = &s->no_change;
}

void fxt_session_refuse(
        struct fxt_session *s, const struct fxt_archive_provider *who, pid_t pid, const char *reason)
{
	s->refused++;
	if (!s->refusal_said)
		fxt_say("%.*s[%d] runs untraced: %s", who->name_bytes, who->name, pid, reason);
	s->refusal_said = true;
}

uint64_t fxt_session_parent_koid(const struct fxt_session *s, pid_t pid)
{
	pid_t parent = fxt_description_parent(pid);

	for (uint32_t i = s->count; parent > 0 && i-- > 0;)
		if (s->providers[i]->pid == parent)
			return s->providers[i]->process_koid;
	return 0;
}

struct fxt_provider *fxt_session_new_provider(struct fxt_session *s)
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

int fxt_session_enlist(struct fxt_session *s, struct fxt_provider *p)
{
	struct fxt_message description = fxt_describe_process(
	        &p->identity, p->pid, p->process_koid, fxt_session_parent_koid(s, p->pid));
	int error;

	p->archive = s->archive;
	if (fxt_options_rotate(s->config.options)) {
		p->session_archive = &s->archive;
		p->rotate_bytes = s->config.options->rotate.bytes;
	}
	p->ended = s->ended.limit_bytes ? &s->ended : NULL;
	p->wakeup = &s->wakeup;
	p->program_categories = &s->program_categories;
	p->counts = s->config.options->muting_percent ? &s->counts : NULL;
	p->no_change = &s->no_change;
	p->filter_change = s->last_change;
	p->sched = &s->sched;
	p->resolver = s->config.options->raw ? NULL : &s->resolver;
	if (s->ledger)
		p->ledger = fxt_ledger_add(s->ledger, &p->identity, p->pid, p->own_pid, p->process_koid);
	if (p->ended || p->session_archive)
		p->description = description; /* set before its thread begins */
	error = fxt_provider_start(p, &s->config);
	if (!error && !p->ended && description.bytes)
		fxt_archive_write_blob(s->archive, FXT_DESCRIPTION_BLOB, FXT_BLOB_PERFETTO, description.data,
		        description.bytes);
	if (error || !p->description.data) {
		free(description.data);
		p->description = (struct fxt_message){0};
	}
	/* Only now: if a provider does not begin, the next one gets its entry. */
	if (!error && p->ledger)
		fxt_ledger_send(s->ledger, FXT_LEDGER_PROVIDER, p->identity.id,
		        (int[]){p->memory.buffer_fd, p->memory.control_fd}, 2);
	if (error && p->ledger)
		p->ledger->identity.id = 0;
	return error;
}

void fxt_session_forget_process(struct fxt_session *s, struct fxt_provider *p)
{
	if (p->process.fd < 0)
		return;
	fxt_watch_remove(s->epoll, &p->process);
	close(p->process.fd);
	p->process.fd = -1;
}

void fxt_session_end_provider(struct fxt_session *s, struct fxt_provider *p, enum fxt_ending ending)
{
	if (p->end != FXT_END_NONE)
		return;
	if (fxt_provider_state(p) == FXT_STATE_REGISTERED) {
		fxt_provider_unregister(p);
		s->alive--;
		return;
	}
	if (s->is_over)
		p->ended = NULL;
	fxt_provider_note_end(p, ending, fxt_clock_ticks(s->config.clock));
	if (s->recording.snapshot != FXT_SNAPSHOT_WAITS)
		fxt_provider_send_end(p);
}

/* Reports to the session's listener how a process ended, as far as the process itself has
 * noted it. Does not report a signal that reached no thread of the process. */
static void providers_send_end(const struct fxt_session *s, const struct fxt_provider *p)
{
	const struct fxt_control *control = p->memory.control;
	int signal = (int)load_acquire(&control->fatal.signal);
	bool has_exited = fxt_provider_own_account(p) == FXT_ENDED_NORMALLY;

	if (s->listener.process_ended && p->end == FXT_END_NONE && (signal || has_exited))
		s->listener.process_ended(s->listener.context, !has_exited,
		        has_exited ? (int)load_relaxed(&control->exit_status) : signal);
}

void fxt_session_process_is_gone(struct fxt_watch *watch, void *session)
{
	struct fxt_provider *p = fxt_watch_owner(watch, struct fxt_provider, process);
	struct fxt_session *s = session;

	/* The wait status of the program itself is passed to
	 * fxt_session_program_ended(). */
	if (p->pid != s->program && p->end != FXT_END_JOINED) {
		providers_send_end(s, p);
		fxt_session_end_provider(s, p, fxt_provider_own_account(p));
	}
	fxt_session_forget_process(s, p);
}

void fxt_session_note_snapshot(struct fxt_session *s, enum fxt_snapshot_stage stage)
{
	s->recording.snapshot = stage;
	for (uint32_t i = 0; i < s->count && stage != FXT_SNAPSHOT_WAITS; i++)
		if (s->providers[i]->end == FXT_END_KNOWN)
			fxt_provider_send_end(s->providers[i]);
}

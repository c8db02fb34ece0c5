#include "idle.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "description.h"
#include "providers.h"
#include "session.h"
#include "launcher/debug.h"
#include "writer/shared/atomics.h"

void fxt_session_register_again(struct fxt_session *s, struct fxt_provider *ended, struct fxt_memory *memory)
{
	struct fxt_provider *p = ended->process.fd < 0 ? NULL : fxt_session_new_provider(s);

	if (!p) {
		fxt_memory_free(memory);
		return;
	}
	fxt_watch_remove(s->epoll, &ended->process);
	p->process = ended->process;
	if (fxt_watch_add(s->epoll, &p->process) !=
	        0) { /* the provider that ended still watches the process */
		fxt_memory_free(memory);
		free(p);
		return;
	}
	ended->process.fd = -1;
	fxt_memory_release(memory);
	p->identity = (struct fxt_archive_provider){.id = ++s->last_id};
	fxt_archive_name(&p->identity, ended->identity.name, ended->identity.name_bytes);
	p->pid = ended->pid;
	p->own_pid = ended->own_pid;
	p->process_koid = ended->process_koid;
	p->memory = *memory;
	p->had_recordings = true;
	fxt_provider_register(p, &s->config);
	s->count++;
	s->alive++;
}

/* True if the process takes part in no recording any more although it lives. */
static bool session_is_out(const struct fxt_provider *p)
{
	return p->end == FXT_END_JOINED && p->process.fd >= 0;
}

void fxt_session_forget_ended(struct fxt_session *s)
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
		p->earlier = p->later = NULL;
		p->had_runs = p->had_threads = false;
	}
	s->count = s->last_id = kept;
	free(s->gone);
	s->gone = NULL;
	fxt_debug_check(fxt_session_is_valid(s));
}

void fxt_session_end_all(struct fxt_session *s)
{
	s->is_over = true;
	for (uint32_t i = 0; i < s->count; i++) {
		struct fxt_provider *p = s->providers[i];
		bool is_confined;

		if (!fxt_provider_is_live(p) || p->end != FXT_END_NONE)
			continue;
		is_confined = load_relaxed(&p->memory.control->commands_ignored);
		p->is_kept = fxt_provider_follows(p, false) && !is_confined;
		if (!p->is_kept)
			fxt_provider_say(p, "cannot be stopped%s, and is not recorded any more",
			        is_confined ? ", because it has confined itself (seccomp)" : "");
		fxt_session_end_provider(s, p, p->is_kept ? FXT_ENDED_NORMALLY : FXT_STILL_RUNNING);
	}
}

/* Makes a provider of a registered process, if the process carries out commands. */
static void session_enlist_registered(struct fxt_session *s, struct fxt_provider *p)
{
	const char *reason = NULL;

	if (session_is_out(p))
		s->refused++;
	if (fxt_provider_state(p) != FXT_STATE_REGISTERED)
		return;
	if (load_relaxed(&p->memory.control->commands_ignored))
		reason = "it has confined itself (seccomp)";
	else if (fxt_session_enlist(s, p) != 0)
		reason = strerror(ENOMEM);
	if (reason) {
		fxt_session_refuse(s, &p->identity, p->pid, reason);
		p->state = FXT_STATE_REGISTERED;
		fxt_session_end_provider(s, p, FXT_STILL_RUNNING);
	}
}

void fxt_session_begin_recording(struct fxt_session *s)
{
	fxt_session_forget_ended(s);
	fxt_session_take_config(s);
	s->config.recording++;
	s->is_over = false;
	s->refused = 0;
	s->refusal_said = false;
	s->start_ticks = fxt_clock_ticks(s->config.clock);
	for (uint32_t i = 0; i < s->count; i++)
		session_enlist_registered(s, s->providers[i]);
}

bool fxt_session_recording_has_ended(const struct fxt_session *s)
{
	bool has_ended = fxt_session_is_idle_session(s) && fxt_recording_is_to_end(s);

	for (uint32_t i = 0; i < s->count && has_ended; i++)
		has_ended = s->providers[i]->end == FXT_END_JOINED ||
		            fxt_provider_state(s->providers[i]) == FXT_STATE_REGISTERED;
	return has_ended;
}

void fxt_session_renew(struct fxt_session *s)
{
	fxt_filter_changes_free(s);
	fxt_call_counts_close(&s->counts);
	fxt_archive_end(s->archive);
	*s->archive = (struct fxt_archive_writer){0};
	fxt_session_take_config(s);
	fxt_resolver_open(&s->resolver);
	fxt_session_forget_ended(s);
	fxt_recording_renew(s);
}

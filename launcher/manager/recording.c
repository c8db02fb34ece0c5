/*
 * The states of a session and its starts and stops. Runs on the main thread and never
 * waits: fxt_recording_look() checks the progress.
 */
#include "recording.h"
#include <malloc.h>
#include <string.h>
#include "launcher/debug.h"
#include "providers.h"
#include "session.h"
#include "writer/shared/clock.h"

#define TO(state) (1u << FXT_SESSION_##state)

bool fxt_recording_may_enter(enum fxt_session_state from, enum fxt_session_state to)
{
	static const uint32_t ways[FXT_SESSION_STATES] = {
	        [FXT_SESSION_READY] = TO(INITIALIZED) | TO(TERMINATING),
	        [FXT_SESSION_INITIALIZED] = TO(STARTING) | TO(STOPPING) | TO(TERMINATING),
	        [FXT_SESSION_STARTING] = TO(STARTED) | TO(STOPPING) | TO(TERMINATING),
	        [FXT_SESSION_STARTED] = TO(STOPPING) | TO(TERMINATING),
	        [FXT_SESSION_STOPPING] = TO(STOPPED) | TO(TERMINATING),
	        [FXT_SESSION_STOPPED] = TO(STARTING) | TO(TERMINATING),
	        [FXT_SESSION_TERMINATING] = TO(READY),
	};

	return from < FXT_SESSION_STATES && to < FXT_SESSION_STATES && ways[from] >> to & 1;
}

static void recording_enter(struct fxt_session *s, enum fxt_session_state state)
{
	fxt_debug_check(fxt_recording_may_enter(s->recording.state, state));
	s->recording.state = state;
	fxt_debug_check(fxt_session_is_valid(s));
	if (s->listener.state_changed)
		s->listener.state_changed(s->listener.context);
}

void fxt_recording_initialize(struct fxt_session *s)
{
	fxt_session_take_config(s);
	s->config.categories = s->config.session_categories = s->config.options->categories;
	recording_enter(s, FXT_SESSION_INITIALIZED);
}

/* An empty list means all categories, and nothing can be added to that. */
static void recording_add_categories(
        struct fxt_categories *categories, const struct fxt_categories *additional)
{
	if (!categories->bytes)
		return;
	memcpy(categories->names + categories->bytes, additional->names, additional->bytes);
	categories->bytes += additional->bytes;
}

size_t fxt_recording_category_room(const struct fxt_session *s)
{
	return FXT_CATEGORIES_BYTES - s->config.session_categories.bytes;
}

enum fxt_start_error fxt_recording_may_start(const struct fxt_session *s)
{
	static const enum fxt_start_error errors[] = {
	        [FXT_SESSION_READY] = FXT_START_NOT_INITIALIZED,
	        [FXT_SESSION_STARTING] = FXT_START_ALREADY_STARTED,
	        [FXT_SESSION_STARTED] = FXT_START_ALREADY_STARTED,
	        [FXT_SESSION_STOPPING] = FXT_START_IS_STOPPING,
	        [FXT_SESSION_TERMINATING] = FXT_START_IS_TERMINATING,
	};

	return errors[s->recording.state];
}

enum fxt_stop_error fxt_recording_may_stop(const struct fxt_session *s)
{
	static const enum fxt_stop_error errors[] = {
	        [FXT_SESSION_READY] = FXT_STOP_NOT_INITIALIZED,
	        [FXT_SESSION_STOPPING] = FXT_STOP_NOT_STARTED,
	        [FXT_SESSION_STOPPED] = FXT_STOP_NOT_STARTED,
	        [FXT_SESSION_TERMINATING] = FXT_STOP_NOT_STARTED,
	};

	return errors[s->recording.state];
}

void fxt_recording_start(
        struct fxt_session *s, enum fxt_start_mode mode, const struct fxt_categories *additional)
{
	struct fxt_recording *r = &s->recording;

	if (r->results_written)
		mode = FXT_START_CLEAR_ENTIRE;
	r->results_written = false;
	s->config.categories = s->config.session_categories;
	recording_add_categories(&s->config.categories, additional);
	s->config.begin = true;
	fxt_sched_start(&s->sched, mode != FXT_START_RETAIN);
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			fxt_provider_begin(s->providers[i], &s->config.categories, mode);
	r->deadline_ns = fxt_monotonic_ns() + s->config.options->start_timeout_ns;
	recording_enter(s, FXT_SESSION_STARTING);
	fxt_recording_look(s);
}

void fxt_recording_stop(struct fxt_session *s, bool write_results)
{
	struct fxt_recording *r = &s->recording;

	s->config.begin = false;
	r->results_written = write_results;
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			fxt_provider_stop(s->providers[i], write_results);
	r->deadline_ns = fxt_monotonic_ns() + FXT_STOP_PATIENCE_NS;
	fxt_sched_stop(&s->sched, write_results);
	recording_enter(s, FXT_SESSION_STOPPING);
	fxt_recording_look(s);
}

void fxt_recording_terminate(struct fxt_session *s)
{
	s->config.begin = false;
	if (s->recording.state != FXT_SESSION_TERMINATING)
		recording_enter(s, FXT_SESSION_TERMINATING);
}

/* True if every live provider has done what the latest command asks. */
static bool recording_all_follow(const struct fxt_session *s, bool recording)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]) &&
		        !fxt_provider_follows(s->providers[i], recording))
			return false;
	return true;
}

void fxt_recording_stop_for_good(struct fxt_session *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			fxt_provider_stop(s->providers[i], true);
	s->recording.deadline_ns = fxt_monotonic_ns() + FXT_TERMINATE_PATIENCE_NS;
	fxt_sched_stop(&s->sched, true);
}

bool fxt_recording_is_to_end(const struct fxt_session *s)
{
	return s->recording.is_to_end;
}

void fxt_recording_renew(struct fxt_session *s)
{
	s->recording = (struct fxt_recording){.state = s->recording.state};
	recording_enter(s, FXT_SESSION_READY);
}

void fxt_recording_look(struct fxt_session *s)
{
	struct fxt_recording *r = &s->recording;
	bool starting = r->state == FXT_SESSION_STARTING, stopping = r->state == FXT_SESSION_STOPPING;

	if ((starting || stopping) &&
	        (recording_all_follow(s, starting) || fxt_monotonic_ns() >= r->deadline_ns)) {
		if (stopping)
			malloc_trim(0); /* memory of ended processes; the next start may be
			                 * months away */
		recording_enter(s, starting ? FXT_SESSION_STARTED : FXT_SESSION_STOPPED);
	}
	if (r->state == FXT_SESSION_TERMINATING && r->terminate_ns && fxt_session_is_idle_session(s))
		r->is_to_end = recording_all_follow(s, false) || fxt_monotonic_ns() >= r->deadline_ns;
}

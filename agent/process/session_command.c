/* Carries out the manager's session commands and filter changes, on the helper thread (at
 * birth on the starting thread), and sends alerts, on the program's threads. After birth it
 * must never carry out a command on a thread of the program. */
#include "session_command.h"
#include <errno.h>
#include "agent/base/attributes.h"
#include "agent/hook/sources.h"
#include "agent/patch/patch.h"
#include "agent/patch/probes.h"
#include "agent/hook/events.h"
#include "agent/hook/said_names.h"
#include "agent/heap/heap.h"
#include "agent/heap/heap_state.h"
#include "modules.h"
#include "writer/format/categories.h"
#include "writer/engine/decisions.h"

#define WAIT_NS             UINT64_C(10000000)
#define ALERT_TEXT_BYTES    128 /* bytes of a name, in the trace */
#define ALERT_TRIES         100 /* while the manager has not taken earlier packets */
#define ALERT_PAUSE_NS      UINT64_C(1000000)
#define FILTER_PAUSE_NS     UINT64_C(50000)
#define FILTER_PAUSE_MAX_NS UINT64_C(10000000)

static uint32_t carried_out; /* the latest command; 0 = none has come yet */
static bool is_helpers;      /* the helper carries them out, no longer the starting thread */

/* Begins a run. If the data to be cleared is being saved, it waits. Returns 0, or the
 * reason why there is no run. */
static int session_command_start_engine(uint32_t command)
{
	struct fxt_engine *e = &agent_engine;
	const uint32_t *replies = &e->control->to_provider.written;
	uint32_t seen = load_acquire(replies);
	int error;

	while ((error = fxt_engine_start(e, (enum fxt_start_mode)FXT_SESSION_START_MODE(command))) == EBUSY &&
	        e->state == FXT_ENGINE_STOPPED && load_relaxed(&e->control->session_command) == command) {
		sys_futex_wait(replies, seen, WAIT_NS);
		seen = load_acquire(replies);
	}
	return error;
}

static void session_command_start(uint32_t command)
{
	struct fxt_engine *e = &agent_engine;
	uint32_t generation = e->generation;

	agent_patch_undo(); /* from here on functions may be undecided again */
	/* Not if it runs: then this start overtook the stop before it, and recording
	 * continues. */
	if (session_command_start_engine(command) != 0)
		return;
	if (e->generation != generation)
		agent_modules_record_known();
	fxt_decisions_have_calls(e);
	agent_set_recording(fxt_category_is_enabled(e->control, "function") ? agent_recording_of_calls()
	                                                                    : AGENT_WITHOUT_CALLS);
	agent_sources_follow_recording(is_helpers);
	agent_heap_begin();
	agent_said_follow();
	agent_probes_follow();
	store_relaxed(&e->control->started_by, command);
	fxt_engine_send_started(e);
}

void agent_session_command_carry_out(void)
{
	uint32_t command = load_acquire(&agent_engine.control->session_command);

	if (command == carried_out)
		return;
	carried_out = command;
	switch (FXT_SESSION_COMMAND(command)) {
	case FXT_COMMAND_START:
		session_command_start(command);
		break;
	case FXT_COMMAND_STOP:
		agent_set_recording(AGENT_QUIET);
		agent_said_follow();
		agent_probes_follow();
		agent_patch_undo(); /* while its end can still be recorded */
		agent_sources_follow_recording(is_helpers);
		agent_heap_stop();
		fxt_engine_stop(&agent_engine);
		break;
	case FXT_COMMAND_QUIT:
		agent_set_recording(AGENT_QUIET);
		agent_said_follow();
		agent_probes_follow();
		agent_sources_follow_recording(is_helpers);
		agent_heap_end();
	}
	/* Release: pairs with the manager's acquire. The answers to the command are in the
	 * ring. */
	store_release(&agent_engine.control->carried_out, command);
}

/* Follows the categories of the control memory while recording is on; calls also follow the
 * filter. If calls are no longer recorded, their functions are marked: open calls end as
 * they began, and the hooks continue. */
static void session_command_follow_categories(void)
{
	const struct fxt_control *control = agent_engine.control;
	int32_t recording = load_relaxed(&agent_recording);

	if (recording == AGENT_QUIET)
		return;
	if (recording == AGENT_BY_COUNTER ||
	        (recording == AGENT_WITHOUT_CALLS && fxt_category_is_enabled(control, "function")))
		agent_set_recording(agent_recording_of_calls());
	agent_sources_follow_recording(is_helpers);
	agent_said_follow();
	agent_probes_follow();
	if (!fxt_category_is_enabled(control, "heap"))
		agent_heap_stop();
	else if (load_relaxed(&agent_heap.mode) != agent_heap.wanted_mode)
		agent_heap_begin();
}

/* Returns false if there is more to do. */
static bool session_command_follow_filter(void)
{
	bool without_calls =
	        agent_records_calls() && !fxt_category_is_enabled(agent_engine.control, "function");
	uint32_t in_force = agent_engine.filter_in_force;
	/* Read once: a change that comes later is followed the next time. Without its
	 * agent_patch_undo() the calls of functions that it includes would not be recorded.
	 * Acquire: pairs with the manager's release; the decisions are complete. */
	uint32_t changes = load_acquire(&agent_engine.control->filter_changes);

	/* Once: until the change is reported, no hook call is patched again. */
	if (changes != agent_engine.filter_changes)
		agent_patch_undo();
	if (!fxt_decisions_follow_change(&agent_engine, changes, without_calls))
		return false;
	if (agent_engine.filter_in_force != in_force)
		session_command_follow_categories();
	return fxt_decisions_report_change(&agent_engine);
}

/* If the change takes longer than this waits, the manager wakes the helper again. */
static void session_command_await_filter(void)
{
	for (uint64_t pause = FILTER_PAUSE_NS;
	        !session_command_follow_filter() && pause <= FILTER_PAUSE_MAX_NS; pause *= 2)
		sys_pause_ns(pause);
}

static bool session_command_work(void)
{
	is_helpers = true;
	agent_session_command_carry_out();
	session_command_await_filter();
	agent_helper_set_idle(agent_patch_work());
	return false; /* a command that came in between has changed the futex */
}

static bool session_command_is_over(void)
{
	return FXT_SESSION_COMMAND(carried_out) == FXT_COMMAND_QUIT;
}

struct agent_helper_job agent_session_command_job(void)
{
	return (struct agent_helper_job){
	        .wakeup = &agent_engine.control->session_command,
	        .work = session_command_work,
	        .end = agent_patch_end,
	        .is_over = session_command_is_over,
	};
}

bool agent_session_command_may_come(void)
{
	return agent_engine.state != FXT_ENGINE_NONE && !agent_is_standalone && !session_command_is_over();
}

void agent_session_command_forget(void)
{
	carried_out = 0;
	is_helpers = false;
}

/* ---- alerts ---- */

/* The place of the alert, for a reader of the trace that was kept because of it. */
static void session_command_record_alert(const char *name)
{
	char text[ALERT_TEXT_BYTES];
	size_t bytes = 0;

	for (; bytes < sizeof(text) && name[bytes]; bytes++)
		text[bytes] =
		        (unsigned char)name[bytes] < 0x80 ? name[bytes] : '?'; /* it need not be UTF-8 */
	struct fxt_argument argument =
	        fxt_argument_string(agent_text("name"), fxt_string_inline(text, bytes));

	agent_instant("process", "alert", &argument, 1);
}

EXPORT void fxt_alert(const char *name)
{
	if (!name || !*name) /* nothing could wait for it */
		return;
	session_command_record_alert(name);
	if (!agent_session_command_may_come() || !agent_is_own_process() ||
	        !load_relaxed(&agent_engine.control->alerts_are_taken))
		return;
	for (int tries = 0; tries < ALERT_TRIES && !fxt_engine_send_alert(&agent_engine, name); tries++)
		sys_pause_ns(ALERT_PAUSE_NS);
}

/*
 * The steps of attaching and detaching (inject.h). Every way out releases all threads.
 */
#include "inject.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "image.h"
#include "launcher/preload.h"
#include "process.h"
#include "threads.h"
#include "writer/shared/clock.h"

#define SECOND_NS UINT64_C(1000000000)

/* Time for the other threads to stop, on a busy machine. */
#define STOP_NS (SECOND_NS / 2)
/* The agent is done in less, unless it waits for a lock of a stopped thread. */
#define CALL_NS (3 * SECOND_NS)
/* After this time, the stack need not be one that the unwinder can follow to its end. A
 * detach loads no library, so less can go wrong, and the recording goes on meanwhile. */
#define LATE_ATTACH_NS (FXT_INJECT_SECONDS * SECOND_NS / 2)
#define LATE_DETACH_NS (SECOND_NS / 2)
/* Pause before another try. */
#define PAUSE_NS 2000000L

struct injection {
	pid_t pid;
	const char *agent;
	const char *settings; /* NULL: detach */
	size_t settings_bytes;
	struct fxt_image_functions functions;
	struct fxt_threads threads;
	struct fxt_tracee *caller;
	struct fxt_waiting_list *waiting; /* NULL: detach */
	uint64_t late_ns, deadline_ns;    /* threads.h */
	char *error;
	size_t error_bytes;
};

enum outcome { DONE, FAILED, TRY_AGAIN };

static enum outcome inject_fail(struct injection *j, const char *text, const char *more)
{
	snprintf(j->error, j->error_bytes, "process %d %s%s", j->pid, text, more);
	return FAILED;
}

static enum outcome inject_ended(struct injection *j)
{
	return inject_fail(j, "has ended", "");
}

/* Waits for the end of a call as long as it takes. Nothing else can be done: a thread that
 * is taken out of a call may leave locks behind. */
static bool inject_await(struct injection *j, enum fxt_tracee_event event, enum fxt_tracee_event wanted)
{
	while (event == FXT_TRACEE_TIMED_OUT)
		event = fxt_tracee_wait(j->caller, SECOND_NS);
	return event == wanted;
}

/* Waits for the end of a call that begins by taking a lock of the loader. The thread that
 * has it may in turn wait for ours: then ours leaves the queue for the lock, which changes
 * nothing. Returns DONE, FAILED, or TRY_AGAIN in that case. */
static enum outcome inject_await_lock(
        struct injection *j, enum fxt_tracee_event event, enum fxt_tracee_event wanted)
{
	while (event == FXT_TRACEE_TIMED_OUT) {
		if (fxt_tracee_is_waiting(j->caller))
			return TRY_AGAIN;
		event = fxt_tracee_wait(j->caller, SECOND_NS);
	}
	return event == wanted ? DONE : inject_ended(j);
}

/* Fills in the reason why the library was not loaded. */
static enum outcome inject_describe_loading(struct injection *j)
{
	char text[512] = "unknown error";
	size_t bytes = sizeof(text) - 1;

	if (j->functions.error &&
	        inject_await(j, fxt_tracee_call(j->caller, j->functions.error, (uint64_t[6]){0}, CALL_NS),
	                FXT_TRACEE_RETURNED) &&
	        fxt_tracee_result(j->caller)) {
		while (bytes > 0 && !fxt_tracee_read(j->caller, fxt_tracee_result(j->caller), text, bytes))
			bytes /= 2; /* the text is at the end of what is mapped */
		text[bytes] = 0;
	}
	return inject_fail(j, "cannot load the agent: ", text);
}

static enum outcome inject_load(struct injection *j)
{
	const uint64_t arguments[6] = {j->caller->memory, RTLD_NOW | RTLD_GLOBAL | j->functions.open_flag};
	enum outcome outcome;

	if (!fxt_tracee_write(j->caller, j->caller->memory, j->agent, strlen(j->agent) + 1))
		return inject_ended(j);
	outcome = inject_await_lock(
	        j, fxt_tracee_call(j->caller, j->functions.open, arguments, CALL_NS), FXT_TRACEE_RETURNED);
	if (outcome != DONE)
		return outcome;
	return fxt_tracee_result(j->caller) ? DONE : inject_describe_loading(j);
}

/* Judges the value that the agent's function has returned. */
static enum outcome inject_judge(struct injection *j, int result)
{
	if (result == 0)
		return DONE;
	if (result == EAGAIN)
		return TRY_AGAIN;
	if (result == EALREADY)
		return inject_fail(
		        j, "is already attached to, by another fxtrun; fxtctl terminate ends that", "");
	if (result == EINVAL)
		return inject_fail(j, j->settings ? "is already traced by fxtrun" : "is not attached to", "");
	if (result == ECONNREFUSED)
		return inject_fail(j, "cannot reach fxtrun, or was refused", "");
	return inject_fail(j, "cannot be recorded: ", strerror(result));
}

/* Calls the agent while all threads are stopped. */
static enum outcome inject_call_agent(struct injection *j, uint64_t function)
{
	uint64_t arguments[6] = {0};
	enum fxt_tracee_event event;

	if (j->settings) {
		arguments[0] = j->caller->memory;
		arguments[1] = j->settings_bytes;
		if (!fxt_tracee_write(j->caller, arguments[0], j->settings, j->settings_bytes))
			return inject_ended(j);
	}
	event = fxt_tracee_call(j->caller, function, arguments, CALL_NS);
	/* It may wait for a lock that a stopped thread has. */
	if (event == FXT_TRACEE_TIMED_OUT)
		fxt_threads_release(&j->threads, j->caller);
	if (!inject_await(j, event, FXT_TRACEE_RETURNED))
		return inject_ended(j);
	return inject_judge(j, (int)fxt_tracee_result(j->caller));
}

/* Keeps the list of modules as it is while the agent runs. */
static enum outcome inject_with_modules(struct injection *j, uint64_t function)
{
	const uint64_t arguments[6] = {FXT_TRACEE_CALLBACK, 0};
	enum outcome outcome = inject_await_lock(j,
	        fxt_tracee_call(j->caller, j->functions.iterate, arguments, CALL_NS), FXT_TRACEE_CALLED_BACK);

	if (outcome != DONE)
		return outcome;
	outcome = TRY_AGAIN;
	if (fxt_threads_stop_others(&j->threads, j->caller, STOP_NS)) {
		outcome = inject_call_agent(j, function);
		fxt_threads_release(&j->threads, j->caller);
	}
	if (j->caller->state == FXT_TRACEE_STOPPED)
		inject_await(j, fxt_tracee_end_callback(j->caller, 1, CALL_NS), FXT_TRACEE_RETURNED);
	return outcome;
}

/* Everything that the calling thread does. */
static enum outcome inject_borrowed(struct injection *j)
{
	char path[PATH_MAX];
	uint64_t base, function;
	enum outcome outcome = DONE;

	if (j->settings && !fxt_image_find(j->pid, FXT_AGENT_FILE, path, &base))
		outcome = inject_load(j);
	if (outcome != DONE)
		return outcome;
	function = fxt_image_symbol(j->agent, j->settings ? "fxt_agent_attach" : "fxt_agent_detach");
	if (!function || !fxt_image_find(j->pid, FXT_AGENT_FILE, path, &base))
		return inject_fail(j, "has no agent that can be attached: ", j->agent);
	return inject_with_modules(j, base + function);
}

static enum outcome inject_once(struct injection *j)
{
	enum outcome outcome;
	int error;

	j->caller = fxt_threads_choose(&j->threads, j->late_ns, j->deadline_ns);
	if (!j->caller && j->threads.refusal) {
		fxt_process_describe_refusal(j->pid, j->threads.refusal, j->error, j->error_bytes);
		return FAILED;
	}
	if (!j->caller)
		return TRY_AGAIN;
	error = fxt_tracee_borrow(j->caller, j->functions.map);
	if (error) {
		fxt_tracee_release(j->caller);
		return inject_fail(j, "cannot make room for calls: ", strerror(error));
	}
	outcome = inject_borrowed(j);
	if (j->caller->state == FXT_TRACEE_STOPPED)
		fxt_tracee_give_back(j->caller, j->functions.unmap);
	fxt_tracee_release(j->caller);
	return outcome;
}

static int inject(struct injection *j)
{
	const char *wrong = fxt_image_functions_find(j->pid, &j->functions);
	enum outcome outcome = TRY_AGAIN;

	if (wrong) {
		inject_fail(j, wrong, "");
		return -1;
	}
	fxt_threads_init(&j->threads, j->pid);
	if (j->waiting)
		fxt_threads_note_waiting(&j->threads, j->waiting);
	j->late_ns = fxt_monotonic_ns() + (j->settings ? LATE_ATTACH_NS : LATE_DETACH_NS);
	j->deadline_ns = fxt_monotonic_ns() + FXT_INJECT_SECONDS * SECOND_NS;
	inject_fail(j, "was at no place where a library can be loaded, for 10 seconds; try again", "");
	while (outcome == TRY_AGAIN && fxt_monotonic_ns() < j->deadline_ns) {
		outcome = inject_once(j);
		fxt_threads_release(&j->threads, NULL);
		if (outcome == TRY_AGAIN)
			nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	if (j->waiting && outcome == DONE)
		fxt_waiting_name(j->waiting, j->threads.stacks);
	fxt_threads_free(&j->threads);
	return outcome == DONE ? 0 : -1;
}

int fxt_inject_attach(pid_t pid, const char *agent, const char *settings, size_t settings_bytes,
        struct fxt_waiting_list *waiting, char *error, size_t error_bytes)
{
	struct injection j = {.pid = pid,
	        .agent = agent,
	        .settings = settings,
	        .settings_bytes = settings_bytes,
	        .waiting = waiting,
	        .error = error,
	        .error_bytes = error_bytes};

	if (fxt_process_check(pid, agent, error, error_bytes) != 0)
		return -1;
	return inject(&j);
}

int fxt_inject_detach(pid_t pid, const char *agent, char *error, size_t error_bytes)
{
	struct injection j = {.pid = pid, .agent = agent, .error = error, .error_bytes = error_bytes};

	/* New threads would stop too, and the agent would wait for its own. */
	if (fxt_process_is_stopped(pid)) {
		inject_fail(&j, "is stopped; it is detached from when it goes on", "");
		return -1;
	}
	return inject(&j);
}

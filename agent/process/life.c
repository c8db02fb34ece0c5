/*
 * The life of the agent in a process, on the thread that starts or forks. Only this file
 * knows all the others and fixes the order in which they begin, forget and end. None of it
 * may run before the agent is relocated.
 *
 *   start   The constructor, or an earlier caller (self.h), connects to the manager or
 *           begins a standalone recording, starts the engine, and carries out the command
 *           that it finds. A new image after exec finds the agent by its environment
 *           (exec.h) and starts in the same way.
 *   fork    The child starts anew at its first call, from zeros that the kernel left it
 *           (writer/engine/engine.h): all files forget, in order, and the engine starts
 *           anew. The child inherits the calls that it was forked in (inherited.h).
 *   late    A launcher loads the agent into a running process (attach.h). Its constructor only
 *           prepares; agent_life_attach() starts. agent_life_detach() leaves the process as
 *           it was, with the engine in the state of a forked child that never starts anew.
 *   end     The end needs no help: a manager takes the rest from shared memory. A
 *           standalone recording writes its file (standalone.h).
 *
 * Only the loader and the program call functions of this file. Lower files that must cause
 * something here use what the constructor registers: agent_register_rebirth(),
 * agent_helper_prepare().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/hook/events.h"
#include "environment.h"
#include "agent/patch/changes.h"
#include "agent/patch/code.h"
#include "agent/patch/stopped.h"
#include "agent/patch/patch.h"
#include "agent/patch/probes.h"
#include "agent/interpose/exec.h"
#include "agent/interpose/fatal_signals.h"
#include "agent/interpose/lock_lives.h"
#include "agent/interpose/connections.h"
#include "agent/interpose/logs.h"
#include "agent/hook/finstrument.h"
#include "handshake.h"
#include "agent/heap/heap.h"
#include "agent/heap/heap_state.h"
#include "helper.h"
#include "life.h"
#include "load.h"
#include "agent/hook/inherited.h"
#include "agent/hook/sources.h"
#include "agent/base/libc.h"
#include "modules.h"
#include "agent/base/notice.h"
#include "agent/interpose/process_exit.h"
#include "agent/interpose/pthreads.h"
#include "agent/base/real.h"
#include "agent/hook/said.h"
#include "session_command.h"
#include "agent/hook/stacks.h"
#include "standalone.h"
#include "unload.h"
#include "agent/base/symbols.h"
#include "agent/interpose/sync.h"

/* Copied from the environment at birth: the program may change it later, and a forked child
 * may be inside a hook, where getenv() must not be called. */
static char socket_path[128];
static char output_path[4096];

/* The memory of this process, or of the nearest parent that has one: forked children have
 * it mapped until they have their own in its place. */
static struct agent_memory memory;

/* A launcher has ended the recording of this process, or of the parent that forked it. */
static bool is_detached;

#define HEARTBEAT_POLLS   100
#define HEARTBEAT_POLL_NS UINT64_C(10000000)

/* A forked child that cannot reach the manager is counted in the session's common memory:
 * the manager may not know that there is such a child. */
static void life_count_untraced(void)
{
	if (agent_untraced)
		add_relaxed(agent_untraced, 1);
}

static bool life_connect(bool is_new_image)
{
	enum agent_connection connection = agent_connect(socket_path, is_new_image, &memory);

	if (connection == AGENT_UNREACHED)
		life_count_untraced();
	return connection == AGENT_CONNECTED;
}

/* Gets memory and starts the engine on it, with all signals blocked. False: the process
 * runs untraced. */
static bool life_begin_engine(const char *name, bool is_new_image)
{
	agent_is_standalone = socket_path[0] == 0;
	if (!agent_may_read_clock()) { /* its parent or earlier image gave it up */
		life_count_untraced();
		if (is_new_image)
			agent_notice(
			        "the program may not read the clock (PR_SET_TSC); running untraced", NULL);
		return false;
	}
	if (sys_membarrier_register() < 0) {
		agent_notice("this kernel lacks membarrier (Linux 4.14); running untraced", NULL);
		return false;
	}
	if (agent_is_standalone ? !agent_standalone_prepare(output_path, !is_new_image, &memory)
	                        : !life_connect(is_new_image))
		return false;
	if (fxt_engine_initialize(
	            &agent_engine, memory.buffer, memory.buffer_bytes, memory.map.control, name) != 0) {
		agent_notice("no memory for the trace; running untraced", NULL);
		/* in a child, a hook of the parent's that continues may use this memory */
		if (is_new_image)
			agent_memory_unmap(&memory);
		return false;
	}
	agent_engine.map = &memory.map;
	agent_untraced = memory.common ? &memory.common->untraced : NULL;
	return true;
}

/* The engine is set up: carries out the session command that is there, and has the helper
 * carry out the later ones. */
static void life_begin_session(void)
{
	agent_helper_prepare(agent_is_standalone ? agent_standalone_job() : agent_session_command_job());
	agent_session_command_carry_out();
	agent_sources_follow_recording(false);
	agent_set_begun();
	if (!agent_is_standalone)
		agent_helper_start();
}

/* ---- fork ---- */

/* A forked child forgets by these steps, in this order. */
static void (*const forget[])(void) = {
        /* First: from here on the child records nothing in its parent's memory. */
        agent_heap_forget,
        agent_said_forget,
        agent_log_forget,
        agent_inherited_look,
        agent_self_forget,
        agent_coroutines_forget,
        agent_helper_forget,
        agent_sync_forget,
        agent_lock_lives_forget,
        agent_session_command_forget,
};

/* In a forked child that may continue a hook of its parent's: gives that hook memory of
 * the child's own. */
static void life_detach(void)
{
	if (!agent_memory_detach(&memory))
		return;
	/* This also frees a lock that another thread of the parent may have held. */
	agent_coroutines_forget();
	fxt_engine_detach(&agent_engine);
}

static void life_begin_anew(void)
{
	uint64_t mask = sys_block_signals();
	static char comm[16];

	/* Another thread of the child may have done this since the caller looked. Then the
	 * child has its own engine, or it has none and its hooks are quiet. */
	if (fxt_engine_was_forked(&agent_engine) && !is_detached) {
		agent_set_recording(AGENT_QUIET);
		memory.is_buffer_left = agent_continues_hook();
		for (size_t i = 0; i < sizeof(forget) / sizeof(*forget); i++)
			forget[i]();
		sys_call(SYS_prctl, 16 /* PR_GET_NAME */, comm, 0, 0);
		if (load_relaxed(&sys_confinement) != SYS_FREE || !agent_patch_undo_inherited()) {
			life_count_untraced();
		} else if (life_begin_engine(comm, false)) {
			agent_modules_record_known();
			agent_heap_inherit();
			life_begin_session();
		}
	}
	sys_restore_signals(mask);
	agent_inherit();
}

static void life_after_fork(uint64_t begin, const char *how, pid_t child)
{
	if (child > 0)
		agent_record_child(begin, how, child);
	/* The children of an unrecorded process are unrecorded. */
	if (child == 0 && agent_engine.state == FXT_ENGINE_NONE)
		life_count_untraced();
	/* If no calls are recorded, or hook calls are patched, no hook would notice that
	 * the child is a process of its own. The child must still get the next start and
	 * other filters. */
	if (child == 0 && (!agent_records_calls() || agent_patch_sites()) && agent_session_command_may_come())
		agent_rebirth();
}

EXPORT pid_t fork(void)
{
	uint64_t begin = agent_slice_begin("process");
	pid_t child = REAL(fork)();

	life_after_fork(begin, "fork", child);
	return child;
}

/* The fork for signal handlers: libc calls no fork handlers there. */
EXPORT pid_t _Fork(void)
{
	uint64_t begin = agent_slice_begin("process");
	pid_t child;

	agent_heap_before_fork();
	agent_inherited_before_fork();
	child = REAL(_Fork)();
	if (child == 0) {
		agent_inherited_in_child();
	} else {
		agent_inherited_in_parent();
		agent_heap_in_parent();
	}
	life_after_fork(begin, "_Fork", child);
	return child;
}

/* ---- start ---- */

/* The path that the loader gave to our constructor. */
static const char *program_path;

/* The name under which the program was called. */
static const char *life_name(void)
{
	static char comm[16];
	const char *slash = program_path ? strrchr(program_path, '/') : NULL;

	if (program_path)
		return slash ? slash + 1 : program_path;
	sys_call(SYS_prctl, 16 /* PR_GET_NAME */, comm, 0, 0);
	return *program_invocation_short_name ? program_invocation_short_name : comm;
}

/* A sanitizer interposes functions of libc that are called from here, and may not have
 * begun yet. */
static void life_begin_sanitizers(void)
{
	static const char *const names[] = {
	        "__asan_init", "__tsan_init", "__msan_init", "__hwasan_init", "__lsan_init"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *function = agent_program_symbol(names[i]);

		if (function)
			((void (*)(void))function)();
	}
}

/* Prepares everything that the first recording needs. */
static void life_prepare(void)
{
	real_functions();
	agent_said_begin(agent_rename_self, fxt_alert);
	agent_libc_prepare(agent_libc_symbol("clock_gettime"));
	agent_register_rebirth(life_begin_anew, life_detach);
	agent_finstrument_prepare();
}

/* Handlers that stay as long as the process. */
static void life_register_handlers(void)
{
	agent_pthreads_prepare();
	agent_inherited_prepare();
	agent_process_exit_prepare();
}

static void life_set_job(void)
{
	const struct fxt_job job = fxt_job_find(agent_getenv);

	fxt_engine_set_job(&job);
}

static void life_begin(void)
{
	uint64_t mask;
	const char *path, *output;

	life_begin_sanitizers();
	path = agent_environment_hide(agent_getenv(FXT_SOCKET_ENVIRONMENT));
	output = agent_getenv(FXT_OUTPUT_ENVIRONMENT);
	life_prepare();
	if (path && strcmp(path, FXT_CONFINED) == 0) {
		agent_set_recording(AGENT_QUIET);
		return;
	}
	mask = sys_block_signals();
	life_set_job();
	if (path && strlen(path) < sizeof(socket_path))
		strcpy(socket_path, path);
	if (output && strlen(output) < sizeof(output_path))
		strcpy(output_path, output);
	if (!path) {
		agent_standalone_heap(
		        agent_getenv(FXT_HEAP_ENVIRONMENT), agent_getenv(FXT_HEAP_STACKS_ENVIRONMENT));
		agent_standalone_refuse_filters();
	}
	if (life_begin_engine(life_name(), true)) {
		agent_set_main_stack();
		if (!agent_is_standalone)
			agent_environment_prepare(socket_path);
		life_register_handlers();
		agent_sync_prepare();
		agent_fatal_signals_prepare();
		agent_log_prepare();
		agent_connections_prepare();
		agent_modules_record_all();
		agent_load_prepare();
		agent_heap_prepare();
		life_begin_session();
	} else {
		agent_set_recording(AGENT_QUIET);
	}
	agent_libc_forget_environment();
	sys_restore_signals(mask);
}

/* The loader calls this before any other constructor (-z initfirst), unless an object that
 * was loaded later has that place. */
__attribute__((constructor(101))) static void life_start(int count, char **arguments, char **environment)
{
	program_path = count > 0 ? arguments[0] : NULL;
	agent_libc_set_environment(environment);
	if (!agent_is_late()) {
		agent_begin(true);
		return;
	}
	/* At an attach the other threads are stopped, and may hold locks that these take. */
	life_prepare();
	life_register_handlers();
	agent_environment_find_agent();
}

/* ---- late ---- */

/* Forgets the recording that a detach has ended, as a forked child forgets its parent's.
 * All threads have left their hooks by then. */
static void life_forget_attached(void)
{
	agent_self.forks_outside = true; /* no hook continues */
	memory.is_buffer_left = false;
	for (size_t i = 0; i < sizeof(forget) / sizeof(*forget); i++)
		forget[i]();
	agent_unload_patches();
}

static void life_look_at_threads(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	int kept;

	if (agent_code_open_for_now(&kept)) {
		agent_stopped_look();
		agent_changes_repeat();
		agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

static void life_record_modules(void)
{
	static bool is_known;

	if (!is_known) {
		is_known = true;
		agent_modules_record_all();
	} else {
		agent_modules_renew(agent_unload_code);
		agent_modules_record_known();
	}
}

/* Whether the manager's heartbeat stands still for a second. */
static bool life_manager_is_gone(void)
{
	uint32_t beat = load_relaxed(&agent_engine.control->heartbeat);

	for (unsigned polls = 0; polls < HEARTBEAT_POLLS; polls++) {
		if (load_relaxed(&agent_engine.control->heartbeat) != beat)
			return false;
		sys_pause_ns(HEARTBEAT_POLL_NS);
	}
	return true;
}

/* Detaches from a manager that was killed together with all processes that would have
 * detached for it. */
static int life_leave_dead_manager(void)
{
	if (agent_engine.state == FXT_ENGINE_NONE || is_detached)
		return 0;
	return agent_is_late() && life_manager_is_gone() ? agent_life_detach() : EALREADY;
}

int agent_life_attach(const char *socket)
{
	int error;

	if (strlen(socket) >= sizeof(socket_path))
		return EINVAL;
	error = life_leave_dead_manager();
	if (error)
		return error;
	strcpy(socket_path, socket);
	if (is_detached)
		life_forget_attached();
	is_detached = false;
	life_set_job();
	store_release(&agent_has_begun, 1);
	agent_set_recording(AGENT_QUIET);
	agent_note_threads();
	if (!life_begin_engine(life_name(), true))
		return ECONNREFUSED;
	if (sys_gettid() == agent_engine.pid)
		agent_set_main_stack();
	agent_environment_prepare(socket_path);
	agent_sync_prepare();
	agent_fatal_signals_prepare();
	agent_log_prepare();
	agent_connections_prepare();
	life_record_modules();
	life_look_at_threads();
	agent_load_prepare();
	agent_stopped_forget();
	agent_heap_prepare();
	life_begin_session();
	return 0;
}

/* False: a stopped thread holds the engine's lock, or is in the middle of changed code. */
static bool life_may_detach(void)
{
	uint64_t mask;
	bool may_detach = false;
	int kept;

	if (!fxt_try_lock(&agent_engine.lock, &mask))
		return false;
	if (agent_code_open_for_now(&kept)) {
		agent_stopped_look();
		may_detach = !agent_changes_are_entered();
		agent_code_close_again(kept);
	}
	agent_stopped_forget();
	fxt_unlock(&agent_engine.lock, mask);
	return may_detach;
}

static void life_put_back(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	int kept;

	if (agent_code_open_for_now(&kept)) {
		agent_changes_put_back();
		agent_forget_threads(agent_code_read, agent_code_write_bytes);
		agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

int agent_life_detach(void)
{
	if (agent_engine.state == FXT_ENGINE_NONE || is_detached || !agent_is_late() ||
	        fxt_engine_was_forked(&agent_engine))
		return EINVAL;
	if (!agent_helper_dismiss())
		return EAGAIN;
	if (!life_may_detach()) {
		agent_helper_start();
		return EAGAIN;
	}
	agent_set_recording(AGENT_QUIET);
	agent_said_follow();
	agent_probes_follow();
	agent_sources_follow_recording(false);
	agent_heap_end();
	agent_log_end();
	fxt_engine_stop(&agent_engine);
	agent_fatal_signals_withdraw();
	agent_environment_forget();
	life_put_back();
	is_detached = true;
	fxt_engine_wipe(&agent_engine);
	life_detach();
	return 0;
}

/* Lets a function that is called before the constructor begin the agent. Once the loader
 * has relocated the agent, it calls the resolver of this function, which registers
 * life_begin(). The function itself is never called. */
static void life_nothing(void)
{
}

static __attribute__((used)) void (*life_resolve(void))(void)
{
	agent_register_beginning(life_begin);
	return life_nothing;
}

/* Not static: clang exports a static one. */
HIDDEN void life_at_relocation(void) __attribute__((ifunc("life_resolve")));
static void (*const volatile at_relocation)(void) __attribute__((used)) = life_at_relocation;

/* A recording without a manager (standalone.h). Buffers are saved on the helper thread, and
 * the rest at exit on the thread that exits. It must use neither malloc nor stdio, and the
 * program must not notice the child that symbolizes the file. */
#include "standalone.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "agent/heap/heap_state.h"
#include "agent/base/libc.h"
#include "agent/base/notice.h"
#include "agent/base/real.h"
#include "trace_file.h"
#include "writer/format/anchor.h"
#include "writer/collect/collect.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/engine/heap.h"
#include "writer/engine/last_thread.h"

#define BUFFER_BYTES      (UINT64_C(64) << 20)
#define CALIBRATION_NS    UINT64_C(4000000)
#define PATH_BYTES        4096
#define CHILD_STACK_BYTES (32 << 10)
/* The time between heartbeats. Waiting hooks look at the heartbeat. */
#define IDLE_NS UINT64_C(100000000)

static struct {
	char name[FXT_NAME_BYTES];
	struct fxt_clock_pair born;
	struct fxt_anchor anchor; /* of that moment */
	struct fxt_collector collector;
} standalone;

/* The heap settings. They are kept apart from the above because forked children keep
 * them. */
static struct {
	enum fxt_heap_mode mode;
	enum fxt_heap_stacks stacks;
	uint64_t sample_bytes;
} heap = {.mode = FXT_HEAP_AUTO};

/* ---- the file ---- */

/* The collector's sink. */
static int standalone_emit(void *context, const void *records, uint64_t bytes)
{
	(void)context;
	agent_trace_file_append(records, bytes);
	return 0;
}

static bool standalone_open(void)
{
	uint64_t head[32];
	size_t words;

	if (!agent_trace_file_open())
		return false;
	if (agent_trace_file_bytes() == 0) {
		words = fxt_put_magic(head, 32);
		words += fxt_put_provider_info(head + words, 32 - words, 1, standalone.name,
		        strnlen(standalone.name, FXT_NAME_BYTES));
		agent_trace_file_append(head, words * 8);
	}
	return true;
}

/* ---- birth ---- */

void agent_standalone_heap(const char *mode, const char *stacks)
{
	const char *problem = mode ? fxt_heap_mode_read(mode, &heap.mode, &heap.sample_bytes) : NULL;

	if (problem)
		agent_notice(FXT_HEAP_ENVIRONMENT "=", mode, ": ", problem, NULL);
	problem = stacks ? fxt_heap_stacks_read(stacks, &heap.stacks) : NULL;
	if (problem)
		agent_notice(FXT_HEAP_STACKS_ENVIRONMENT "=", stacks, ": ", problem, NULL);
}

void agent_standalone_refuse_filters(void)
{
	static const char *const names[] = {"FXT_INCLUDE", "FXT_EXCLUDE", "FXT_FILTER_FILE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (agent_getenv(names[i])) {
			agent_notice(names[i],
			        " needs fxtrun, which knows the names of functions (fxtrun --include, "
			        "--exclude); all are recorded",
			        NULL);
			return;
		}
}

bool agent_standalone_prepare(const char *output, bool is_forked, struct agent_memory *memory)
{
	enum fxt_clock_kind clock = fxt_clock_choose();
	struct fxt_control *control;

	memset(&standalone, 0, sizeof(standalone));
	if (!agent_trace_file_choose(output, is_forked))
		return false;
	standalone.anchor = fxt_anchor_read(clock);
	standalone.born = fxt_clock_read_pair(clock);
	if (clock == FXT_CLOCK_COUNTER)
		sys_pause_ns(CALIBRATION_NS);
	if (!agent_memory_map(memory, BUFFER_BYTES, false, -1, -1))
		return false;
	control = memory->map.control;
	control->version = FXT_SHARED_VERSION;
	control->buffering_mode = FXT_STREAMING;
	control->on_full = FXT_ON_FULL_BLOCK;
	control->clock_kind = clock;
	control->ticks_per_second = fxt_clock_rate(clock, standalone.born, fxt_clock_read_pair(clock));
	control->process_koid = (uint64_t)sys_getpid();
	control->provider_id = 1;
	control->heap_mode = heap.mode;
	control->heap_stacks = heap.stacks;
	control->heap_sample_bytes = heap.sample_bytes;
	control->session_command = fxt_session_command_next(0, FXT_COMMAND_START, FXT_START_RETAIN);
	store_release(&control->magic, FXT_CONTROL_MAGIC);
	char comm[16] = "";

	sys_call(SYS_prctl, 16 /* PR_GET_NAME */, comm, 0, 0);
	memset(standalone.name, 0, sizeof(standalone.name));
	fxt_escape(standalone.name, sizeof(standalone.name), comm, strlen(comm));
	fxt_collector_init(
	        &standalone.collector, memory->buffer, BUFFER_BYTES, control, standalone_emit, NULL);
	/* Reserved early: address space may be limited at the end, which is too late to
	 * find out. */
	return fxt_collector_reserve(&standalone.collector) == 0;
}

/* ---- saving ---- */

/* Writes the counters of the live heap. They have no initialization record of their own
 * (`begun`): the file has one already, which standalone_patch_rate() finds by its place. */
static void standalone_write_heap_counters(bool is_last)
{
	static struct fxt_heap_counters counters;
	const struct fxt_control *control = agent_engine.control;
	uint64_t record[FXT_HEAP_COUNTERS_WORDS], words;

	counters.begun = true;
	words = is_last ? fxt_heap_counters_put(&counters, control, control->process_koid,
	                          fxt_clock_ticks(agent_engine.clock), record)
	                : fxt_heap_counters_due(&counters, control, control->process_koid, record);
	if (words)
		agent_trace_file_append(record, words * 8);
}

/* Saves one full buffer, in the helper thread. True: there was one. */
static bool standalone_save(void)
{
	struct fxt_ring *in = &agent_engine.control->to_manager, *out = &agent_engine.control->to_provider;
	struct fxt_packet packet;

	if (load_acquire(&in->written) == in->read)
		return false;
	packet = in->packet[in->read % FXT_FIFO_DEPTH];
	store_release(&in->read, in->read + 1);
	if (packet.request != FXT_PROVIDER_SAVE_BUFFER)
		return true;
	if (standalone_open()) {
		fxt_collect_saved_buffer(&standalone.collector, &packet);
		standalone_write_heap_counters(false);
		agent_trace_file_close();
	}
	packet.request = FXT_PROVIDER_BUFFER_SAVED;
	out->packet[out->written % FXT_FIFO_DEPTH] = packet;
	store_release(&out->written, out->written + 1);
	sys_futex_wake(&out->written, INT32_MAX);
	return true;
}

static bool standalone_work(void)
{
	struct fxt_control *control = agent_engine.control;

	store_relaxed(&control->heartbeat, control->heartbeat + 1);
	fxt_last_thread_look(control, 0);
	return standalone_save();
}

/* The job lasts until the end of the process. */
static bool standalone_is_over(void)
{
	return false;
}

struct agent_helper_job agent_standalone_job(void)
{
	return (struct agent_helper_job){
	        .wakeup = &agent_engine.control->to_manager.written,
	        .work = standalone_work,
	        .is_over = standalone_is_over,
	        .idle_ns = IDLE_NS,
	};
}

/* The rate over the whole run is more exact. The initialization record is the first one
 * behind the head. */
static void standalone_patch_rate(void)
{
	enum fxt_clock_kind clock = agent_engine.clock;
	struct fxt_clock_pair now = fxt_clock_read_pair(clock);
	uint64_t rate = fxt_clock_rate(clock, standalone.born, now);
	uint64_t at = 8 + 8 + fxt_words(strnlen(standalone.name, FXT_NAME_BYTES)) * 8 + 8;

	if (now.ns - standalone.born.ns > 2 * CALIBRATION_NS)
		agent_trace_file_patch(at, &rate, sizeof(rate));
}

/* Both are written at the end, because the first initialization record is found by its
 * place. */
static void standalone_write_anchors(void)
{
	const struct fxt_anchor last = fxt_anchor_read(agent_engine.clock);
	uint64_t records[2 * FXT_ANCHOR_WORDS];
	size_t words = fxt_put_anchor(records, FXT_ANCHOR_WORDS, &standalone.anchor);

	words += fxt_put_anchor(records + words, FXT_ANCHOR_WORDS, &last);
	agent_trace_file_append(records, words * 8);
}

/* ---- symbolizing ---- */

/* Runs a child that shares our memory while we wait for it, on a stack of its own. `signal`
 * is the one that the child's end raises in its parent; 0 = none. */
static void standalone_run(int (*function)(void *), uint8_t *stack, int signal, char **argv)
{
	int status, child = REAL(clone)(
	                    function, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | signal, argv);

	/* __WALL: otherwise a child that raises no signal is not waited for. */
	while (child > 0 && sys_call(SYS_wait4, child, &status, __WALL, 0) == -EINTR)
		;
}

static int standalone_run_fxt(void *argument)
{
	char **argv = argument;
	static char *const environment[] = {NULL}; /* ours would record the tool too */
	uint64_t none = 0;

	sys_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &none, 0, sizeof(none));
	sys_call(SYS_execve, argv[0], argv, environment, 0);
	sys_call(SYS_exit_group, 127, 0, 0, 0);
	return 127;
}

/* The tool's parent, between the program and the tool. The kernel has every new image raise
 * SIGCHLD at its end, whatever its clone requested. The program's handler and its wait()
 * must not notice the tool. */
static int standalone_run_parent(void *argument)
{
	static uint8_t stack[CHILD_STACK_BYTES] __attribute__((aligned(16)));

	standalone_run(standalone_run_fxt, stack, SIGCHLD, argument);
	sys_call(SYS_exit_group, 0, 0, 0, 0);
	return 0;
}

/* Finds the tool beside the library, or in the bin beside its lib. */
static bool standalone_find_fxt(char path[PATH_BYTES])
{
	static const char *const places[] = {"fxt", "../bin/fxt", "../../bin/fxt"};
	Dl_info info;
	size_t length;

	if (!dladdr(&agent_engine, &info) || !info.dli_fname || info.dli_fname[0] != '/')
		return false;
	length = (size_t)(strrchr(info.dli_fname, '/') - info.dli_fname) + 1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && length + 16 < PATH_BYTES; i++) {
		memcpy(path, info.dli_fname, length);
		strcpy(path + length, places[i]);
		if (sys_call(SYS_faccessat, AT_FDCWD, path, 1 /* X_OK */, 0) == 0)
			return true;
	}
	return false;
}

static void standalone_symbolize(void)
{
	static char tool[PATH_BYTES];
	static uint8_t stack[CHILD_STACK_BYTES] __attribute__((aligned(16)));
	char *argv[] = {tool, "symbolize", agent_trace_file_path(), NULL};
	uint64_t mask;

	if (!standalone_find_fxt(tool))
		return;
	mask = sys_block_signals(); /* else a handler of the program could run in the child */
	standalone_run(standalone_run_parent, stack, 0, argv);
	sys_restore_signals(mask);
}

static void standalone_finish(void)
{
	struct fxt_engine *e = &agent_engine;

	agent_helper_stop();
	fxt_engine_stop(e);
	while (standalone_save())
		;
	/* A process without recorded calls, perhaps the shell before an exec, leaves no
	 * file. */
	if (e->control->threads == 0 || !standalone_open())
		return;
	fxt_collect_rest(&standalone.collector, FXT_ENDED_NORMALLY, fxt_clock_ticks(e->clock));
	standalone_write_heap_counters(true);
	standalone_write_anchors();
	standalone_patch_rate();
	agent_trace_file_close();
	if (!agent_trace_file_failed())
		standalone_symbolize();
}

void agent_standalone_end(void)
{
	if (!agent_is_standalone || !load_relaxed(&agent_recording))
		return;
	agent_set_recording(AGENT_QUIET);
	agent_heap_end();
	standalone_finish();
}

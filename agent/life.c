#include "self.h"
#include "heap.h"
#include "exec.h"
#include "real.h"
#include "shadow.h"
#include "stacks.h"
#include "sync.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__thread struct agent_self agent_self;
struct fxt_engine agent_engine;
int32_t agent_recording;

/* Taken from the environment at birth: the program may change it later, and a forked child may not look. */
static char socket_path[128];
static char output_path[4096];

void agent_notice(const char *piece, ...)
{
	char line[512] = "fxt: ";
	size_t length = 5;
	va_list list;

	va_start(list, piece);
	for (; piece; piece = va_arg(list, const char *)) {
		size_t bytes = strnlen(piece, sizeof(line) - 1 - length);

		memcpy(line + length, piece, bytes);
		length += bytes;
	}
	va_end(list);
	line[length++] = '\n';
	sys_call(SYS_write, 2, line, length, 0);
}

const char *agent_number(char buffer[24], uint64_t number)
{
	char *digit = buffer + 23;

	*digit = 0;
	do
		*--digit = (char)('0' + number % 10);
	while (number /= 10);
	return digit;
}

struct fxt_block *agent_attach(void)
{
	uint64_t mask;

	if (load_relaxed(&sys_confinement) != SYS_FREE && !agent_self.block) { /* its id is not to be had */
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return NULL;
	}
	/* A handler that came between taking the slot and noting it would take another. */
	mask = sys_block_signals();
	if (!agent_self.block) {
		struct fxt_block *block = fxt_thread_attach(&agent_engine);

		if (block) {
			agent_self.slot = fxt_slot(&agent_engine, block->number);
			if (!agent_self.stack_bytes)
				agent_stack_is(0, UINT64_MAX, 0);
			set_sentinel(agent_self.slot, agent_self.stack_bytes);
			agent_self.block = block;
		}
	}
	sys_restore_signals(mask);
	return agent_self.block;
}

/* With all signals blocked: gets memory and starts the engine on it. False: the process runs untraced. */
static bool begin(const char *name, bool is_new_image)
{
	struct agent_memory memory;

	agent_is_standalone = socket_path[0] == 0;
	if (sys_membarrier_register() < 0) {
		agent_notice("this kernel lacks membarrier (Linux 4.14); running untraced", NULL);
		return false;
	}
	if (agent_is_standalone ? !agent_standalone_prepare(output_path, &memory)
	                        : !agent_connect(socket_path, is_new_image, &memory))
		return false;
	return fxt_engine_initialize(
	               &agent_engine, memory.buffer, memory.buffer_bytes, memory.control, name) == 0;
}

/* The engine is set up: does as it is told, now and from now on. */
static void live(void)
{
	agent_obey();
	if (!agent_is_standalone)
		agent_helper_start();
}

void agent_reborn(void)
{
	uint64_t mask = sys_block_signals();
	static char comm[16];

	/* Another thread of the child may have been here: then the marker is set again, or hooks are quiet.
	 */
	if (fxt_engine_was_forked(&agent_engine)) {
		store_relaxed(&agent_recording, AGENT_QUIET);
		agent_heap_forget();
		memset(&agent_engine, 0, sizeof(agent_engine));
		agent_self.block = agent_self.nested = NULL;
		agent_coroutines_forget();
		agent_helper_forget();
		agent_sync_forget();
		agent_orders_forget();
		sys_call(SYS_prctl, 16 /* PR_GET_NAME */, comm, 0, 0);
		if (load_relaxed(&sys_confinement) == SYS_FREE && begin(comm, false)) {
			agent_modules_record_known();
			live();
		}
	}
	sys_restore_signals(mask);
}

/* Priority 101: among the first, so that the program's own constructors are recorded. */
__attribute__((constructor(101))) static void birth(void)
{
	const char *path = getenv(FXT_SOCKET_ENVIRONMENT), *output = getenv(FXT_OUTPUT_ENVIRONMENT);
	uint64_t mask;

	real_functions();
	agent_libc_prepare();
	if (path && strcmp(path, FXT_CONFINED) == 0)
		return;
	mask = sys_block_signals();
	if (path && strlen(path) < sizeof(socket_path))
		strcpy(socket_path, path);
	if (output && strlen(output) < sizeof(output_path))
		strcpy(output_path, output);
	if (!path)
		agent_standalone_heap(getenv(FXT_HEAP_ENVIRONMENT), getenv(FXT_HEAP_STACKS_ENVIRONMENT));
	if (begin(program_invocation_short_name, true)) {
		agent_stack_is_main();
		if (!agent_is_standalone)
			agent_process_prepare(socket_path);
		agent_threads_prepare();
		agent_sync_prepare();
		agent_ends_prepare();
		agent_modules_record_all();
		agent_heap_prepare();
		live();
	}
	sys_restore_signals(mask);
}

void agent_end_standalone(void)
{
	if (!agent_is_standalone || !load_relaxed(&agent_recording))
		return;
	store_relaxed(&agent_recording, AGENT_QUIET);
	agent_heap_end();
	agent_standalone_finish();
}

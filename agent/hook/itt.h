/*
 * The collector for programs that call Intel's ITT API (tasks, frames, counters). Their part
 * of ittnotify asks getenv() for INTEL_LIBITTNOTIFY64. The agent answers with its own path
 * (agent/interpose/collector.c). The part loads that library and calls __itt_api_init() in
 * it, which fills in the program's pointers. Other programs never call it.
 *
 *     __itt_task_begin, _end              a duration of the thread
 *     __itt_task_begin_overlapped, _end   an async duration, and so are regions and frames
 *     __itt_counter_...                   a counter
 *     __itt_marker                        an instant
 *     __itt_thread_set_name               the thread's name
 *     __itt_metadata_add, _str_add        an instant in the task, with the name of the key
 *
 * The category is the name of the domain. Domains, string handles and counters that the
 * program's part made before it loaded the library have the same members as ours.
 */
#ifndef FXT_AGENT_ITT_H
#define FXT_AGENT_ITT_H

#include "agent/base/attributes.h"

/* A function of the API. The program calls it through `pointer`, which is `none` without a
 * collector. */
struct itt_function {
	const char *name; /* NULL: the last one */
	void **pointer;
	void *first, *none;
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	long state[3];
	char mutex[40];
	void *library, *error_handler;
	const char **path;
	struct itt_function *functions;
};

EXPORT void __itt_api_init(struct itt_global *program, int groups);

#endif

/*
 * One CPU, as the kernel tells of it: which thread runs there, since when. What happens to threads that are
 * in the trace, while recording is on, goes into a log of context switches.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_CPU_H
#define FXT_LAUNCHER_SCHED_SCHED_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include "perf.h"
#include "sched_registry.h"
#include "switch_log.h"

struct fxt_sched_cpu {
	/* Set before its first use. */
	uint16_t number;
	struct fxt_switch_log *log;
	struct fxt_sched_news *news;

	uint32_t pid, tid;
	bool running;
	bool told;      /* its coming is in the log, or is not to be */
	uint64_t since; /* ticks */
	uint64_t koid;  /* once told; 0 = not of the trace */
	uint64_t place; /* of that in the log */

	bool recording;
	uint32_t orders; /* obeyed so far */
};

/* The next that happened on this CPU, at `ticks`. */
void fxt_sched_cpu_take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *record, uint64_t ticks);

/* Nothing more happened until then. */
void fxt_sched_cpu_reached(struct fxt_sched_cpu *cpu, uint64_t ticks);

/* Whether a thread of the trace runs that came before all that the log still holds; then *switch_in is how.
 */
bool fxt_sched_cpu_is_older(const struct fxt_sched_cpu *cpu, struct fxt_switch *switch_in);

#endif

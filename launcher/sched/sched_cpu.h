/*
 * One CPU, as the kernel reports it: which thread runs there, and since when. Switches of threads that are in
 * the trace, while recording is on, go into a log of context switches.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_CPU_H
#define FXT_LAUNCHER_SCHED_SCHED_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include "perf.h"
#include "sched_registry.h"
#include "sched_log.h"

struct fxt_sched_cpu {
	/* Set before its first use. */
	uint16_t number;
	struct fxt_sched_log *log;
	struct fxt_sched_registry *registry;

	uint32_t pid, tid;
	bool running;
	bool logged;    /* the log has the switch-in of the thread that runs, or must not get it any more */
	uint64_t since; /* ticks: when it came, or became part of the trace while it ran */
	uint64_t koid;  /* of the thread that runs, once that is logged; 0: it is not in the trace */
	uint64_t log_number; /* of its switch-in in the log */

	bool recording;
	uint64_t latest;        /* ticks of the latest record */
	uint32_t commands_done; /* of the registry's, carried out on this CPU so far */
};

/* Takes the next record of this CPU, whose time is `ticks`. */
void fxt_sched_cpu_take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *record, uint64_t ticks);

/* The CPU has no more records from before `ticks`: carries out the commands given until then, and logs the
 * thread that runs, if it records by now. */
void fxt_sched_cpu_reached(struct fxt_sched_cpu *cpu, uint64_t ticks);

/* Whether a thread of the trace runs whose switch-in the log has dropped for later ones; then *switch_in is
 * that switch. */
bool fxt_sched_cpu_is_older(const struct fxt_sched_cpu *cpu, struct fxt_sched_event *switch_in);

#endif

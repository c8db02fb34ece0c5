/*
 * One CPU, as the kernel reports it: the thread that runs there, and since when. Switches
 * of threads in the trace go into a log of context switches while recording is on.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_CPU_H
#define FXT_LAUNCHER_SCHED_SCHED_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include "perf.h"
#include "sched_blocked.h"
#include "sched_registry.h"
#include "sched_log.h"

struct fxt_sched_cpu {
	/* Set before its first use. */
	uint16_t number;
	struct fxt_sched_log *log;
	struct fxt_sched_registry *registry;
	struct fxt_sched_blocked *blocked; /* learns who waits */

	uint32_t pid, tid;
	bool running;
	bool logged;         /* the log has the switch-in of the running thread, or must not get
	                      * it any more */
	uint64_t since;      /* ticks: when the thread came, or became part of the trace while it
	                      * ran */
	uint64_t koid;       /* the running thread's, if its switch-in is logged; 0: it is not in
	                      * the trace */
	uint64_t log_number; /* number of its switch-in in the log */

	bool recording;
	uint64_t latest;        /* ticks of the latest record */
	uint32_t commands_done; /* commands of the registry that were carried out on this
	                         * CPU so far */
};

/* Takes the next record of this CPU, whose time is `ticks`. */
void fxt_sched_cpu_take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *record, uint64_t ticks);

/* The CPU has no more records from before `ticks`: carries out the commands given until
 * then, and logs the running thread if it records by now. */
void fxt_sched_cpu_reached(struct fxt_sched_cpu *cpu, uint64_t ticks);

/* True if the running thread is in the trace and the log has dropped its switch-in for
 * later ones; *switch_in is then that switch. */
bool fxt_sched_cpu_is_older(const struct fxt_sched_cpu *cpu, struct fxt_sched_event *switch_in);

#endif

#include "sched_cpu.h"
#include "writer/format/format.h"

static struct fxt_sched_event sched_cpu_switch_in(const struct fxt_sched_cpu *cpu)
{
	return (struct fxt_sched_event){
	        .ticks = cpu->since, .koid = cpu->koid, .cpu = cpu->number, .in = true};
}

/* Logs the switch-in of the running thread, once the thread has a koid. It gets one when it
 * first records, possibly long after it came to the CPU. It has certainly run until
 * `until`. If its process became part of the trace after the thread came and before
 * `until`, the switch-in gets the time at which the process did. */
static void sched_cpu_log_switch_in(struct fxt_sched_cpu *cpu, uint64_t until)
{
	if (!cpu->running || cpu->logged || !cpu->recording)
		return;
	cpu->koid = fxt_sched_registry_koids(cpu->registry, cpu->pid, cpu->tid, &cpu->since, until).thread;
	if (!cpu->koid)
		return;
	cpu->logged = true;
	cpu->log_number = cpu->log->end;
	fxt_sched_log_put(cpu->log, sched_cpu_switch_in(cpu));
}

static void sched_cpu_switched_in(struct fxt_sched_cpu *cpu, uint32_t pid, uint32_t tid, uint64_t ticks)
{
	cpu->pid = pid;
	cpu->tid = tid;
	cpu->running = true;
	cpu->logged = false;
	cpu->since = ticks;
	cpu->koid = 0;
}

static void sched_cpu_switched_out(struct fxt_sched_cpu *cpu, uint64_t ticks, enum fxt_thread_state state)
{
	sched_cpu_log_switch_in(cpu, ticks);
	if (cpu->running && cpu->koid) {
		fxt_sched_log_put(cpu->log, (struct fxt_sched_event){.ticks = ticks,
		                                    .koid = cpu->koid,
		                                    .cpu = cpu->number,
		                                    .state = (uint8_t)state});
		if (state == FXT_THREAD_STATE_BLOCKED)
			fxt_sched_blocked_put(cpu->blocked,
			        (struct fxt_blocked_thread){cpu->koid, ticks, cpu->pid, cpu->tid});
	}
	cpu->running = false;
}

static void sched_cpu_switch(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *r, uint64_t ticks)
{
	static const enum fxt_thread_state states[] = {
	        [FXT_PERF_OUT] = FXT_THREAD_STATE_BLOCKED,
	        [FXT_PERF_PREEMPTED] = FXT_THREAD_STATE_RUNNING,
	        [FXT_PERF_EXIT] = FXT_THREAD_STATE_DEAD,
	};

	/* If the kernel lost the switch-out of a thread, the thread left when the next one
	 * came, for an unknown reason. */
	if (r->kind == FXT_PERF_IN || cpu->tid != r->tid)
		sched_cpu_switched_out(cpu, ticks, FXT_THREAD_STATE_SUSPENDED);
	if (r->kind == FXT_PERF_IN) {
		fxt_sched_blocked_take(cpu->blocked, r->tid);
		sched_cpu_switched_in(cpu, r->pid, r->tid, ticks);
		return;
	}
	if (!cpu->running) { /* the kernel lost its switch-in */
		sched_cpu_switched_in(cpu, r->pid, r->tid, ticks);
		cpu->koid = cpu->recording ? fxt_sched_registry_koids(
		                                     cpu->registry, r->pid, r->tid, &cpu->since, ticks)
		                                     .thread
		                           : 0;
		cpu->logged = true;
	}
	sched_cpu_switched_out(cpu, ticks, states[r->kind]);
	if (r->kind == FXT_PERF_EXIT)
		fxt_sched_registry_thread_ended(cpu->registry, r->pid, r->tid, ticks, cpu->koid);
}

/* Carries out the commands given until `ticks`. In the trace, a running thread leaves its
 * CPU when recording stops, and returns to it when recording starts. */
static void sched_cpu_carry_out(struct fxt_sched_cpu *cpu, uint64_t ticks)
{
	struct fxt_sched_command command;

	while (fxt_sched_registry_command(cpu->registry, cpu->commands_done, &command) &&
	        command.ticks <= ticks) {
		/* Converted times may be slightly off: none may go back behind another. */
		uint64_t at = command.ticks > cpu->latest ? command.ticks : cpu->latest;
		bool running = cpu->running;

		sched_cpu_switched_out(cpu, at, FXT_THREAD_STATE_SUSPENDED);
		if (running)
			sched_cpu_switched_in(cpu, cpu->pid, cpu->tid, at);
		cpu->recording = command.record;
		cpu->commands_done++;
	}
}

void fxt_sched_cpu_take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *record, uint64_t ticks)
{
	sched_cpu_carry_out(cpu, ticks);
	cpu->latest = ticks;
	if (record->kind == FXT_PERF_LOST)
		cpu->log->lost += record->lost;
	else
		sched_cpu_switch(cpu, record, ticks);
}

void fxt_sched_cpu_reached(struct fxt_sched_cpu *cpu, uint64_t ticks)
{
	sched_cpu_carry_out(cpu, ticks);
	sched_cpu_log_switch_in(cpu, ticks);
}

bool fxt_sched_cpu_is_older(const struct fxt_sched_cpu *cpu, struct fxt_sched_event *switch_in)
{
	*switch_in = sched_cpu_switch_in(cpu);
	return cpu->running && cpu->koid && cpu->log_number < cpu->log->begin;
}

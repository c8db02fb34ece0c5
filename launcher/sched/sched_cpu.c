#include "sched_cpu.h"
#include "writer/format.h"

static struct fxt_switch coming(const struct fxt_sched_cpu *cpu)
{
	return (struct fxt_switch){.ticks = cpu->since, .koid = cpu->koid, .cpu = cpu->number, .in = true};
}

/* A thread is known to the trace only once it records, which may be long after it came to its CPU. */
static void tell_coming(struct fxt_sched_cpu *cpu)
{
	if (!cpu->running || cpu->told || !cpu->recording)
		return;
	cpu->koid = fxt_sched_news_koid(cpu->news, cpu->pid, cpu->tid, cpu->since);
	if (!cpu->koid)
		return;
	cpu->told = true;
	cpu->place = cpu->log->end;
	fxt_switch_log_put(cpu->log, coming(cpu));
}

static void come(struct fxt_sched_cpu *cpu, uint32_t pid, uint32_t tid, uint64_t ticks)
{
	cpu->pid = pid;
	cpu->tid = tid;
	cpu->running = true;
	cpu->told = false;
	cpu->since = ticks;
	cpu->koid = 0;
}

static void leave(struct fxt_sched_cpu *cpu, uint64_t ticks, enum fxt_thread_state state)
{
	tell_coming(cpu);
	if (cpu->running && cpu->koid)
		fxt_switch_log_put(
		        cpu->log, (struct fxt_switch){ticks, cpu->koid, cpu->number, false, (uint8_t)state});
	cpu->running = false;
}

static void take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *r, uint64_t ticks)
{
	static const enum fxt_thread_state states[] = {
	        [FXT_PERF_OUT] = FXT_THREAD_STATE_BLOCKED,
	        [FXT_PERF_PREEMPTED] = FXT_THREAD_STATE_RUNNING,
	        [FXT_PERF_EXIT] = FXT_THREAD_STATE_DEAD,
	};

	/* Where the kernel lost how one left, it left when the next one came, for a reason unknown. */
	if (r->kind == FXT_PERF_IN || cpu->tid != r->tid)
		leave(cpu, ticks, FXT_THREAD_STATE_SUSPENDED);
	if (r->kind == FXT_PERF_IN) {
		come(cpu, r->pid, r->tid, ticks);
		return;
	}
	if (!cpu->running) { /* its coming was lost */
		come(cpu, r->pid, r->tid, ticks);
		cpu->koid = cpu->recording ? fxt_sched_news_koid(cpu->news, r->pid, r->tid, ticks) : 0;
		cpu->told = true;
	}
	leave(cpu, ticks, states[r->kind]);
	if (r->kind == FXT_PERF_EXIT && cpu->koid)
		fxt_sched_news_forget_koid(cpu->news, r->pid, r->tid, ticks, cpu->koid);
}

/* What was ordered until then. Whoever runs leaves where recording stops, and comes where it starts. */
static void obey(struct fxt_sched_cpu *cpu, uint64_t ticks)
{
	struct fxt_sched_order order;

	while (fxt_sched_news_order_at(cpu->news, cpu->orders, &order) && order.ticks <= ticks) {
		bool running = cpu->running;

		leave(cpu, order.ticks, FXT_THREAD_STATE_SUSPENDED);
		if (running)
			come(cpu, cpu->pid, cpu->tid, order.ticks);
		cpu->recording = order.record;
		cpu->orders++;
	}
}

void fxt_sched_cpu_take(struct fxt_sched_cpu *cpu, const struct fxt_perf_record *record, uint64_t ticks)
{
	obey(cpu, ticks);
	if (record->kind == FXT_PERF_LOST)
		cpu->log->lost += record->lost;
	else
		take(cpu, record, ticks);
}

void fxt_sched_cpu_reached(struct fxt_sched_cpu *cpu, uint64_t ticks)
{
	obey(cpu, ticks);
	tell_coming(cpu);
}

bool fxt_sched_cpu_is_older(const struct fxt_sched_cpu *cpu, struct fxt_switch *switch_in)
{
	*switch_in = coming(cpu);
	return cpu->running && cpu->koid && cpu->place < cpu->log->begin;
}

/*
 * Reads the processes of a trace in one walk on the main thread. Takes memory for each
 * process and for each program that a program began.
 */
#include "processes.h"

#include <stdlib.h>
#include "reader/time/death.h"
#include "reader/time/faults.h"

/* ---- processes ---- */

static struct fxt_process *processes_find(struct fxt_processes *p, uint64_t koid)
{
	uint32_t hash = fxt_hash_word(koid);

	for (struct fxt_probe probe = fxt_probe(&p->by_koid, hash); fxt_probe_next(&p->by_koid, &probe);)
		if (p->items[probe.id].koid == koid)
			return &p->items[probe.id];
	fxt_index_add(&p->by_koid, hash, (uint32_t)p->count);
	fxt_make_room(p->items, p->count, p->room);
	p->items[p->count] = (struct fxt_process){.koid = koid, .start = UINT64_MAX};
	return &p->items[p->count++];
}

static inline struct fxt_process *processes_of_thread(struct fxt_processes *p, uint32_t thread)
{
	if (p->of_thread[thread] == 0) {
		struct fxt_process *process = processes_find(p, p->scan->tables.threads[thread].process);

		process->threads++;
		p->of_thread[thread] = (uint32_t)(process - p->items) + 1;
	}
	return &p->items[p->of_thread[thread] - 1];
}

static inline void processes_add_slice(struct fxt_processes *p, const struct fxt_slice *slice)
{
	struct fxt_process *process = processes_of_thread(p, slice->thread);

	process->calls += slice->is_call;
	if (slice->start < process->start)
		process->start = slice->start;
	if (slice->end > process->end)
		process->end = slice->end;
}

static inline void processes_enter(void *state, struct fxt_walk_frame *frame)
{
	if (!frame->is_context)
		processes_add_slice(state, &frame->slice);
}

static inline void processes_leaf(
        void *state, const struct fxt_slice *slice, const struct fxt_walk_frame *parent)
{
	(void)parent;
	processes_add_slice(state, slice);
}

/* ---- parents, and ends of processes ---- */

/* Sets a process's end, from its own event or its parent's. The first one found stays: the
 * walk goes backward, and a number may be used again. */
static void processes_set_end(
        struct fxt_processes *p, uint64_t koid, enum fxt_process_end how, uint64_t number)
{
	struct fxt_process *process = processes_find(p, koid);

	if (process->how != FXT_PROCESS_END_UNKNOWN)
		return;
	process->how = how;
	process->status = (int32_t)number;
}

/* An argument of the tracer's event about processes; 0: there is none. */
static uint64_t processes_number(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, enum fxt_argument_type type)
{
	struct fxt_argument argument;

	return fxt_tables_argument(t, view, name, &argument) && argument.type == type ? argument.value.word
	                                                                              : 0;
}

static void processes_on_own_event(
        struct fxt_processes *p, struct fxt_tables *t, const struct fxt_view *view, uint32_t thread)
{
	struct fxt_span name = t->strings[fxt_tables_string(t, view->event.name)];
	uint64_t own = p->scan->tables.threads[thread].process;
	uint64_t child = processes_number(t, view, "child", FXT_ARGUMENT_KOID);
	uint64_t status = processes_number(t, view, "status", FXT_ARGUMENT_INT32);

	/* A parent by vfork() is only known because it waits for the child. */
	if (child > 0 && child != own)
		processes_find(p, child)->parent = own;
	if (child > 0 && fxt_span_is(name, "child exited"))
		processes_set_end(p, child, FXT_PROCESS_EXITED, status);
	else if (child > 0 && fxt_span_is(name, "child killed"))
		processes_set_end(p, child, FXT_PROCESS_KILLED,
		        processes_number(t, view, "signal", FXT_ARGUMENT_INT32));
	else if (child == 0 && fxt_span_is(name, "exit"))
		processes_set_end(p, own, FXT_PROCESS_EXITED, status & 0xff);
}

static void processes_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_processes *p = state;
	struct fxt_tables *t = &walker->tables;
	struct fxt_death death;

	if (view->type != FXT_RECORD_EVENT || fxt_is_of_faults(t, view))
		return;
	struct fxt_slice slice = fxt_scan_slice(p->scan, t, view, offset);

	if (!fxt_filter_has_thread(p->scan->filter, slice.thread))
		return;
	if (view->event.type != FXT_EVENT_DURATION_COMPLETE &&
	        fxt_filter_has_time(p->scan->filter, slice.start))
		processes_add_slice(
		        p, &(struct fxt_slice){
		                   .thread = slice.thread, .start = slice.start, .end = slice.start});
	if (fxt_death_read(t, view, &death))
		processes_set_end(p, death.koids.process, FXT_PROCESS_KILLED, (uint64_t)death.signal);
	else if (slice.category == p->scan->process_category)
		processes_on_own_event(p, t, view, slice.thread);
}

/* ---- programs ---- */

#define ON_THE_WAY UINT32_MAX

static uint32_t processes_program(struct fxt_processes *p, uint32_t parent, uint32_t name)
{
	uint32_t hash = fxt_hash_word((uint64_t)parent << 32 | name);

	for (struct fxt_probe probe = fxt_probe(&p->by_program, hash);
	        fxt_probe_next(&p->by_program, &probe);)
		if (p->programs[probe.id].parent == parent && p->programs[probe.id].name == name)
			return probe.id;
	fxt_index_add(&p->by_program, hash, (uint32_t)p->program_count);
	fxt_make_room(p->programs, p->program_count, p->program_room);
	p->programs[p->program_count] =
	        (struct fxt_program){.name = name, .parent = parent, .depth = p->programs[parent].depth + 1};
	return (uint32_t)p->program_count++;
}

/* The process's parent, if that is in the trace. */
static ptrdiff_t processes_parent(const struct fxt_processes *p, const struct fxt_process *process)
{
	if (process->parent == 0)
		return -1;
	for (struct fxt_probe probe = fxt_probe(&p->by_koid, fxt_hash_word(process->parent));
	        fxt_probe_next(&p->by_koid, &probe);)
		if (p->items[probe.id].koid == process->parent && p->items[probe.id].start != UINT64_MAX)
			return probe.id;
	return -1;
}

/* Gives a process and those around it their programs. Parents that form a circle, in a
 * damaged trace, end at the process that was met first. */
static void processes_place(struct fxt_processes *p, size_t first, size_t *way)
{
	size_t depth = 0;
	ptrdiff_t at = (ptrdiff_t)first;
	uint32_t parent = 0;

	while (at >= 0 && p->items[at].program == 0) {
		way[depth++] = (size_t)at;
		p->items[at].program = ON_THE_WAY;
		at = processes_parent(p, &p->items[at]);
	}
	if (at >= 0 && p->items[at].program != ON_THE_WAY)
		parent = p->items[at].program;
	while (depth > 0) {
		struct fxt_process *process = &p->items[way[--depth]];
		uint64_t time = process->end > process->start ? process->end - process->start : 0;

		parent = process->program = processes_program(p, parent, process->name);
		struct fxt_program *program = &p->programs[parent];

		program->processes++;
		program->failed += process->how == FXT_PROCESS_KILLED || process->status != 0;
		program->calls += process->calls;
		program->time += time;
		program->only = way[depth];
		if (time > program->longest)
			program->longest = time;
	}
}

static int processes_compare(const void *left, const void *right)
{
	const struct fxt_process *a = left, *b = right;

	return (a->koid > b->koid) - (a->koid < b->koid);
}

/* Leaves out processes of which only others tell, and puts the rest in order. */
static void processes_sort(struct fxt_processes *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].start != UINT64_MAX)
			p->items[count++] = p->items[i];
	p->count = count;
	if (count > 1)
		qsort(p->items, count, sizeof(*p->items), processes_compare);
	fxt_index_free(&p->by_koid);
	p->by_koid = (struct fxt_index){0};
	for (size_t i = 0; i < count; i++) {
		p->items[i].name =
		        fxt_tables_object_name(&p->scan->tables, FXT_OBJECT_PROCESS, p->items[i].koid);
		fxt_index_add(&p->by_koid, fxt_hash_word(p->items[i].koid), (uint32_t)i);
	}
}

bool fxt_processes_read(struct fxt_processes *p, const struct fxt_scan *scan)
{
	static const struct fxt_visitor visitor = {.enter = processes_enter,
	        .leaf = processes_leaf,
	        .record = processes_record,
	        .looks_near = true};
	struct fxt_walker walker;

	*p = (struct fxt_processes){.scan = scan};
	p->of_thread = fxt_allocate((scan->tables.thread_count + 1) * sizeof(*p->of_thread));
	fxt_walk_begin(&walker, scan);
	walker.takes_records = true;
	while (fxt_walk_step(&walker, &visitor, p)) {
	}
	bool is_whole = !walker.is_short;

	fxt_walk_end(&walker);
	processes_sort(p);
	size_t *way = fxt_allocate((p->count + 1) * sizeof(*way));

	fxt_make_room(p->programs, p->program_count, p->program_room);
	p->programs[p->program_count++] = (struct fxt_program){0};
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].program == 0)
			processes_place(p, i, way);
	free(way);
	return is_whole;
}

void fxt_processes_free(struct fxt_processes *p)
{
	free(p->items);
	free(p->programs);
	free(p->of_thread);
	fxt_index_free(&p->by_koid);
	fxt_index_free(&p->by_program);
	*p = (struct fxt_processes){0};
}

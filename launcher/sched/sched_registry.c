/*
 * Keeps the traced processes and the recording commands for the scheduler's thread.
 * Callable from any thread; the lock must be held only briefly.
 */
#include "sched_registry.h"
#include <stdlib.h>
#include "writer/shared/atomics.h"
#include "writer/shared/clock.h"

void fxt_sched_registry_open(struct fxt_sched_registry *r)
{
	*r = (struct fxt_sched_registry){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void fxt_sched_registry_close(struct fxt_sched_registry *r)
{
	free(r->processes);
	free(r->commands);
	*r = (struct fxt_sched_registry){0};
}

/* Makes room for another item, under the lock; false if there is no memory. */
static bool sched_registry_reserve(void **items, uint32_t count, uint32_t *room, size_t bytes)
{
	uint32_t larger = *room ? 2 * *room : 16;
	void *moved;

	if (count < *room)
		return true;
	moved = realloc(*items, larger * bytes);
	if (!moved)
		return false;
	*items = moved;
	*room = larger;
	return true;
}

void fxt_sched_registry_add_process(struct fxt_sched_registry *r, struct fxt_sched_process process)
{
	pthread_mutex_lock(&r->lock);
	if (sched_registry_reserve(
	            (void **)&r->processes, r->process_count, &r->process_room, sizeof(process)))
		r->processes[r->process_count++] = process;
	pthread_mutex_unlock(&r->lock);
}

void fxt_sched_registry_add_command(
        struct fxt_sched_registry *r, enum fxt_clock_kind clock, struct fxt_sched_command command)
{
	pthread_mutex_lock(&r->lock);
	/* Under the lock: a time read before it could be earlier than records that a reader
	 * takes in between without knowing of the command. */
	command.ticks = fxt_clock_ticks(clock);
	if (sched_registry_reserve(
	            (void **)&r->commands, r->command_count, &r->command_room, sizeof(command)))
		r->commands[r->command_count++] = command;
	pthread_mutex_unlock(&r->lock);
}

void fxt_sched_registry_remove_process(struct fxt_sched_registry *r, const struct fxt_control *control)
{
	uint32_t kept = 0;

	pthread_mutex_lock(&r->lock);
	for (uint32_t i = 0; i < r->process_count; i++)
		if (r->processes[i].control != control)
			r->processes[kept++] = r->processes[i];
	r->process_count = kept;
	pthread_mutex_unlock(&r->lock);
}

const struct fxt_control *fxt_sched_registry_control(struct fxt_sched_registry *r, uint32_t number)
{
	const struct fxt_control *control;

	pthread_mutex_lock(&r->lock);
	control = number < r->process_count ? r->processes[number].control : NULL;
	pthread_mutex_unlock(&r->lock);
	return control;
}

bool fxt_sched_registry_command(
        struct fxt_sched_registry *r, uint32_t number, struct fxt_sched_command *command)
{
	bool found;

	pthread_mutex_lock(&r->lock);
	found = number < r->command_count;
	if (found)
		*command = r->commands[number];
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* The agent's number for a thread that the kernel reports as `tid`: they differ in a PID
 * namespace. 0: not known. */
static uint32_t sched_registry_own_tid(const struct fxt_sched_process *process, uint32_t tid)
{
	if (process->pid == process->own_pid)
		return tid;
	return tid == (uint32_t)process->pid ? (uint32_t)process->own_pid : 0;
}

/* The process that had this pid at `ticks`, under the lock; NULL: none was traced then. */
static struct fxt_sched_process *sched_registry_find(
        struct fxt_sched_registry *r, uint32_t pid, uint64_t ticks)
{
	/* The latest first: a process that called exec is registered twice. */
	for (uint32_t i = r->process_count; i-- > 0;)
		if ((uint32_t)r->processes[i].pid == pid && r->processes[i].from <= ticks)
			return &r->processes[i];
	return NULL;
}

/* Finds the agent's use count of a thread number, in the process that had this pid at
 * `ticks`, and stores that process in *process. NULL: none was traced then. Number 0 stands
 * for unknown ones, and is never used. */
static uint16_t *sched_registry_uses(struct fxt_sched_registry *r, uint32_t pid, uint32_t tid, uint64_t ticks,
        struct fxt_sched_process *process)
{
	const struct fxt_sched_process *found;

	pthread_mutex_lock(&r->lock);
	found = sched_registry_find(r, pid, ticks);
	if (found)
		*process = *found;
	pthread_mutex_unlock(&r->lock);
	return found ? fxt_tid_uses(process->control, sched_registry_own_tid(process, tid)) : NULL;
}

bool fxt_sched_registry_is_recording(struct fxt_sched_registry *r, uint64_t ticks)
{
	bool is_recording = false;

	pthread_mutex_lock(&r->lock);
	for (uint32_t i = r->command_count; i-- > 0;)
		if (r->commands[i].ticks <= ticks) {
			is_recording = r->commands[i].record;
			break;
		}
	pthread_mutex_unlock(&r->lock);
	return is_recording;
}

struct fxt_koids fxt_sched_registry_koids(
        struct fxt_sched_registry *r, uint32_t pid, uint32_t tid, uint64_t *since, uint64_t until)
{
	struct fxt_sched_process process = {0};
	const uint16_t *shared = sched_registry_uses(r, pid, tid, *since, &process);
	uint16_t uses = shared ? load_relaxed(shared) : 0;

	if (!uses) {
		shared = sched_registry_uses(r, pid, tid, until, &process);
		uses = shared ? load_relaxed(shared) : 0;
	}
	if (!uses)
		return (struct fxt_koids){0};
	if (process.from > *since)
		*since = process.from;
	return (struct fxt_koids){process.koid, fxt_thread_koid(tid, uses)};
}

uint32_t fxt_sched_registry_thread(struct fxt_sched_registry *r, uint32_t pid, uint32_t tid, uint64_t ticks,
        struct fxt_sched_process *process)
{
	const struct fxt_sched_process *found;

	pthread_mutex_lock(&r->lock);
	found = sched_registry_find(r, pid, ticks);
	if (found)
		*process = *found;
	pthread_mutex_unlock(&r->lock);
	return found ? sched_registry_own_tid(process, tid) : 0;
}

void fxt_sched_registry_thread_ended(
        struct fxt_sched_registry *r, uint32_t pid, uint32_t tid, uint64_t ticks, uint64_t koid)
{
	struct fxt_sched_process process, *found;
	uint16_t *shared = sched_registry_uses(r, pid, tid, ticks, &process);
	uint16_t uses = shared ? load_relaxed(shared) : 0;

	if (koid && uses && fxt_thread_koid(tid, uses) == koid)
		compare_exchange_acquire(shared, &uses, 0);
	pthread_mutex_lock(&r->lock);
	found = sched_registry_find(r, pid, ticks);
	if (found && found->ended < ticks)
		found->ended = ticks;
	pthread_mutex_unlock(&r->lock);
}

uint64_t fxt_sched_registry_end_of(struct fxt_sched_registry *r, const struct fxt_control *control)
{
	uint64_t ended = 0;

	pthread_mutex_lock(&r->lock);
	for (uint32_t i = 0; i < r->process_count; i++)
		if (r->processes[i].control == control)
			ended = r->processes[i].ended;
	pthread_mutex_unlock(&r->lock);
	return ended;
}

#include "sched_registry.h"
#include <stdlib.h>
#include "writer/atomics.h"

void fxt_sched_news_open(struct fxt_sched_news *n)
{
	*n = (struct fxt_sched_news){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void fxt_sched_news_close(struct fxt_sched_news *n)
{
	free(n->processes);
	free(n->orders);
	*n = (struct fxt_sched_news){0};
}

/* Under the lock: room for one item more; false if there is none. */
static bool make_room(void **items, uint32_t count, uint32_t *room, size_t bytes)
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

void fxt_sched_news_process(struct fxt_sched_news *n, struct fxt_sched_process process)
{
	pthread_mutex_lock(&n->lock);
	if (make_room((void **)&n->processes, n->process_count, &n->process_room, sizeof(process)))
		n->processes[n->process_count++] = process;
	pthread_mutex_unlock(&n->lock);
}

void fxt_sched_news_order(struct fxt_sched_news *n, struct fxt_sched_order order)
{
	pthread_mutex_lock(&n->lock);
	if (make_room((void **)&n->orders, n->order_count, &n->order_room, sizeof(order)))
		n->orders[n->order_count++] = order;
	pthread_mutex_unlock(&n->lock);
}

void fxt_sched_news_forget_process(struct fxt_sched_news *n, const struct fxt_control *control)
{
	uint32_t kept = 0;

	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->process_count; i++)
		if (n->processes[i].control != control)
			n->processes[kept++] = n->processes[i];
	n->process_count = kept;
	pthread_mutex_unlock(&n->lock);
}

bool fxt_sched_news_order_at(struct fxt_sched_news *n, uint32_t number, struct fxt_sched_order *order)
{
	bool found;

	pthread_mutex_lock(&n->lock);
	found = number < n->order_count;
	if (found)
		*order = n->orders[number];
	pthread_mutex_unlock(&n->lock);
	return found;
}

/* The agent goes by the numbers inside, the kernel by those outside: 0 = that inside is not known. */
static uint32_t number_inside(const struct fxt_sched_process *process, uint32_t tid)
{
	if (process->pid == process->own_pid)
		return tid;
	return tid == (uint32_t)process->pid ? (uint32_t)process->own_pid : 0;
}

/* Where the agent says how often a number was used (that of 0: never); NULL: the process is not traced then.
 */
static uint16_t *tid_uses(struct fxt_sched_news *n, uint32_t pid, uint32_t tid, uint64_t ticks)
{
	uint16_t *uses = NULL;

	pthread_mutex_lock(&n->lock);
	/* The latest first: a process that called exec is there twice. */
	for (uint32_t i = n->process_count; i-- > 0 && !uses;)
		if ((uint32_t)n->processes[i].pid == pid && n->processes[i].from <= ticks)
			uses = fxt_tid_uses(n->processes[i].control, number_inside(&n->processes[i], tid));
	pthread_mutex_unlock(&n->lock);
	return uses;
}

uint64_t fxt_sched_news_koid(struct fxt_sched_news *n, uint32_t pid, uint32_t tid, uint64_t ticks)
{
	const uint16_t *shared = tid_uses(n, pid, tid, ticks);
	uint16_t uses = shared ? load_relaxed(shared) : 0;

	return uses ? fxt_thread_koid(tid, uses) : 0;
}

void fxt_sched_news_forget_koid(
        struct fxt_sched_news *n, uint32_t pid, uint32_t tid, uint64_t ticks, uint64_t koid)
{
	uint16_t *shared = tid_uses(n, pid, tid, ticks);
	uint16_t uses = shared ? load_relaxed(shared) : 0;

	if (uses && fxt_thread_koid(tid, uses) == koid)
		compare_exchange_acquire(shared, &uses, 0);
}

/* Notes the waits of stopped threads (waiting.h). While a thread is stopped it must do no
 * more than necessary. */
#include "waiting.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's mutex is its futex, and has the thread that owns it here. */
#define MUTEX_OWNER 8

#define MUTEX_LOCK "pthread_mutex_lock"

void fxt_waiting_open(struct fxt_waiting_list *l)
{
	*l = (struct fxt_waiting_list){.items = calloc(FXT_WAITING_THREADS, sizeof(*l->items)),
	        .frames = calloc(FXT_WAITING_THREADS, sizeof(*l->frames))};
	if (!l->items || !l->frames)
		fxt_waiting_close(l);
}

void fxt_waiting_close(struct fxt_waiting_list *l)
{
	free(l->items);
	free(l->frames);
	*l = (struct fxt_waiting_list){0};
}

void fxt_waiting_note(struct fxt_waiting_list *l, struct fxt_stacks *stacks, const struct fxt_tracee *t)
{
	struct fxt_blocked_thread thread = {.pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid};
	struct fxt_blocked_sample sample = {0};
	struct user_regs_struct registers;
	struct fxt_waiting *one;

	if (!l->items || l->count == FXT_WAITING_THREADS || !fxt_tracee_registers(t, &registers) ||
	        !arch_was_waiting(&registers))
		return;
	one = &l->items[l->count];
	*one = (struct fxt_waiting){.pid = t->pid, .tid = t->tid};
	if (!fxt_sched_blocked_read(&thread, one->line) || !fxt_sched_blocked_take_line(&sample, one->line))
		return;
	if (sample.address)
		fxt_tracee_read(t, sample.address + MUTEX_OWNER, &one->holder, sizeof(one->holder));
	fxt_stacks_take(stacks, t->tid, &l->frames[l->count]);
	l->count++;
}

/* The C library has some functions by several names, such as __libc_read. */
static bool waiting_is(const char *name, const char *function)
{
	name += strspn(name, "_");
	name += strncmp(name, "libc_", 5) == 0 ? 5 : 0;
	return strcmp(name, function) == 0;
}

/* Takes the function that waits from the end of the path: the wait has its name. */
static void waiting_take_function(struct fxt_waiting *one)
{
	struct fxt_blocked_sample sample = {0};
	const char *name = one->path + one->path_bytes;

	if (one->path_bytes == 0)
		return;
	do
		name--;
	while (name > one->path && name[-1]);
	fxt_sched_blocked_take_line(&sample, one->line);
	if (sample.address && (waiting_is(name, MUTEX_LOCK) || waiting_is(name, "mtx_lock")))
		strcpy(one->function, MUTEX_LOCK);
	else if (strncmp(sample.call, "restart_syscall", sample.call_bytes) == 0)
		snprintf(one->function, sizeof(one->function), "%s", name);
	else if (!waiting_is(name, sample.call))
		return;
	one->path_bytes = (size_t)(name - one->path);
}

/* Threads of a pool have the same stack. */
static const struct fxt_waiting *waiting_find_alike(const struct fxt_waiting_list *l, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (l->frames[i].count == l->frames[number].count &&
		        memcmp(l->frames[i].pcs, l->frames[number].pcs,
		                l->frames[i].count * sizeof(*l->frames[i].pcs)) == 0)
			return &l->items[i];
	return NULL;
}

void fxt_waiting_name(struct fxt_waiting_list *l, struct fxt_stacks *stacks)
{
	for (size_t i = 0; i < l->count; i++) {
		struct fxt_waiting *one = &l->items[i];
		const struct fxt_waiting *alike = waiting_find_alike(l, i);

		if (alike) {
			memcpy(one->path, alike->path, alike->path_bytes);
			one->path_bytes = alike->path_bytes;
			strcpy(one->function, alike->function);
		} else {
			one->path_bytes =
			        fxt_stacks_path(stacks, &l->frames[i], one->path, FXT_WAITING_PATH_BYTES);
			waiting_take_function(one);
		}
		if (strcmp(one->function, MUTEX_LOCK) != 0)
			one->holder = 0;
	}
}

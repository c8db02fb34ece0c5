/*
 * What the recorder of context switches (sched.h) is told by others while it reads: which processes are
 * traced, and from when to when anything is recorded. Telling never waits.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H
#define FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "writer/shared.h"

/* A provider whose threads are in the trace. */
struct fxt_sched_process {
	pid_t pid;
	pid_t own_pid; /* as it calls itself */
	uint64_t from; /* ticks */
	const struct fxt_control *control;
};

/* To record from then on, or not to. */
struct fxt_sched_order {
	uint64_t ticks;
	bool record;
	bool clear; /* what is in memory */
	bool write; /* the same */
};

struct fxt_sched_news {
	pthread_mutex_t lock; /* of all; held for a moment only */
	struct fxt_sched_process *processes;
	uint32_t process_count, process_room;
	struct fxt_sched_order *orders;
	uint32_t order_count, order_room;
};

void fxt_sched_news_open(struct fxt_sched_news *news);
void fxt_sched_news_close(struct fxt_sched_news *news);

/* Without memory for it a process or an order is not known. */
void fxt_sched_news_process(struct fxt_sched_news *news, struct fxt_sched_process process);
void fxt_sched_news_order(struct fxt_sched_news *news, struct fxt_sched_order order);

/* Nobody may be looking for koids meanwhile. */
void fxt_sched_news_forget_process(struct fxt_sched_news *news, const struct fxt_control *control);

/* The order of that number, from 0 on; false if there is none yet. */
bool fxt_sched_news_order_at(struct fxt_sched_news *news, uint32_t number, struct fxt_sched_order *order);

/* The koid of the thread that had this number then; 0 if it is not of the trace, or not yet. */
uint64_t fxt_sched_news_koid(struct fxt_sched_news *news, uint32_t pid, uint32_t tid, uint64_t ticks);

/* The thread of that koid has ended then: until the kernel's next one with its number has begun to record,
 * there is none. */
void fxt_sched_news_forget_koid(
        struct fxt_sched_news *news, uint32_t pid, uint32_t tid, uint64_t ticks, uint64_t koid);

#endif

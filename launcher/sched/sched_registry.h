/*
 * What the session tells the recorder of context switches (sched.h) while that reads: which processes are
 * traced, and from when to when anything is recorded. The lock is held for a moment only, so that no caller
 * waits for a reader.
 *
 * Errors: without memory a process or a command is not registered: the switches it is about are then missing.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H
#define FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "reader/trace/tables.h"
#include "writer/shared.h"

/* A provider whose threads are in the trace. */
struct fxt_sched_process {
	pid_t pid;
	pid_t own_pid; /* as it calls itself: in a PID namespace another number */
	uint64_t koid;
	uint64_t from; /* ticks: when it was registered */
	const struct fxt_control *control;
	uint64_t ended; /* ticks: when the latest of its threads did that has ended; 0 = none has */
};

/* To record from `ticks` on, or not to. */
struct fxt_sched_command {
	uint64_t ticks;
	bool record;
	bool clear; /* what the log has from before */
	bool write; /* the same, into the archive */
};

struct fxt_sched_registry {
	pthread_mutex_t lock; /* of all below */
	struct fxt_sched_process *processes;
	uint32_t process_count, process_room;
	struct fxt_sched_command *commands;
	uint32_t command_count, command_room;
};

void fxt_sched_registry_open(struct fxt_sched_registry *registry);
void fxt_sched_registry_close(struct fxt_sched_registry *registry);

void fxt_sched_registry_add_process(struct fxt_sched_registry *registry, struct fxt_sched_process process);
/* Gives a command that holds from now on, and sets its time. Where a reader sees no command of a number, all
 * later ones will be of later times than that look: it may take what the kernel reported before. */
void fxt_sched_registry_add_command(
        struct fxt_sched_registry *registry, enum fxt_clock_kind clock, struct fxt_sched_command command);

/* The process has ended. No thread may be inside fxt_sched_registry_koids() or _thread_ended() meanwhile:
 * they read the control memory, which the caller will unmap. */
void fxt_sched_registry_remove_process(
        struct fxt_sched_registry *registry, const struct fxt_control *control);

/* The control memory of the process of that number, from 0 on; NULL if there is none. No process may be
 * removed while it is in use. */
const struct fxt_control *fxt_sched_registry_control(struct fxt_sched_registry *registry, uint32_t number);

/* Copies the command of that number, from 0 on, in the order they were given; false if there is none yet. */
bool fxt_sched_registry_command(
        struct fxt_sched_registry *registry, uint32_t number, struct fxt_sched_command *command);

/* Whether anything is recorded at that time. */
bool fxt_sched_registry_is_recording(struct fxt_sched_registry *registry, uint64_t ticks);

/* Returns the koids of the thread with the number `tid` that ran from *since until `until`; zeros if it is
 * not in the trace, or not yet. Where its process was registered only meanwhile, *since becomes the time of
 * that. */
struct fxt_koids fxt_sched_registry_koids(
        struct fxt_sched_registry *registry, uint32_t pid, uint32_t tid, uint64_t *since, uint64_t until);

/* The thread ended at `ticks`; koid 0: it has none. Its number has no koid from then on, until another thread
 * that the kernel gives this number to has begun to record. */
void fxt_sched_registry_thread_ended(
        struct fxt_sched_registry *registry, uint32_t pid, uint32_t tid, uint64_t ticks, uint64_t koid);

/* When the latest thread of a process ended that did; 0: none has. */
uint64_t fxt_sched_registry_end_of(struct fxt_sched_registry *registry, const struct fxt_control *control);

#endif

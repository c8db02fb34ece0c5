/*
 * Data from the session for the manager of context switches (sched.h): which processes are
 * traced, and when recording is on. The lock is held only briefly, so that no caller waits
 * for a reader.
 *
 * Errors: if memory is short, a process or a command is not registered, and its switches
 * are missing.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H
#define FXT_LAUNCHER_SCHED_SCHED_REGISTRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "reader/trace/tables.h"
#include "writer/shared/shared.h"

/* A provider; its threads are in the trace. */
struct fxt_sched_process {
	pid_t pid;
	pid_t own_pid; /* its own number for itself: a different one in a PID namespace */
	uint64_t koid;
	uint64_t from; /* ticks of its registration */
	const struct fxt_control *control;
	uint64_t ended; /* ticks at which the latest ended thread ended; 0 = none has */
};

/* Switches recording on or off at `ticks`. */
struct fxt_sched_command {
	uint64_t ticks;
	bool record;
	bool clear; /* clears earlier records of the log */
	bool write; /* writes earlier records of the log into the archive */
};

struct fxt_sched_registry {
	pthread_mutex_t lock; /* for all fields below */
	struct fxt_sched_process *processes;
	uint32_t process_count, process_room;
	struct fxt_sched_command *commands;
	uint32_t command_count, command_room;
};

void fxt_sched_registry_open(struct fxt_sched_registry *registry);
void fxt_sched_registry_close(struct fxt_sched_registry *registry);

void fxt_sched_registry_add_process(struct fxt_sched_registry *registry, struct fxt_sched_process process);
/* Adds a command that applies from now on, and sets its time. If a reader finds no command
 * of some number, all later commands have later times than that look. The reader may then
 * take the kernel's earlier records. */
void fxt_sched_registry_add_command(
        struct fxt_sched_registry *registry, enum fxt_clock_kind clock, struct fxt_sched_command command);

/* The process has ended. No thread may be inside fxt_sched_registry_koids() or
 * _thread_ended() during the call: they read the control memory, which the caller will
 * unmap. */
void fxt_sched_registry_remove_process(
        struct fxt_sched_registry *registry, const struct fxt_control *control);

/* The control memory of the process with that number, from 0 on; NULL if there is none. No
 * process may be removed while it is in use. */
const struct fxt_control *fxt_sched_registry_control(struct fxt_sched_registry *registry, uint32_t number);

/* Copies the command with that number, from 0 on, in the order they were given; false if
 * there is none yet. */
bool fxt_sched_registry_command(
        struct fxt_sched_registry *registry, uint32_t number, struct fxt_sched_command *command);

/* True if recording is on at that time. */
bool fxt_sched_registry_is_recording(struct fxt_sched_registry *registry, uint64_t ticks);

/* Returns the koids of the thread with number `tid` that ran from *since until `until`;
 * zeros if it is not in the trace, or not yet. If its process was registered in that time,
 * *since becomes the time of the registration. */
struct fxt_koids fxt_sched_registry_koids(
        struct fxt_sched_registry *registry, uint32_t pid, uint32_t tid, uint64_t *since, uint64_t until);

/* Copies the process that had this pid at `ticks`. Returns the agent's number for the
 * thread; 0: no such process was traced then, or the number is not known. */
uint32_t fxt_sched_registry_thread(struct fxt_sched_registry *registry, uint32_t pid, uint32_t tid,
        uint64_t ticks, struct fxt_sched_process *process);

/* The thread ended at `ticks`; koid 0: it has none. Its number has no koid from then on,
 * until another thread with the same number begins to record. */
void fxt_sched_registry_thread_ended(
        struct fxt_sched_registry *registry, uint32_t pid, uint32_t tid, uint64_t ticks, uint64_t koid);

/* When the latest ended thread of the process ended; 0: none has. */
uint64_t fxt_sched_registry_end_of(struct fxt_sched_registry *registry, const struct fxt_control *control);

#endif

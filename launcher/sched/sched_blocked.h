/*
 * Finds out what threads are blocked in, once for each time that a thread left its CPU to
 * wait.
 *
 *   the thread left its CPU        fxt_sched_blocked_put()      it is noted
 *   it came back                   fxt_sched_blocked_take()     it is forgotten
 *   a millisecond later            fxt_sched_blocked_look()     its shadow stack has a recorded wait?
 *                                                               if not: /proc/PID/task/TID/syscall
 *
 * The answer is a sample: the system call, and the files of its descriptors or its futex's
 * address. A reader takes the whole stretch off the CPU for explained if a sample lies in it.
 * Waits of less than a millisecond, or of less than the time between two looks, have none.
 *
 * The record of a wait lacks the file of its descriptor, and the descriptors themselves if
 * there are several (sched_set.h). Only these are read. One sample stands for consecutive ones
 * that name the same file of a descriptor; it has the times of the first and of the last.
 *
 * The kernel answers a parent and the same user. If it refuses, there are no samples, and
 * nothing is reported.
 *
 * Errors: if memory is short, a thread is not noted.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_BLOCKED_H
#define FXT_LAUNCHER_SCHED_SCHED_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>
#include "launcher/manager/archive.h"
#include "sched_calls.h"
#include "sched_registry.h"

enum {
	FXT_BLOCKED_THREADS = 256,     /* noted at the same time; others have no sample */
	FXT_BLOCKED_SAMPLES = 1 << 13, /* kept in memory: 4 MB at most */
	FXT_BLOCKED_CALL_BYTES = 32,
	FXT_BLOCKED_FILE_BYTES = 96,  /* of one descriptor */
	FXT_BLOCKED_TEXT_BYTES = 383, /* of FXT_SET_SHOWN descriptors with their files */
	FXT_BLOCKED_LINE_BYTES = 256,
	FXT_BLOCKED_FILES = 512, /* descriptors whose latest sample is found again */
};

struct fxt_blocked_thread {
	uint64_t koid;
	uint64_t since; /* ticks: when it left its CPU */
	uint32_t pid, tid;
};

struct fxt_blocked_sample {
	uint64_t ticks;
	uint64_t latest;          /* ticks of the last one that says the same; 0: there is none */
	uint64_t process, thread; /* koids */
	uint64_t address;         /* of a futex; 0: none */
	/* the inode of a socket; for several descriptors, a hash of their links; 0: neither */
	uint64_t socket;
	int32_t fd; /* -1: none, or several, which are in `file` */
	enum fxt_sched_subject subject;
	uint8_t call_bytes; /* 0: of a recorded wait, whose record has the call */
	uint16_t file_bytes;
	char call[FXT_BLOCKED_CALL_BYTES];
	char file[FXT_BLOCKED_TEXT_BYTES];
};

struct fxt_sched_blocked {
	struct fxt_blocked_thread threads[FXT_BLOCKED_THREADS]; /* the earliest first */
	unsigned count;
	uint64_t noted;                     /* how many ever were */
	struct fxt_blocked_sample *samples; /* a ring */
	/* numbers of the first one in it, and of the next; they never decrease */
	uint64_t begin, end;
	/* by process and descriptor: 1 + the number of the latest sample in a recorded wait */
	uint64_t files[FXT_BLOCKED_FILES];
	bool keeps_last; /* a full ring drops its oldest samples */
};

/* Reads /proc/PID/task/TID/syscall. False: the thread has ended, or may not be read. */
bool fxt_sched_blocked_read(const struct fxt_blocked_thread *thread, char line[FXT_BLOCKED_LINE_BYTES]);

/* Notes the system call of such a line, and its descriptor or its futex's address. False:
 * the thread is in none. */
bool fxt_sched_blocked_take_line(struct fxt_blocked_sample *sample, const char *line);

/* Notes the file of the descriptor, or of several, if the thread is still in the same call:
 * otherwise a descriptor may be of another file now. */
void fxt_sched_blocked_find_file(
        struct fxt_blocked_sample *sample, const struct fxt_blocked_thread *thread, const char *line);

/* Returns 0, or ENOMEM. */
int fxt_sched_blocked_open(struct fxt_sched_blocked *b, bool keeps_last);
void fxt_sched_blocked_close(struct fxt_sched_blocked *b);

/* A thread of the trace left its CPU to wait; a thread came back to a CPU. */
void fxt_sched_blocked_put(struct fxt_sched_blocked *b, struct fxt_blocked_thread thread);
void fxt_sched_blocked_take(struct fxt_sched_blocked *b, uint32_t tid);

/* Asks the kernel for all noted threads that left their CPU at `until` or before. None of
 * the processes may be removed during the call. */
void fxt_sched_blocked_look(struct fxt_sched_blocked *b, struct fxt_sched_registry *registry,
        enum fxt_clock_kind clock, uint64_t until);

/* Forgets samples from before that time. */
void fxt_sched_blocked_forget(struct fxt_sched_blocked *b, uint64_t ticks);

/* Writes all samples, which stay. */
void fxt_sched_blocked_write(const struct fxt_sched_blocked *b, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

#endif

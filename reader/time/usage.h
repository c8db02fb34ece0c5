/*
 * Divides each thread's time by state, and by the threads responsible: those that ran in
 * its place while it could have run, and those that held what it waited for. Also finds the
 * critical path of a call: the thread that everything else waited for. The path goes
 * backwards from the call's end along the releases of waits, and from a thread's begin to
 * its creator.
 *
 *   main      |-- work --|wait ................|-- work --|    the call
 *   B              |-- work -------|wait ..|-- work --|release
 *   C         |-- work ------------------|release
 *   path      C .........................  B .........  main ...
 */
#ifndef FXT_READER_USAGE_H
#define FXT_READER_USAGE_H

#include "faults.h"
#include "timeline.h"
#include "waits.h"

struct fxt_thread_usage {
	uint32_t thread; /* id in the tables */
	bool has_switches;
	uint64_t running, runnable, blocked; /* ns, from its context switches */
	uint64_t switches;                   /* how often it left a CPU */
	uint64_t waits, waiting;             /* waits for locks and similar objects, and
	                                        their ns */
	uint64_t faults;                     /* page faults */
};

/* A thread that kept another from going on. */
struct fxt_hindrance {
	uint32_t thread; /* id in the tables, of the thread that was kept */
	bool was_waiting;
	uint32_t waited_in; /* id of the function's name in which it waited, if no responsible
	                       thread is known; else FXT_NOTHING */
	uint32_t blocker;   /* 1 + the system call of a sample (timeline.h); 0: it was in no
	                       such call */
	uint64_t koid;      /* of the responsible thread; 0: unknown, or not in the trace */
	uint64_t ns;
};

struct fxt_usage {
	/* Longest running first; if that is unknown, longest waiting first. Threads that
	 * were not chosen have zeros. */
	struct fxt_thread_usage *threads;
	size_t thread_count;
	struct fxt_hindrance *hindrances; /* longest first */
	size_t hindrance_count, hindrance_room;
	struct fxt_index index;
};

/* Sums up the activity of the threads and in the time that the scan's filter chooses. */
void fxt_usage_read(struct fxt_usage *usage, const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_faults *faults, const struct fxt_waits *waits);
void fxt_usage_free(struct fxt_usage *usage);

/* A stretch of a critical path. The latest stretch is first. */
struct fxt_critical_step {
	uint32_t thread;
	uint64_t start, end; /* ns; each step ends at the start of the step before it in the
	                        array */
	uint32_t release;    /* the release that let the thread of the previous step go on;
	                        FXT_NO_RELEASE: the end of the call */
	bool is_wakeup;      /* the time from the release until the waiting thread was back */
};

struct fxt_critical_path {
	struct fxt_spill steps; /* struct fxt_critical_step */
};

/* Finds the critical path of a stretch of a thread's time. */
void fxt_critical_path_read(struct fxt_critical_path *path, const struct fxt_waits *waits, uint32_t thread,
        uint64_t start, uint64_t end);
void fxt_critical_path_free(struct fxt_critical_path *path);

#endif

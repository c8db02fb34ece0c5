/*
 * What became of each thread's time, and for whom: who ran in its place while it could have run, and who held
 * what it waited for. And the critical path of a call: the thread that everything else waited for, from the
 * call's end backwards along the arrows of waits, and from a thread's begin to who created it.
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
	uint64_t running, runnable, blocked; /* ns, by its switches */
	uint64_t switches;                   /* how often it left a CPU */
	uint64_t waits, waiting;             /* in locks and their kind, and ns of these */
	uint64_t faults;                     /* page faults */
};

/* Who kept a thread from going on. */
struct fxt_hindrance {
	uint32_t thread; /* id in the tables */
	bool was_waiting;
	enum fxt_wait_kind wait_kind; /* if it was waiting for nobody that is known; else OTHER */
	uint64_t koid;                /* of who did it; 0: unknown, or nothing in the trace */
	uint64_t ns;
};

struct fxt_usage {
	/* Who ran longest first; where that is not known, who waited. Those that were not chosen did nothing.
	 */
	struct fxt_thread_usage *threads;
	size_t thread_count;
	struct fxt_hindrance *hindrances; /* the longest first */
	size_t hindrance_count, hindrance_room;
	struct fxt_index index;
};

/* Sums up what the threads that the scan's filter chooses did in the time that it chooses. */
void fxt_usage_read(struct fxt_usage *usage, const struct fxt_scan *scan, const struct fxt_timeline *timeline,
        const struct fxt_faults *faults, const struct fxt_waits *waits);
void fxt_usage_free(struct fxt_usage *usage);

/* A stretch of a critical path, the latest first. */
struct fxt_critical_step {
	uint32_t thread;
	uint64_t start, end; /* ns; each step ends where the one before it started */
	uint32_t release; /* by which the thread let the one before go on; FXT_NO_RELEASE: the call's end */
	bool is_wakeup;   /* from the release until the thread that waited was back */
};

struct fxt_critical_path {
	struct fxt_spill steps; /* struct fxt_critical_step */
};

/* Finds the critical path of a stretch of a thread's time. */
void fxt_critical_path_read(struct fxt_critical_path *path, const struct fxt_waits *waits, uint32_t thread,
        uint64_t start, uint64_t end);
void fxt_critical_path_free(struct fxt_critical_path *path);

#endif

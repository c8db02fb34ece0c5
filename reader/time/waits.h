/*
 * The waits of a trace for locks, conditions and other threads, for time and descriptors,
 * and the releases that ended them: slices of category "sync" (agent/interpose/sync.h),
 * joined by their flows.
 *
 *   waiter   |-- pthread_mutex_lock, object X, symbol "cache_lock" --woken-|
 *                                                                    ^ flow ends
 *   holder      ... rebuild > write_all > pthread_mutex_unlock: wakes a waiter
 *                                         ^ flow begins: a release, with the path that led to it
 *
 * The creation of a thread, or of a process by a fork, is a release too: it releases the
 * thread that begins.
 *
 * Waits and releases are collected during the scan. Their call paths become known in the
 * walk. They are kept in memory, and then in TMPDIR (spill.h). Only one thread may query
 * them at a time.
 */
#ifndef FXT_READER_WAITS_H
#define FXT_READER_WAITS_H

#include "reader/stats/paths.h"
#include "reader/trace/spill.h"
#include "reader/slices/walk.h"

/* The kind of the object waited for, by the function that waits. */
enum fxt_wait_kind {
	FXT_WAIT_LOCK,       /* a thread holds it; a release ends that */
	FXT_WAIT_SEMAPHORE,  /* the same, but the thread that posts need not be the one that
	                        took it */
	FXT_WAIT_CONDITION,  /* until a thread signals it */
	FXT_WAIT_BARRIER,    /* until the last thread arrives */
	FXT_WAIT_THREAD,     /* until the thread ends */
	FXT_WAIT_TIME,       /* until the time has passed */
	FXT_WAIT_DESCRIPTOR, /* until something happens on it, or on one of several */
	FXT_WAIT_FUTEX,      /* a lock, condition or semaphore that is made of one; a thread
	                        ends it */
	FXT_WAIT_EVENT,      /* a signal, a child, a message: the name says it */
	FXT_WAIT_OTHER,
};

#define FXT_NO_RELEASE UINT32_MAX

struct fxt_wait {
	uint64_t offset;     /* of the slice's record */
	uint64_t object;     /* address, a thread's handle, or a descriptor plus 1; 0: none */
	uint64_t start, end; /* ns */
	uint64_t flow;
	uint64_t process; /* koid */
	/* koid of the thread that had the lock when the wait began, or that is joined; 0:
	 * unknown */
	uint64_t holder;
	uint32_t thread;  /* id in the tables of the waiting thread */
	uint32_t name;    /* of the waiting function */
	uint32_t symbol;  /* of the object; FXT_NOTHING: it has none */
	uint32_t path;    /* of its caller, in fxt_waits.paths */
	uint32_t release; /* the release that ended it */
	uint32_t life;    /* how many locks ended at this address before it (lock_lives.h) */
	uint32_t file;    /* of the descriptor; FXT_NOTHING: not known */
	enum fxt_wait_kind kind;
	bool is_open;
	bool is_earlier; /* it began before the process was attached to */
};

struct fxt_release {
	uint64_t offset; /* of the slice around the flow's begin */
	uint64_t ns;
	uint64_t flow;
	uint64_t process, object; /* what it released; 0: unknown */
	uint32_t thread;          /* id in the tables */
	uint32_t path;            /* of its caller */
	uint32_t wait;            /* the wait that it ended */
	uint32_t born;            /* the thread that it created; FXT_NOTHING: it is no
	                             creation */
};

struct fxt_waits {
	/* Valid once joined: */
	struct fxt_spill items;     /* struct fxt_wait, by offset */
	struct fxt_spill releases;  /* struct fxt_release, by offset */
	struct fxt_spill by_object; /* releases of a known object, by process, object and
	                               time */
	struct fxt_spill lock_ends; /* struct fxt_lock_moment */
	struct fxt_spill files;     /* struct fxt_wait_file */
	struct fxt_paths paths;
	struct fxt_waits_thread *threads; /* by id */
	size_t thread_count;
};

void fxt_waits_init(struct fxt_waits *waits);
void fxt_waits_free(struct fxt_waits *waits);

/* Functions for the scan's listener. */
void fxt_waits_clear(struct fxt_waits *waits);
void fxt_waits_record(
        struct fxt_waits *waits, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* Joins waits and releases, once the scan is over. A wait that never ended gets the end of
 * its process. */
void fxt_waits_finish(struct fxt_waits *waits, const struct fxt_scan *scan);

static inline uint32_t fxt_waits_count(const struct fxt_waits *waits)
{
	return (uint32_t)waits->items.count;
}

/* A wait, or a release, by its index. */
static inline struct fxt_wait fxt_waits_item(const struct fxt_waits *waits, uint32_t place)
{
	return *(const struct fxt_wait *)fxt_spill_item(&waits->items, place);
}

static inline struct fxt_release fxt_waits_release(const struct fxt_waits *waits, uint32_t place)
{
	return *(const struct fxt_release *)fxt_spill_item(&waits->releases, place);
}

/* The release that created a thread, and in *ns the time when the thread began.
 * FXT_NO_RELEASE: not in the trace. */
uint32_t fxt_waits_birth(const struct fxt_waits *waits, uint32_t thread, uint64_t *ns);

/* The index of the wait with its record at `offset`; -1: none. */
ptrdiff_t fxt_waits_find(const struct fxt_waits *waits, uint64_t offset);

/* For a visitor of the walk, in enter() and leaf(). If the slice is a wait or a release,
 * notes its call path. */
void fxt_waits_add(struct fxt_waits *waits, const struct fxt_scan *scan, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent);

/* Makes the walk for all waits and releases, whatever the scan's filter shows. Returns
 * false if not all of the file could be read again. */
bool fxt_waits_walk(struct fxt_waits *waits, const struct fxt_scan *scan);

/* True if the scan's filter chooses a wait: by its thread, time, length, and call path. The
 * path must be known (fxt_waits_walk()). */
bool fxt_waits_is_chosen(
        const struct fxt_waits *waits, const struct fxt_scan *scan, const struct fxt_wait *wait);

/*
 * Finds the thread that held the object at a moment of the wait, and returns the release
 * that ended its hold. Returns FXT_NO_RELEASE if there is none. *until is lowered to the
 * release's time, if that is earlier.
 */
uint32_t fxt_waits_holder(
        const struct fxt_waits *waits, const struct fxt_wait *wait, uint64_t moment, uint64_t *until);

/* The koid of the thread that had the object from the begin of the wait to its end, by the
 * lock's own memory and because no release is known in between. 0: there is none. */
uint64_t fxt_waits_keeper(const struct fxt_waits *waits, const struct fxt_wait *wait);

/* True if two waits are for the same: the same object of the same process, held by the same
 * thread; or for no object. */
bool fxt_waits_are_alike(
        const struct fxt_waits *waits, const struct fxt_wait *one, const struct fxt_wait *other);

/* True if a thread ended within the trace. */
bool fxt_waits_has_ended(const struct fxt_waits *waits, uint32_t thread);

#endif

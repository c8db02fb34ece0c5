/*
 * The waits of a trace for locks, conditions and other threads, for time and descriptors, and who let each of
 * them go on: slices of category "sync" (agent/interpose/sync.h), joined by their flows.
 *
 *   waiter   |-- pthread_mutex_lock, object X, symbol "cache_lock" --woken-|
 *                                                                    ^ flow ends
 *   holder      ... rebuild > write_all > pthread_mutex_unlock: wakes a waiter
 *                                         ^ flow begins: a release, with the path that led to it
 *
 * The creation of a thread, or of a process by a fork, is a release too: of the thread, which begins by it.
 *
 * Waits and releases are collected on the way of the scan; what led to them, and how long a wait took that is
 * still open, the walk tells. What is kept of each is in memory, and then in TMPDIR (spill.h). One thread
 * asks at a time.
 */
#ifndef FXT_READER_WAITS_H
#define FXT_READER_WAITS_H

#include "reader/stats/paths.h"
#include "reader/trace/spill.h"
#include "reader/slices/walk.h"

/* What is waited for, by the function that waits. */
enum fxt_wait_kind {
	FXT_WAIT_LOCK,       /* somebody holds it; a release ends that */
	FXT_WAIT_SEMAPHORE,  /* the same, but whoever posts need not be who took it */
	FXT_WAIT_CONDITION,  /* until somebody signals it */
	FXT_WAIT_BARRIER,    /* until the last one arrives */
	FXT_WAIT_THREAD,     /* until it ends */
	FXT_WAIT_TIME,       /* until it has passed */
	FXT_WAIT_DESCRIPTOR, /* until something happens on it, or on one of several */
	FXT_WAIT_OTHER,
};

#define FXT_NO_RELEASE UINT32_MAX

struct fxt_wait {
	uint64_t offset;     /* of the slice's record */
	uint64_t object;     /* address, or a thread's handle, or a descriptor plus 1; 0: it has none */
	uint64_t start, end; /* ns */
	uint64_t flow;
	uint32_t thread;  /* id in the tables of who waits */
	uint32_t name;    /* of the function that waits */
	uint32_t symbol;  /* of the object; FXT_NOTHING: it has none */
	uint32_t path;    /* of what called it, in fxt_waits.paths */
	uint32_t release; /* by which it went on */
	enum fxt_wait_kind kind;
	bool is_open;
};

struct fxt_release {
	uint64_t offset; /* of the slice around the flow's begin */
	uint64_t ns;
	uint64_t flow;
	uint64_t process, object; /* of the wait that it ended; 0: of none */
	uint32_t thread;          /* id in the tables */
	uint32_t path;            /* of what called it */
	uint32_t wait;            /* that it ended */
	uint32_t born;            /* the thread that began by it; FXT_NOTHING: it is no creation */
};

struct fxt_waits {
	/* Once they are joined: */
	struct fxt_spill items;     /* struct fxt_wait, by offset */
	struct fxt_spill releases;  /* struct fxt_release, by offset */
	struct fxt_spill by_object; /* those that ended a wait, by process, object and time */
	struct fxt_paths paths;
	struct fxt_waits_thread *threads; /* by id */
	size_t thread_count;
};

void fxt_waits_init(struct fxt_waits *waits);
void fxt_waits_free(struct fxt_waits *waits);

/* For the scan's listener. */
void fxt_waits_clear(struct fxt_waits *waits);
void fxt_waits_record(
        struct fxt_waits *waits, struct fxt_tables *t, const struct fxt_view *view, uint64_t offset);

/* Joins waits and releases, once the scan is over. */
void fxt_waits_finish(struct fxt_waits *waits, const struct fxt_scan *scan);

static inline uint32_t fxt_waits_count(const struct fxt_waits *waits)
{
	return (uint32_t)waits->items.count;
}

/* A wait, or a release, by its place. */
static inline struct fxt_wait fxt_waits_item(const struct fxt_waits *waits, uint32_t place)
{
	return *(const struct fxt_wait *)fxt_spill_item(&waits->items, place);
}

static inline struct fxt_release fxt_waits_release(const struct fxt_waits *waits, uint32_t place)
{
	return *(const struct fxt_release *)fxt_spill_item(&waits->releases, place);
}

/* The release by which a thread began, and in *ns when it did; FXT_NO_RELEASE: that is not in the trace. */
uint32_t fxt_waits_birth(const struct fxt_waits *waits, uint32_t thread, uint64_t *ns);

/* The place of the wait, or release, whose slice has its record there; -1: none. */
ptrdiff_t fxt_waits_find(const struct fxt_waits *waits, uint64_t offset);
ptrdiff_t fxt_waits_find_release(const struct fxt_waits *waits, uint64_t offset);

/* For a visitor of the walk, in enter() and leaf(): of a slice that is a wait or a release, takes note of
 * what led to it, and of its end. */
void fxt_waits_see(struct fxt_waits *waits, const struct fxt_scan *scan, const struct fxt_slice *slice,
        const struct fxt_walk_frame *parent);

/* Walks for all of them, whatever the scan's filter shows. Returns false if not all of the file could be read
 * again. */
bool fxt_waits_walk(struct fxt_waits *waits, const struct fxt_scan *scan);

/* Whether a wait is among what the scan's filter chooses: by thread and time, length, and the functions that
 * led to it, which are known (fxt_waits_walk()). */
bool fxt_waits_is_chosen(
        const struct fxt_waits *waits, const struct fxt_scan *scan, const struct fxt_wait *wait);

/*
 * Who held what was waited for at a moment of the wait: the release that ended this. Releases by others than
 * the one that ended the wait are known if they ended another one's. Returns FXT_NO_RELEASE if there is none,
 * and in *until, if it is earlier, the moment of the release.
 */
uint32_t fxt_waits_holder(
        const struct fxt_waits *waits, const struct fxt_wait *wait, uint64_t moment, uint64_t *until);

#endif

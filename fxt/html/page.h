/*
 * One page of HTML with what is known of a trace, for a browser, a mail or an archive. It
 * needs no network, and its size is bounded, however many calls there are.
 *
 * The template is page.html. It has a comment in place of each part that is inserted: the
 * style sheet, the flame graph (flame_svg.h), the data, and our scripts. The data is one
 * JSON object in a script element that is not run. Each part writes its members, and a
 * script with the part's name draws them.
 *
 * Names come from the archive and may hold anything: they are escaped here, and the scripts
 * only ever insert them as text. Times are ns since the trace's start, which are exact in a
 * script up to 2^53.
 */
#ifndef FXT_FXT_HTML_PAGE_H
#define FXT_FXT_HTML_PAGE_H

#include "fxt/flame_tree.h"
#include "fxt/lanes.h"
#include "names.h"
#include "outliers.h"
#include "recorded.h"
#include "reader/time/causes.h"
#include "reader/time/death.h"
#include "reader/time/hops.h"
#include "reader/stats/figures.h"
#include "windows.h"

/* The processes that were killed. */
struct fxt_html_deaths {
	struct fxt_death *items;
	size_t count, room;
};

struct fxt_html {
	FILE *out;
	const char *title; /* the trace's name, without its folder */
	bool is_chosen;    /* options chose a part of the trace */
	/* The call tree that the flame graph draws; it owns the scan that all parts use. */
	struct fxt_flame_tree *tree;
	const struct fxt_flame_wanted *wanted;
	struct fxt_scan *scan;
	const struct fxt_source *source;
	const struct fxt_thread_times *times;
	const struct fxt_faults *faults;
	struct fxt_waits *waits;
	bool has_heap;                 /* the trace has heap events */
	struct fxt_functions *threads; /* by id, in units of the scan */
	struct fxt_functions all;      /* the sum of `threads`, in ns */
	struct fxt_outliers outliers;
	const struct fxt_windows *windows;
	const struct fxt_lanes *losses; /* lane_slices.h */
	const struct fxt_html_deaths *deaths;
	struct fxt_hops *hops;
	const struct fxt_html_recorded *recorded;
	struct fxt_html_names names;
	bool is_changed; /* not all of the file could be read again */
};

/* Writes the page. The caller checks the output for write errors. */
void fxt_html_write(struct fxt_html *page);

/* ---- the parts: each writes members of the page's object, without a final comma ---- */

/* The duration, the number of calls, the processes and threads, the killed processes,
 * and what is missing. */
void fxt_html_summary(struct fxt_html *page);

/* Writes the number of a process or thread, and its name or null. */
void fxt_html_object(struct fxt_html *page, enum fxt_object_type type, uint64_t koid);

/* The activity of threads over time (lane_slices.h), async spans and counters. */
void fxt_html_timeline(struct fxt_html *page);

/* A part of the timeline: flows from thread to thread, by the scan's listener. */
void fxt_html_arrows(struct fxt_html *page);

/* The figures of fxt report. */
void fxt_html_functions(struct fxt_html *page);

/* The slowest calls, explained as by fxt why. */
void fxt_html_slow(struct fxt_html *page);

/* The locks, with their waiters and holders, as in fxt locks. */
void fxt_html_locks(struct fxt_html *page);

/* The heap of each process over time, with the call paths of its peak and of the leaks. */
void fxt_html_heap(struct fxt_html *page);

#endif

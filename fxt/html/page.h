/*
 * One page of HTML with what is known of a trace, for a browser, a mail or an archive: it needs no network,
 * and its size is bounded, however many calls there are.
 *
 * The page is page.html, in which a comment stands for each part that is put in: the style sheet, the flame
 * graph (flame_svg.h), the data, and our scripts. The data is one JSON object in a script element that is not
 * run; each part writes its members, and a script of the part's name draws them. Names come from the archive
 * and may be anything: they are escaped here, and only ever become text there.
 *
 * Times are ns since the trace's start, which are exact in a script up to 2^53.
 */
#ifndef FXT_FXT_HTML_PAGE_H
#define FXT_FXT_HTML_PAGE_H

#include "fxt/flame_tree.h"
#include "fxt/lanes.h"
#include "names.h"
#include "outliers.h"
#include "reader/time/causes.h"
#include "reader/time/death.h"
#include "reader/stats/functions.h"
#include "windows.h"

/* The processes that were killed. */
struct fxt_html_deaths {
	struct fxt_death *items;
	size_t count, room;
};

struct fxt_html {
	FILE *out;
	const char *title; /* the trace's name, without its folder */
	bool is_chosen;    /* a part of the trace, by options */
	/* The tree of calls that the flame graph draws; the scan of all parts is its own. */
	struct fxt_flame_tree *tree;
	const struct fxt_flame_wanted *wanted;
	struct fxt_scan *scan;
	const struct fxt_source *source;
	const struct fxt_thread_times *times;
	const struct fxt_faults *faults;
	struct fxt_waits *waits;
	bool has_heap;                 /* there are events of one */
	struct fxt_functions *threads; /* by id, in units of the scan */
	struct fxt_functions all;      /* the sum of these, in ns */
	struct fxt_outliers outliers;
	const struct fxt_windows *windows;
	const struct fxt_lanes *losses; /* lane_slices.h */
	const struct fxt_html_deaths *deaths;
	struct fxt_html_names names;
	bool is_changed; /* not all of the file could be read again */
};

/* Writes the page; whether all could be written is to be asked of `out`. */
void fxt_html_write(struct fxt_html *page);

/* ---- the parts: each writes members of the page's object, without a comma at the end ---- */

/* How long, how many calls, which processes and threads, who was killed, and what is missing. */
void fxt_html_summary(struct fxt_html *page);

/* What threads did when (lane_slices.h). */
void fxt_html_timeline(struct fxt_html *page);

/* The figures of fxt report. */
void fxt_html_functions(struct fxt_html *page);

/* The slowest calls, with what they spent their time on as fxt why has it. */
void fxt_html_slow(struct fxt_html *page);

/* Who waited for which lock, and who held it, as fxt locks has it. */
void fxt_html_locks(struct fxt_html *page);

/* The heap of each process over time, with the call paths of its peak and of what leaked. */
void fxt_html_heap(struct fxt_html *page);

#endif

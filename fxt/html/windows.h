/*
 * Stretches of time that a page has in full detail: around calls that were asked for (--around).
 */
#ifndef FXT_FXT_HTML_WINDOWS_H
#define FXT_FXT_HTML_WINDOWS_H

#include "outliers.h"
#include "reader/slices/pattern.h"

/* With the items of each (timeline.c) a page stays below 20 MB. */
enum { FXT_WINDOWS_MAX = 8 };

struct fxt_window {
	const char *text; /* as it was given */
	char *function;   /* the same, to be freed */
	struct fxt_patterns functions;
	uint64_t number; /* which of the function's calls, the slowest being 1 */
	bool is_outlier; /* which of the page's slow calls instead */
	/* Once it was found: */
	struct fxt_slice call;
	uint64_t from, to; /* units of the scan: the call, and a tenth of its length to each side */
};

struct fxt_windows {
	struct fxt_window items[FXT_WINDOWS_MAX];
	size_t count;
};

/* Adds what was asked for: "slow:K" or "FUNCTION:K", K being 1 if not given. `text` stays valid. Returns
 * FXT_DONE, or FXT_FAILED after telling what is wrong. */
int fxt_windows_add(struct fxt_windows *windows, const char *command, const char *text);

/* Finds the calls in a trace. Returns a status (commands.h); what is wrong was told. */
int fxt_windows_find(struct fxt_windows *windows, const char *name, const struct fxt_scan *scan,
        const struct fxt_outliers *outliers);
void fxt_windows_free(struct fxt_windows *windows);

#endif

/*
 * The ranges of time that a page has in full detail: around the calls that --around names.
 */
#ifndef FXT_FXT_HTML_WINDOWS_H
#define FXT_FXT_HTML_WINDOWS_H

#include "outliers.h"
#include "reader/slices/pattern.h"

/* With the items of each (timeline.c) a page stays below 20 MB. */
enum { FXT_WINDOWS_MAX = 8 };

struct fxt_window {
	const char *text; /* as the user gave it */
	char *function;   /* the function's part of it; to be freed */
	struct fxt_patterns functions;
	uint64_t number; /* which of the function's calls; 1 is the slowest */
	bool is_outlier; /* `number` counts the page's slow calls instead */
	/* Set by fxt_windows_find(): */
	struct fxt_slice call;
	uint64_t from, to; /* units of the scan: the call, and a tenth of its length to
	                      each side */
};

struct fxt_windows {
	struct fxt_window items[FXT_WINDOWS_MAX];
	size_t count;
};

/* Adds a window: "slow:K" or "FUNCTION:K"; K defaults to 1. `text` must stay valid.
 * Returns FXT_DONE, or FXT_FAILED after reporting the error. */
int fxt_windows_add(struct fxt_windows *windows, const char *command, const char *text);

/* Finds the calls in a trace. Returns a status (commands.h); errors are reported. */
int fxt_windows_find(struct fxt_windows *windows, const char *name, const struct fxt_scan *scan,
        const struct fxt_outliers *outliers);
void fxt_windows_free(struct fxt_windows *windows);

#endif

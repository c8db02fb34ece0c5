/*
 * The part of a trace that a question is about: parsed from options, applied to a scan. All
 * commands with these options use this code.
 *
 *   fxt_query_filter_set(&query, FXT_CHOOSE_FUNCTION, "parse*");
 *   fxt_scan(&scan, source, NULL);
 *   fxt_query_filter_apply(&query, &scan, &filter, error, sizeof(error));     walks use scan.filter
 *   ... walks ...
 *   fxt_filter_free(&filter);
 */
#ifndef FXT_READER_QUERY_FILTER_H
#define FXT_READER_QUERY_FILTER_H

#include "arguments.h"
#include "pattern.h"
#include "scan.h"

enum fxt_choose {
	/* by name or number; patterns as pattern.h has them, here and below */
	FXT_CHOOSE_PROCESS,
	FXT_CHOOSE_THREAD,   /* the same */
	FXT_CHOOSE_FUNCTION, /* by name; includes slices that are no calls */
	FXT_CHOOSE_MODULE,   /* by path, or its last part */
	FXT_CHOOSE_FILE,     /* the same, for the source file */
	FXT_CHOOSE_UNDER,    /* by name: their slices and everything inside */
	/* "FROM..TO" since the trace's start, either may be left out; "last 2s"; "during
	 * NAME", from the first begin to the last end; "during NAME:K", the K-th longest */
	FXT_CHOOSE_TIME,
	FXT_CHOOSE_MIN,   /* a duration */
	FXT_CHOOSE_WHERE, /* conditions on arguments (arguments.h); all of them must hold */
	FXT_CHOICES
};

struct fxt_query_filter {
	struct fxt_patterns patterns[FXT_CHOOSE_UNDER + 1];
	enum { FXT_TIME_ALL, FXT_TIME_BETWEEN, FXT_TIME_LAST, FXT_TIME_DURING } time;
	uint64_t from_ns, to_ns; /* BETWEEN; for LAST, from_ns is the length */
	struct fxt_patterns during;
	uint64_t rank; /* for DURING; 0: all of them */
	uint64_t min_ns;
	struct fxt_conditions where;
	/* Not what is chosen, but how it is shown: functions of the C++ library count in
	 * their callers (fxt_scan.folded), and names of C++ are shortened. */
	bool folds_library, shortens_names;
};

/* Takes over the value of an option. An option that is given twice means either value.
 * Returns NULL, or the fault of the value as half a sentence. */
const char *fxt_query_filter_set(struct fxt_query_filter *query, enum fxt_choose what, const char *value);

/* Takes the key of --by: for "arg:NAME" chooses the events with that argument, and returns
 * its name; else NULL. */
const char *fxt_query_filter_by(struct fxt_query_filter *query, const char *key);

/* Whether everything is chosen. */
bool fxt_query_filter_is_all(const struct fxt_query_filter *query);

/*
 * Makes a filter of a query, for one trace, and sets scan->filter. The filter is NULL if
 * everything is chosen and the trace was not cut to a time (cut.h); the time of a cut trace
 * is always chosen. Also sets scan->folded and shortens the names, if asked for; functions
 * that were chosen by name, module or file are not folded. Walks the trace to find the time of a function. Returns 0, or -1 with
 * one line in error[error_bytes] that names what the trace lacks; then there is no filter.
 */
int fxt_query_filter_apply(const struct fxt_query_filter *query, struct fxt_scan *scan,
        struct fxt_filter *filter, char *error, size_t error_bytes);

/* Hands out the calls of these functions (by id) after all: the question is about them. */
void fxt_unfold(const struct fxt_scan *scan, const bool *names);

void fxt_filter_free(struct fxt_filter *filter);
void fxt_query_filter_free(struct fxt_query_filter *query);

/* The names that the patterns match, as an array by id; NULL if they match none. The caller
 * frees it. */
bool *fxt_query_filter_names(const struct fxt_patterns *patterns, const struct fxt_scan *scan);

/* Writes the reason why no name matches: "no function is 'pars'; did you mean 'parse'?" */
void fxt_query_filter_explain(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, char *error, size_t error_bytes);

#endif

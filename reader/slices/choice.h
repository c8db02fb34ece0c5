/*
 * The choice of what of a trace a question is about: parsed from options, applied to a scan. All commands
 * that have these options have them from here.
 *
 *   fxt_choice_set(&choice, FXT_CHOOSE_FUNCTION, "parse*");
 *   fxt_scan(&scan, source, NULL);
 *   fxt_choice_apply(&choice, &scan, &filter, error, sizeof(error));     scan.filter is what walks heed
 *   ... walks ...
 *   fxt_filter_free(&filter);
 */
#ifndef FXT_READER_CHOICE_H
#define FXT_READER_CHOICE_H

#include "pattern.h"
#include "scan.h"

enum fxt_choose {
	FXT_CHOOSE_PROCESS,  /* by name or number; patterns as pattern.h has them, here and below */
	FXT_CHOOSE_THREAD,   /* the same */
	FXT_CHOOSE_FUNCTION, /* by name; slices that are no calls, too */
	FXT_CHOOSE_MODULE,   /* by path, or its last part */
	FXT_CHOOSE_FILE,     /* the same, of the source */
	FXT_CHOOSE_UNDER,    /* by name: what is inside of their slices, and these */
	FXT_CHOOSE_TIME,     /* "FROM..TO" since the trace's start, either may be left out; "last 2s"; "during
	                        NAME", from the first begin to the last end; "during NAME:K", the K-th longest */
	FXT_CHOOSE_MIN,      /* a duration */
	FXT_CHOICES
};

struct fxt_choice {
	struct fxt_patterns patterns[FXT_CHOOSE_UNDER + 1];
	enum { FXT_TIME_ALL, FXT_TIME_BETWEEN, FXT_TIME_LAST, FXT_TIME_DURING } time;
	uint64_t from_ns, to_ns; /* BETWEEN; of LAST the length is from_ns */
	struct fxt_patterns during;
	uint64_t rank; /* of DURING; 0: all of them */
	uint64_t min_ns;
};

/* Takes over the value of an option. A pattern given twice means either. Returns NULL, or what is wrong with
 * the value as half a sentence. */
const char *fxt_choice_set(struct fxt_choice *choice, enum fxt_choose what, const char *value);

/* Whether everything is chosen. */
bool fxt_choice_is_all(const struct fxt_choice *choice);

/*
 * Makes a filter of a choice, for one trace, and sets scan->filter; NULL if everything is chosen and the
 * trace was not cut to a time (cut.h), which else is chosen always. Walks the trace for the time of a
 * function. Returns 0, or -1 with one line in error[error_bytes] of what the trace does not have; then there
 * is no filter.
 */
int fxt_choice_apply(const struct fxt_choice *choice, struct fxt_scan *scan, struct fxt_filter *filter,
        char *error, size_t error_bytes);

void fxt_filter_free(struct fxt_filter *filter);
void fxt_choice_free(struct fxt_choice *choice);

/* The names that patterns match, as an array by id; NULL if there is none. To be freed. */
bool *fxt_choice_names(const struct fxt_patterns *patterns, const struct fxt_scan *scan);

/* Tells that no name is matched: "no function is 'pars'; did you mean 'parse'?" */
void fxt_choice_explain(
        const struct fxt_patterns *patterns, const struct fxt_scan *scan, char *error, size_t error_bytes);

#endif

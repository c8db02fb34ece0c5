/*
 * The word that was meant, of those that there are, by one that is not among them.
 */
#ifndef FXT_READER_NEAREST_H
#define FXT_READER_NEAREST_H

#include <getopt.h>
#include "span.h"

/* Zeros and the word to begin with; candidates of any number follow. */
struct fxt_nearest {
	struct fxt_span word;
	struct fxt_span best; /* the nearest candidate so far; no data if none is near enough to be meant */
	unsigned distance;
};

struct fxt_nearest fxt_nearest(struct fxt_span word);
void fxt_nearest_consider(struct fxt_nearest *nearest, struct fxt_span candidate);

/* The long option that was meant by `given`, as it stands on a command line; NULL: none is near enough. */
const char *fxt_nearest_option(const char *given, const struct option *options);

#endif

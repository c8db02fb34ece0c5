/*
 * Finds the word that was meant by a misspelt one, among the existing words.
 */
#ifndef FXT_READER_NEAREST_H
#define FXT_READER_NEAREST_H

#include <getopt.h>
#include "span.h"

/* Initialised by the misspelt word; any number of candidates follow. */
struct fxt_nearest {
	struct fxt_span word;
	struct fxt_span best; /* the nearest candidate so far; no data if none is near
	                         enough */
	unsigned distance;
};

struct fxt_nearest fxt_nearest(struct fxt_span word);
void fxt_nearest_consider(struct fxt_nearest *nearest, struct fxt_span candidate);

/* The long option that `given`, as it stands on a command line, was meant to be; NULL if
 * none is near enough. */
const char *fxt_nearest_option(const char *given, const struct option *options);

#endif

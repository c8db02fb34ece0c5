/*
 * The values of --args and --returns: items with commas or semicolons between them.
 *
 *     read                    all arguments of read(); of all functions that a pattern matches
 *     handle:req->path        one argument, or a member of what it points to
 *     f@arg1/i32,fparg1/64    by hand, as for uftrace: number, type and bits
 *     f@retval/s              the return value
 *
 * Types by hand: i (signed), d, u (unsigned), x, p (pointer), b (bool), c, f (floating
 * point), s (text), S (std::string); bits: 8, 16, 32, 64.
 */
#ifndef FXT_LAUNCHER_ARGUMENT_REQUESTS_H
#define FXT_LAUNCHER_ARGUMENT_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include "reader/slices/nearest.h"
#include "writer/shared/argument_plan.h"

struct fxt_argument_request {
	char *pattern; /* of functions */
	char *path;    /* the argument or member, as given; NULL: all arguments */
	bool wants_result, wants_arguments;
	struct fxt_planned_value *by_hand; /* `name` is not set */
	char (*names)[16];                 /* the names of these values: arg1 */
	size_t count;
	bool is_of_results; /* it is an item of --returns */
	/* found in the functions of all files so far */
	bool has_matched, has_values;
	struct fxt_nearest nearest;
	char near[65]; /* the name that is nearest to the pattern; empty: none is near */
};

struct fxt_argument_requests {
	struct fxt_argument_request *list;
	size_t count;
};

/* Adds the items of a list. `for_results`: the list is one of --returns. Returns NULL, or
 * half a sentence about what is wrong. */
const char *fxt_argument_requests_add(
        struct fxt_argument_requests *requests, const char *text, bool for_results);

void fxt_argument_requests_free(struct fxt_argument_requests *requests);

/* Whether a request's pattern matches a function, by one of its names: the symbol, or, for
 * C++, the name with or without its parameters. `readable` may be NULL. Notes a match, and
 * otherwise the name nearest to the pattern. */
bool fxt_argument_request_matches(
        struct fxt_argument_request *request, const char *symbol, const char *readable);

/* Reads a type by hand, such as i32. False: there is no such type. */
bool fxt_argument_type_read(const char *text, struct fxt_planned_value *value);

#endif

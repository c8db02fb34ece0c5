/*
 * The traces of two sides, before and after something, read into a comparison (reader/stats/comparison.h).
 */
#ifndef FXT_FXT_DIFF_INPUTS_H
#define FXT_FXT_DIFF_INPUTS_H

#include "options.h"
#include "reader/stats/comparison.h"

/* What is told of a trace besides its functions. */
struct fxt_sided {
	const char *name;
	enum fxt_side side;
	uint64_t calls, length_ns, lost, overwritten;
	bool is_whole;
	char *problem; /* what it does not have of what was chosen; NULL: nothing */
};

struct fxt_diff_inputs {
	struct fxt_comparison comparison;
	struct fxt_sided *traces;
	size_t count;
};

extern const char *const fxt_side_names[FXT_SIDES];

/*
 * Reads the traces of both sides; without any from after, the usual one. What is wrong with them is told.
 * What is chosen needs to be in one of them only, for a function may be on one side. Returns the worst
 * status, with FXT_FAILED if they cannot be compared. To be freed in any case.
 */
int fxt_diff_inputs_read(struct fxt_diff_inputs *sides, const struct fxt_options *options, char *command,
        char **before, size_t before_count, char **after, size_t after_count);

/* A table of the traces. */
void fxt_diff_inputs_print(const struct fxt_diff_inputs *sides);

/* Notes about what they do not have. */
void fxt_diff_inputs_print_missing(const struct fxt_diff_inputs *sides);

void fxt_diff_inputs_free(struct fxt_diff_inputs *sides);

#endif

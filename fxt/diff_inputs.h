/*
 * Reads the traces of both inputs, from before and after a change, into a comparison
 * (reader/stats/comparison.h).
 */
#ifndef FXT_FXT_DIFF_INPUTS_H
#define FXT_FXT_DIFF_INPUTS_H

#include "options.h"
#include "reader/stats/comparison.h"

/* The facts reported of a trace besides its functions. */
struct fxt_sided {
	const char *name;
	enum fxt_side side;
	uint64_t calls, length_ns, lost, overwritten;
	bool is_whole;
	char *problem; /* the part of the choice that the trace lacks; NULL: none */
};

struct fxt_diff_inputs {
	struct fxt_comparison comparison;
	struct fxt_sided *traces;
	size_t count;
};

extern const char *const fxt_side_names[FXT_SIDES];

/*
 * Reads the traces of both inputs; the second one defaults to the usual trace. Errors are
 * reported. The choice has to match in one input only, because a function may exist in just
 * one of them. Returns the worst status, with FXT_FAILED if the inputs cannot be compared.
 * The caller frees `sides` in any case.
 */
int fxt_diff_inputs_read(struct fxt_diff_inputs *sides, const struct fxt_options *options, char *command,
        char **before, size_t before_count, char **after, size_t after_count);

/* Prints a table of the traces. */
void fxt_diff_inputs_print(const struct fxt_diff_inputs *sides);

/* Prints notes about what the traces lack. */
void fxt_diff_inputs_print_missing(const struct fxt_diff_inputs *sides);

void fxt_diff_inputs_free(struct fxt_diff_inputs *sides);

#endif

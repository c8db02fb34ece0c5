/*
 * Names of functions for where there is little room: of a C++ name what stands between its parentheses and in
 * its angle brackets says least of all, and takes most.
 */
#ifndef FXT_READER_FOLD_NAMES_H
#define FXT_READER_FOLD_NAMES_H

#include "reader/slices/span.h"

/*
 * Writes a text in which each name lacks its parameters and template arguments, "…" in the place of each list
 * of them: "a::f<…>(…)". All else stays, such as "(anonymous namespace)", "operator()", or words in
 * parentheses behind a blank. `result` has room for as many bytes as the text; returns how many were written.
 */
size_t fxt_fold_names(struct fxt_span text, char *result);

#endif

/*
 * Folds names of functions for places with little room. The parameters and template
 * arguments of a C++ name say least, and take most of the room.
 */
#ifndef FXT_READER_FOLD_NAMES_H
#define FXT_READER_FOLD_NAMES_H

#include "reader/slices/span.h"

/*
 * Copies a text with the parameters and template arguments of each name replaced by "…":
 * "a::f<…>(…)". Everything else stays, such as "(anonymous namespace)", "operator()", or
 * words in parentheses after a blank. `result` has room for as many bytes as the text.
 * Returns the number of bytes written.
 */
size_t fxt_fold_names(struct fxt_span text, char *result);

#endif

/*
 * The arguments and results of functions with debug information: finds the functions that
 * the user asks for, and the places of their values at the function's first instruction.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARGUMENT_FUNCTIONS_H
#define FXT_LAUNCHER_PLANNING_ARGUMENT_FUNCTIONS_H

#include <elfutils/libdw.h>
#include "argument_list.h"
#include "argument_requests.h"
#include "symbolizer/symbols.h"

/* Returns a symbol's name as a user knows it; NULL: it is the symbol itself. It is valid
 * until the next call. By the thread that makes plans. */
const char *fxt_argument_readable(const char *symbol);

/* Adds the requested values of all functions in the debug information to the list. Notes in
 * the requests which of them matched. */
void fxt_argument_functions_read(struct fxt_argument_list *list, struct fxt_argument_requests *requests,
        const struct fxt_symbols *symbols, Dwarf *dwarf);

#endif

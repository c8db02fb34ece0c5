/*
 * Turns a symbol into the name by which a user knows the function: C++ and Rust are
 * demangled, and parts that only keep symbols apart (versions, and suffixes of static
 * functions that share a name) are removed. A clone made by the compiler is still shown as
 * a clone: "f(int) [clone .constprop.0]".
 */
#ifndef FXT_SYMBOLIZER_DEMANGLE_H
#define FXT_SYMBOLIZER_DEMANGLE_H

#include <stddef.h>
#include "writer/format/format.h"

/* Room for a name and the rest of its last character, before the name is cut. */
#define FXT_NAME_ROOM (FXT_STRING_MAX_BYTES + 4)

/* Writes the name without a terminator and returns its length: at most FXT_STRING_MAX_BYTES
 * of UTF-8. A symbol that cannot be demangled stays as it is. */
size_t fxt_demangle(const char *symbol, char name[FXT_NAME_ROOM]);

#endif

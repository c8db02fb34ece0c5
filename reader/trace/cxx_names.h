/*
 * The names of C++ functions, as demanglers write them: whether a function is the standard
 * library's own, and the short form in which people write its name.
 */
#ifndef FXT_READER_CXX_NAMES_H
#define FXT_READER_CXX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include "reader/slices/span.h"

/* Where a function's name with its scopes begins: behind the return type, which only names
 * of templates have. */
size_t fxt_cxx_scope(struct fxt_span name);

/* True for a function in a namespace of the C++ library: std, __gnu_cxx, __cxxabiv1,
 * __gnu_debug, the thread layer of libstdc++ (__gthread_...), and placement new. A return type or a
 * parameter of the library does not make a function the library's. */
bool fxt_is_library_name(struct fxt_span name);

/*
 * Writes a name without what the library adds by itself:
 *
 *   std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >   std::string
 *   std::vector<int, std::allocator<int> >                                            std::vector<int>
 *
 * Template arguments of the library's containers and streams are left out if they are the
 * defaults, and inline namespaces always. Returns the text and its length, which the caller
 * frees; NULL if the name is short already, or its brackets do not match.
 */
char *fxt_cxx_name_shorten(struct fxt_span name, size_t *bytes);

#endif

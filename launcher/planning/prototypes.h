/* Prototypes of the C library's functions, for a C library without debug information. */
#ifndef FXT_LAUNCHER_PLANNING_PROTOTYPES_H
#define FXT_LAUNCHER_PLANNING_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>

struct fxt_prototype {
	const char *name;
	const char *arguments; /* "i32 fd,p buffer": type as given by hand, and name */
	const char *result;    /* a type; NULL: void */
};

extern const struct fxt_prototype fxt_prototypes[];
extern const size_t fxt_prototype_count;

/* Whether a file of that name is part of the C library. */
bool fxt_is_c_library(const char *path);

/* NULL: the function has none. */
const struct fxt_prototype *fxt_prototype_find(const char *name);

#endif

/*
 * Finds the files that are mapped into a process, and functions of its libraries.
 */
#ifndef FXT_LAUNCHER_ATTACH_IMAGE_H
#define FXT_LAUNCHER_ATTACH_IMAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Finds where a file with that name is mapped, such as "libc.so.6", which may be followed
 * by " (deleted)". Stores the path, as the process sees it, and the address that the file
 * begins at. False: there is none. */
bool fxt_image_find(pid_t pid, const char *name, char path[PATH_MAX], uint64_t *base);

/* The addresses of all mappings of a file with that name; 0 and 0: it has none. */
void fxt_image_range(pid_t pid, const char *name, uint64_t *begin, uint64_t *end);

/* The address of a dynamic symbol in a file, from its first byte; 0: it has none. */
uint64_t fxt_image_symbol(const char *path, const char *symbol);

/* Functions of the process's C library. */
struct fxt_image_functions {
	uint64_t map, unmap, open, open_flag, error, iterate;
};

/* Returns NULL, or a description of the error in half a sentence ("has ..."). `open_flag`
 * must be among the flags of the function `open`. */
const char *fxt_image_functions_find(pid_t pid, struct fxt_image_functions *functions);

#endif

/*
 * An image is a module as a file, known by path and build ID. It names functions by their
 * address in the module. All providers of an archive share its images, so many processes of
 * one program cost no more than one. A file is opened when its first function is requested,
 * and each function is looked up once. A file with several paths is opened and read once
 * for all of them.
 */
#ifndef FXT_SYMBOLIZER_IMAGE_H
#define FXT_SYMBOLIZER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "reader/slices/span.h"

/* The images of an archive. All zeros is an empty set. It must not move in memory once it
 * has images. */
struct fxt_images {
	void *tree;
	void *files;
};

struct fxt_image; /* owned by its set */

struct fxt_location {
	uint64_t address;  /* in the module; of the call to be named */
	const char *name;  /* valid UTF-8 without a terminator; "lua+0x1139" if no symbol is known,
	                    * or "/proc/self/fd/3+0x1139" for a module of such a path */
	size_t name_bytes; /* 1 to FXT_STRING_MAX_BYTES */
	bool known;
	bool is_local;    /* other functions of the module may have the same name: static ones of other
	                * source files */
	bool is_located;  /* the source position was looked up: file and line are valid */
	const char *file; /* NULL = unknown; valid UTF-8, as are the two below */
	uint32_t line;    /* 0 = unknown */
	const char *module;
	const char *build_id; /* "" = none */
};

/* Finds or adds an image; NULL if memory is short. Prints nothing and opens nothing. */
struct fxt_image *fxt_images_get(struct fxt_images *images, struct fxt_span path, struct fxt_span build_id);

/*
 * Opens the image's file now, by another path that leads to it (below /proc/PID/root). The
 * right file is then held even if it is deleted or built again before the first function is
 * requested. Does nothing if that path does not lead to that file: the image's own path is
 * tried when it is needed.
 */
void fxt_image_open_by(struct fxt_image *image, const char *path);

/* True if the image's file was opened, or its own path was tried without success. */
bool fxt_image_is_open(const struct fxt_image *image);

/*
 * Returns the part of a path that has a meaning only inside its process: "fd/3" for
 * /proc/self/fd/3, /proc/thread-self/fd/3, /proc/7/fd/3 and /dev/fd/3; no bytes for other
 * paths. Programs load plugins from a memfd by such paths. A reader that opened such a path
 * as it stands would open a file of its own and take wrong names from it. An image with
 * such a path is therefore opened only by fxt_image_open_by(), and only if it has a build
 * ID: one descriptor may stand for many files over time.
 */
struct fxt_span fxt_path_in_process(struct fxt_span path);

/*
 * Names a function. The result and its texts belong to the image and live as long as the
 * set. Returns NULL if memory is short. Prints one line on stderr, once, if the file at the
 * path is not the recorded one.
 *
 * fxt_image_name() reads only the symbol table if that has the name, which is quick; file
 * and line may then be missing (is_located). fxt_image_function() finds them too. Both
 * return the same location.
 */
const struct fxt_location *fxt_image_name(struct fxt_image *image, uint64_t address);
const struct fxt_location *fxt_image_function(struct fxt_image *image, uint64_t address);

void fxt_images_free(struct fxt_images *images);

#endif

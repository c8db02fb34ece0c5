/*
 * The modules of one process, as its provider announced them. They say which module's file
 * is mapped at an address. Ids belong to the provider, begin at 1, and are never used
 * twice, so a module that was unmapped long ago can still be named.
 */
#ifndef FXT_SYMBOLIZER_MODULES_H
#define FXT_SYMBOLIZER_MODULES_H

#include "image.h"
#include "markup.h"

/* All zeros is a process without modules. */
struct fxt_modules {
	void *modules;  /* tree by id */
	void *mappings; /* tree by id and address, of all mappings ever announced */
	void *current;  /* tree by address, of the mappings not replaced by another */
	struct fxt_location nowhere;
	char nowhere_name[24];
};

/*
 * Records a module or mmap element. If announcements for one id contradict each other, the
 * first holds. A mapping replaces those it overlaps. Returns 0, or ENOMEM.
 */
int fxt_modules_announce(
        struct fxt_modules *modules, struct fxt_images *images, const struct fxt_markup *markup);

/*
 * Names the function of a pc element in the module it states or, if it states none, in the
 * module now mapped at its address. An address without a module is named by itself,
 * "0x55d0c0de1139". The result holds until the next call. Returns NULL if memory is short.
 */
const struct fxt_location *fxt_modules_function(struct fxt_modules *modules, const struct fxt_markup *pc);

/* The same, without a search for file and line if the name is known without it
 * (fxt_image_name()). */
const struct fxt_location *fxt_modules_name(struct fxt_modules *modules, const struct fxt_markup *pc);

/* Returns the image of an announced module; NULL if it was not announced. */
struct fxt_image *fxt_modules_image(const struct fxt_modules *modules, uint64_t module);

void fxt_modules_free(struct fxt_modules *modules);

#endif

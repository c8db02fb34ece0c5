/*
 * The modules of one process, as its provider announced them: which module's file lies at an address. Ids are
 * a provider's own, from 1, and none is used twice, so what was unmapped long ago can still be named.
 */
#ifndef FXT_SYMBOLIZER_MODULES_H
#define FXT_SYMBOLIZER_MODULES_H

#include "image.h"
#include "markup.h"

/* All zeros is a process without modules. */
struct fxt_modules {
	void *modules;  /* tree by id */
	void *mappings; /* tree by id and address, of all that ever were */
	void *current;  /* tree by address, of those not replaced by another */
	struct fxt_location nowhere;
	char nowhere_name[24];
};

/*
 * Takes note of a module or mmap element. Of announcements for one id that contradict each other the first
 * holds; a mapping where another module's was replaces it. Returns 0, or ENOMEM.
 */
int fxt_modules_announce(
        struct fxt_modules *modules, struct fxt_images *images, const struct fxt_markup *markup);

/*
 * Names the function of a pc element: in the module it states or, if it states none, in the one that lies at
 * its address now. An address that is not there is named by itself, "0x55d0c0de1139". The result holds until
 * the next call; NULL if memory is short.
 */
const struct fxt_location *fxt_modules_function(struct fxt_modules *modules, const struct fxt_markup *pc);

/* The same without a search for file and line where the name is known without it (fxt_image_name()). */
const struct fxt_location *fxt_modules_name(struct fxt_modules *modules, const struct fxt_markup *pc);

/* The image of a module that was announced; NULL if none was. */
struct fxt_image *fxt_modules_image(const struct fxt_modules *modules, uint64_t module);

void fxt_modules_free(struct fxt_modules *modules);

#endif

/*
 * Keeps the modules and mappings of a process, and names addresses in them. Runs on its
 * caller's thread. A mapping is never forgotten: late placeholders may still name it.
 */
#include "modules.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module {
	uint64_t id;
	struct fxt_image *image;
};

struct mapping {
	uint64_t module;
	uint64_t first, last; /* addresses, inclusive: a mapping may end at the end of memory */
	uint64_t module_address;
};

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Overlapping mappings compare equal. An address therefore finds its mapping, and a new
 * mapping finds those in its way. */
static int compare_addresses(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->last < y->first ? -1 : x->first > y->last;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return compare_addresses(a, b);
}

static void *find_in_tree(const void *key, void *const *tree, int (*compare)(const void *, const void *))
{
	void **found = tfind(key, tree, compare);

	return found ? *found : NULL;
}

/* Adds a copy of `node` unless the tree has an equal one. Returns the tree's node, NULL if
 * memory is short. */
static void *add_to_tree(
        void **tree, const void *node, size_t bytes, int (*compare)(const void *, const void *))
{
	void *there = find_in_tree(node, tree, compare);

	if (there)
		return there;
	void *copy = malloc(bytes);

	if (copy && tsearch(memcpy(copy, node, bytes), tree, compare))
		return copy;
	free(copy);
	return NULL;
}

static int announce_mapping(struct fxt_modules *modules, const struct fxt_markup *markup)
{
	struct mapping key = {
	        markup->module, markup->address, markup->address + markup->bytes - 1, markup->module_address};
	struct mapping *old, *mapping;

	if (markup->bytes == 0 || key.last < key.first)
		return 0;
	mapping = add_to_tree(&modules->mappings, &key, sizeof(key), compare_mappings);
	if (!mapping)
		return ENOMEM;
	while ((old = find_in_tree(mapping, &modules->current, compare_addresses)) != NULL)
		tdelete(old, &modules->current, compare_addresses);
	return tsearch(mapping, &modules->current, compare_addresses) ? 0 : ENOMEM;
}

int fxt_modules_announce(
        struct fxt_modules *modules, struct fxt_images *images, const struct fxt_markup *markup)
{
	if (markup->module == 0)
		return 0;
	if (markup->kind == FXT_MARKUP_MMAP)
		return announce_mapping(modules, markup);
	struct module module = {markup->module, fxt_images_get(images, markup->path, markup->build_id)};

	if (!module.image || !add_to_tree(&modules->modules, &module, sizeof(module), compare_modules))
		return ENOMEM;
	return 0;
}

static const struct fxt_location *name_address(struct fxt_modules *modules, uint64_t address)
{
	int bytes = snprintf(modules->nowhere_name, sizeof(modules->nowhere_name), "0x%" PRIx64, address);

	modules->nowhere = (struct fxt_location){
	        .address = address, .name = modules->nowhere_name, .name_bytes = (size_t)bytes};
	return &modules->nowhere;
}

struct fxt_image *fxt_modules_image(const struct fxt_modules *modules, uint64_t id)
{
	const struct module *module =
	        find_in_tree(&(struct module){id, NULL}, &modules->modules, compare_modules);

	return module ? module->image : NULL;
}

/* Finds the image at an address, and asks it. */
static const struct fxt_location *ask_image(struct fxt_modules *modules, const struct fxt_markup *pc,
        const struct fxt_location *(*ask)(struct fxt_image *image, uint64_t address))
{
	struct mapping key = {pc->module, pc->address, pc->address, 0};
	struct mapping *mapping = pc->module ? find_in_tree(&key, &modules->mappings, compare_mappings)
	                                     : find_in_tree(&key, &modules->current, compare_addresses);
	struct fxt_image *image = mapping ? fxt_modules_image(modules, mapping->module) : NULL;

	if (!image)
		return name_address(modules, pc->address);
	return ask(image, pc->address - mapping->first + mapping->module_address);
}

const struct fxt_location *fxt_modules_name(struct fxt_modules *modules, const struct fxt_markup *pc)
{
	return ask_image(modules, pc, fxt_image_name);
}

const struct fxt_location *fxt_modules_function(struct fxt_modules *modules, const struct fxt_markup *pc)
{
	return ask_image(modules, pc, fxt_image_function);
}

static void keep_node(void *node)
{
	(void)node;
}

void fxt_modules_free(struct fxt_modules *modules)
{
	tdestroy(modules->current, keep_node); /* `mappings` owns them */
	tdestroy(modules->mappings, free);
	tdestroy(modules->modules, free);
	*modules = (struct fxt_modules){0};
}

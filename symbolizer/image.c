#include "image.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "demangle.h"
#include "dwarf.h"
#include "elf.h"
#include "symbols.h"
#include "reader/utf8.h"

struct fxt_image {
	char *path;
	char *build_id;
	char *module; /* the path as UTF-8 */
	bool opened;
	struct fxt_elf files;
	struct fxt_symbols symbols;
	struct fxt_dwarf *dwarf; /* NULL: no debug information */
	void *functions;         /* tree of struct fxt_location by address */
};

static int compare_images(const void *a, const void *b)
{
	const struct fxt_image *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : strcmp(x->build_id, y->build_id);
}

static int compare_locations(const void *a, const void *b)
{
	const struct fxt_location *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void free_location(void *node)
{
	struct fxt_location *function = node;

	free((char *)function->file);
	free(function);
}

static void free_image(void *node)
{
	struct fxt_image *image = node;

	tdestroy(image->functions, free_location);
	fxt_dwarf_close(image->dwarf);
	fxt_symbols_free(&image->symbols);
	fxt_elf_close(&image->files);
	free(image->path);
	free(image->build_id);
	free(image->module);
	free(image);
}

/* A copy that is valid UTF-8. */
static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		fxt_utf8_repair(copy, strlen(copy));
	return copy;
}

/* The source file, by absolute path if that is known. */
static char *copy_file_name(const struct fxt_source *source)
{
	char *name;

	if (source->file[0] == '/' || !source->directory)
		return copy_text(source->file);
	if (asprintf(&name, "%s/%s", source->directory, source->file) < 0)
		return NULL;
	fxt_utf8_repair(name, strlen(name));
	return name;
}

static struct fxt_image *new_image(struct fxt_span path, struct fxt_span build_id)
{
	struct fxt_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->path = strndup(path.data, path.bytes);
	image->build_id = strndup(build_id.data, build_id.bytes);
	image->module = image->path ? copy_text(image->path) : NULL;
	if (image->build_id && image->module)
		return image;
	free_image(image);
	return NULL;
}

struct fxt_image *fxt_images_get(struct fxt_images *images, struct fxt_span path, struct fxt_span build_id)
{
	struct fxt_image *image = new_image(path, build_id);

	if (!image)
		return NULL;
	struct fxt_image **found = tsearch(image, &images->tree, compare_images);

	if (!found || *found != image)
		free_image(image);
	return found ? *found : NULL;
}

static int open_image(struct fxt_image *image)
{
	struct fxt_elf *files = &image->files;

	if (image->opened)
		return 0;
	image->opened = true;
	fxt_elf_open(files, image->path, image->build_id);
	if (files->changed && !files->debug.elf)
		warnx("%s was built again since it was recorded (its build ID was %s): its functions are "
		      "shown by address",
		        image->path, image->build_id[0] ? image->build_id : "missing");
	Dwarf *debug = files->module.dwarf ? files->module.dwarf : files->debug.dwarf;

	if (debug)
		image->dwarf = fxt_dwarf_open(debug);
	if (debug && !image->dwarf)
		return ENOMEM;
	return fxt_symbols_read(&image->symbols, files);
}

/* Looks the function up: where it stands, and its name, of which no bytes means that it is unknown. */
static int look_up_location(struct fxt_image *image, struct fxt_location *function, char name[FXT_NAME_ROOM])
{
	const struct fxt_symbol *symbol = fxt_symbols_find(&image->symbols, function->address);
	struct fxt_source source = {0};
	const char *mangled = symbol ? symbol->name : NULL;

	if (image->dwarf &&
	        fxt_dwarf_find(image->dwarf, symbol ? symbol->address : function->address, &source) != 0)
		return ENOMEM;
	/* Only what begins where the symbol does is the symbol's function. */
	if (symbol && source.start != symbol->address)
		source = (struct fxt_source){0};
	if (source.file) {
		function->file = copy_file_name(&source);
		function->line = source.line;
		if (!function->file)
			return ENOMEM;
	}
	if (!mangled)
		mangled = source.name;
	function->name_bytes = mangled ? fxt_demangle(mangled, name) : 0;
	return 0;
}

static size_t address_name(const struct fxt_image *image, uint64_t address, char name[FXT_NAME_ROOM])
{
	const char *slash = strrchr(image->module, '/');
	const char *base = slash ? slash + 1 : image->module;

	return (size_t)snprintf(name, FXT_NAME_ROOM, "%.*s+0x%" PRIx64,
	        (int)fxt_utf8_cut(base, strlen(base), NAME_MAX), base, address);
}

static struct fxt_location *new_location(struct fxt_image *image, uint64_t address)
{
	char name[FXT_NAME_ROOM];
	struct fxt_location found = {
	        .address = address, .module = image->module, .build_id = image->build_id};
	struct fxt_location *function = NULL;
	int failed = look_up_location(image, &found, name);

	found.known = found.name_bytes > 0;
	if (!failed && !found.known)
		found.name_bytes = address_name(image, address, name);
	if (!failed)
		function = malloc(sizeof(*function) + found.name_bytes);
	if (!function) {
		free((char *)found.file);
		return NULL;
	}
	found.name = memcpy(function + 1, name, found.name_bytes);
	*function = found;
	return function;
}

const struct fxt_location *fxt_image_function(struct fxt_image *image, uint64_t address)
{
	struct fxt_location key = {.address = address};
	struct fxt_location **found = tfind(&key, &image->functions, compare_locations);

	if (found)
		return *found;
	struct fxt_location *function = open_image(image) == 0 ? new_location(image, address) : NULL;

	if (function && !tsearch(function, &image->functions, compare_locations)) {
		free_location(function);
		return NULL;
	}
	return function;
}

void fxt_images_free(struct fxt_images *images)
{
	tdestroy(images->tree, free_image);
	images->tree = NULL;
}

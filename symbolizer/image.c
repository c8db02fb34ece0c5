/*
 * Names functions by module and address, and opens the module's files when they are first
 * needed. Only one thread at a time may use a set of images. It must never open a path that
 * has a meaning only inside the recorded process.
 */
#include "image.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "demangle.h"
#include "dwarf.h"
#include "elf.h"
#include "symbols.h"
#include "reader/trace/text.h"
#include "reader/trace/utf8.h"

/* The files opened for a module. A trace may give one file any number of paths. */
struct image_file {
	dev_t device; /* 0: there is no file at the path */
	ino_t number;
	char *build_id;
	struct fxt_elf elf;
	bool has_symbols; /* the symbols were read */
	struct fxt_symbols symbols;
	struct fxt_dwarf *dwarf; /* NULL: no debug information */
};

struct fxt_image {
	struct fxt_images *set;
	char *path;
	char *build_id;
	char *unescaped; /* the path without its escapes (writer/format/escape.h) */
	char *module;    /* the path as UTF-8 */
	bool is_of_process;
	bool opened;
	struct image_file *file; /* owned by the set; NULL: not opened yet */
	void *functions;         /* tree of struct fxt_location by address */
};

static int compare_images(const void *a, const void *b)
{
	const struct fxt_image *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : strcmp(x->build_id, y->build_id);
}

static int compare_files(const void *a, const void *b)
{
	const struct image_file *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->build_id, y->build_id);
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

static void free_file(void *node)
{
	struct image_file *file = node;

	fxt_dwarf_close(file->dwarf);
	fxt_symbols_free(&file->symbols);
	fxt_elf_close(&file->elf);
	free(file->build_id);
	free(file);
}

static void free_image(void *node)
{
	struct fxt_image *image = node;

	tdestroy(image->functions, free_location);
	free(image->path);
	free(image->build_id);
	free(image->unescaped);
	free(image->module);
	free(image);
}

/* Removes the next component from a path and returns it. Slashes and "." are skipped, as
 * the kernel does. */
static struct fxt_span take_component(struct fxt_span *path)
{
	struct fxt_span component;

	do {
		while (path->bytes > 0 && path->data[0] == '/')
			path->data++, path->bytes--;
		component = (struct fxt_span){path->data, 0};
		while (path->bytes > 0 && path->data[0] != '/')
			path->data++, path->bytes--, component.bytes++;
	} while (fxt_span_is(component, "."));
	return component;
}

static bool is_process(struct fxt_span component)
{
	size_t digits = 0;

	while (digits < component.bytes && isdigit((unsigned char)component.data[digits]))
		digits++;
	return (digits > 0 && digits == component.bytes) || fxt_span_is(component, "self") ||
	       fxt_span_is(component, "thread-self");
}

struct fxt_span fxt_path_in_process(struct fxt_span path)
{
	struct fxt_span rest = path, first, second;

	if (!fxt_begins_with(path, "/"))
		return (struct fxt_span){0};
	first = take_component(&rest);
	if (fxt_span_is(first, "dev")) {
		second = take_component(&rest);
		return fxt_span_is(second, "fd") && rest.bytes > 0
		               ? (struct fxt_span){second.data, second.bytes + rest.bytes}
		               : (struct fxt_span){0};
	}
	if (!fxt_span_is(first, "proc") || !is_process(take_component(&rest)))
		return (struct fxt_span){0};
	second = take_component(&rest);
	return (struct fxt_span){second.data, second.bytes + rest.bytes};
}

/* Copies a text and makes it valid UTF-8. */
static char *image_copy_text(const char *text)
{
	char *copy = strdup(text);

	if (copy)
		fxt_utf8_repair(copy, strlen(copy));
	return copy;
}

/* Returns a copy of the source file's name, as an absolute path if that is known. A "./" in
 * front, as from a compiler called with "./parse.c", is removed. */
static char *copy_file_name(const struct fxt_source_position *source)
{
	const char *file = source->file;
	char *name;

	while (strncmp(file, "./", 2) == 0)
		file += 2 + strspn(file + 2, "/");
	if (file[0] == '/' || !source->directory)
		return image_copy_text(file);
	if (asprintf(&name, "%s/%s", source->directory, file) < 0)
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
	image->module = image->path ? image_copy_text(image->path) : NULL;
	image->unescaped = image->path ? strdup(image->path) : NULL;
	if (image->unescaped)
		image->unescaped[fxt_unescape(image->unescaped, image->path, strlen(image->path))] = '\0';
	image->is_of_process = fxt_path_in_process(path).bytes > 0;
	if (image->build_id && image->unescaped && image->module)
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

	image->set = images;
	if (!found || *found != image)
		free_image(image);
	return found ? *found : NULL;
}

/* Returns the module's path as the kernel knows it. The path is tried as it stands first,
 * because a name may contain what looks like an escape. */
static const char *image_path(const struct fxt_image *image)
{
	return access(image->path, F_OK) == 0 ? image->path : image->unescaped;
}

/* Returns the path to open without help from the module's process; "" if the path has a
 * meaning only inside it. */
static const char *image_own_path(const struct fxt_image *image)
{
	if (image->is_of_process)
		return "";
	return image_path(image);
}

/* Returns the file at a path, opened now unless another path to it was opened before. A
 * failure to open is remembered only for the module's own path: a process behind another
 * path may have ended since that path was found. Returns NULL if memory is short, or if
 * another path leads to nothing. */
static struct image_file *image_file_at(struct fxt_image *image, const char *path, bool is_own)
{
	struct image_file key = {.build_id = image->build_id}, *file, **found;
	struct stat status;

	if (path[0] == '/' && stat(path, &status) == 0) {
		key.device = status.st_dev;
		key.number = status.st_ino;
	} else {
		/* A module with a full path may still have a debug file of this build
		 * ID. */
		key.number = image->path[0] == '/';
	}
	found = tfind(&key, &image->set->files, compare_files);
	if (found)
		return *found;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = key;
	file->build_id = strdup(key.build_id);
	if (!file->build_id || !tsearch(file, &image->set->files, compare_files)) {
		free_file(file);
		return NULL;
	}
	fxt_elf_open(&file->elf, path, image->build_id);
	if (!is_own && !file->elf.module.elf) {
		tdelete(file, &image->set->files, compare_files);
		free_file(file);
		return NULL;
	}
	return file;
}

static void warn_of_change(const struct fxt_image *image)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	fxt_write_text(stderr, fxt_span(image->path));
	fprintf(stderr,
	        " was rebuilt after the recording (its build ID was %s): its functions are shown by "
	        "address\n",
	        image->build_id[0] ? image->build_id : "missing");
}

static void warn_of_error(const struct fxt_image *image, int error)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	fxt_write_text(stderr, fxt_span(image->path));
	fprintf(stderr, " cannot be read: %s: its functions are shown by address\n", strerror(error));
}

/* Turns the result of a function that used libelf and libdw into ENOMEM if they ran out of
 * memory: they treat that as damage of the file and go on. errno was 0 before. */
static int as_memory_allows(int failed)
{
	return failed || errno != ENOMEM ? failed : ENOMEM;
}

static int image_open(struct fxt_image *image)
{
	if (image->opened)
		return 0;
	if (!image->file)
		image->file = image_file_at(image, image_own_path(image), true);
	if (!image->file)
		return ENOMEM;
	image->opened = true;
	struct image_file *file = image->file;

	if (!file->has_symbols)
		fxt_elf_open_debug(&file->elf, image_path(image), image->build_id);
	if (file->elf.changed && !file->elf.debug.elf)
		warn_of_change(image);
	if (file->elf.error && !file->elf.debug.elf)
		warn_of_error(image, file->elf.error);
	if (file->has_symbols)
		return 0;
	file->has_symbols = true;
	errno = 0;
	return as_memory_allows(fxt_symbols_read(&file->symbols, &file->elf));
}

bool fxt_image_is_open(const struct fxt_image *image)
{
	return image->file != NULL;
}

void fxt_image_open_by(struct fxt_image *image, const char *path)
{
	if (image->file || (image->is_of_process && !image->build_id[0]))
		return;
	struct image_file *file = image_file_at(image, path, false);

	if (file && file->elf.module.elf)
		image->file = file;
}

/* Finds an address in the debug information, which is opened when it is first needed. */
static int find_source(struct fxt_image *image, uint64_t address, struct fxt_source_position *source)
{
	struct image_file *file = image->file;
	const struct fxt_elf_file *debug = fxt_elf_sources(&file->elf, image->build_id);

	*source = (struct fxt_source_position){0};
	if (!debug->dwarf)
		return 0;
	errno = 0;
	if (!file->dwarf)
		file->dwarf = fxt_dwarf_open(debug->dwarf, debug->path);
	return file->dwarf ? as_memory_allows(fxt_dwarf_find(file->dwarf, address, source)) : ENOMEM;
}

static int take_source(struct fxt_location *function, const struct fxt_source_position *source)
{
	if (!source->file)
		return 0;
	function->file = copy_file_name(source);
	function->line = source->line;
	return function->file ? 0 : ENOMEM;
}

/* Looks up the function's name; name_bytes 0 means unknown. If no symbol has it, the debug
 * information is searched, which gives the source position too. */
static int look_up_name(struct fxt_image *image, struct fxt_location *function, char name[FXT_NAME_ROOM])
{
	const struct fxt_symbol *symbol = fxt_symbols_find(&image->file->symbols, function->address);
	struct fxt_source_position source;
	int failed;

	if (symbol) {
		function->name_bytes = fxt_demangle(symbol->name, name);
		function->is_local = symbol->is_local;
		return 0;
	}
	failed = find_source(image, function->address, &source);
	if (!failed)
		failed = take_source(function, &source);
	function->is_located = true;
	function->is_local = true;
	function->name_bytes = source.name ? fxt_demangle(source.name, name) : 0;
	return failed;
}

/* Looks up the source position of a function that a symbol has named. A debug entry counts
 * only if it begins at the symbol's address. */
static int look_up_source(struct fxt_image *image, struct fxt_location *function)
{
	uint64_t start = fxt_symbols_find(&image->file->symbols, function->address)->address;
	struct fxt_source_position source;
	int failed = find_source(image, start, &source);

	function->is_located = true;
	return !failed && source.start == start ? take_source(function, &source) : failed;
}

static size_t address_name(const struct fxt_image *image, uint64_t address, char name[FXT_NAME_ROOM])
{
	/* A descriptor's number alone says little, so such a path is kept whole. */
	const char *slash = image->is_of_process ? NULL : strrchr(image->module, '/');
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
	int failed = look_up_name(image, &found, name);

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

static struct fxt_location *named_function(struct fxt_image *image, uint64_t address)
{
	struct fxt_location key = {.address = address};
	struct fxt_location **found = tfind(&key, &image->functions, compare_locations);

	if (found)
		return *found;
	struct fxt_location *function = image_open(image) == 0 ? new_location(image, address) : NULL;

	if (function && !tsearch(function, &image->functions, compare_locations)) {
		free_location(function);
		return NULL;
	}
	return function;
}

const struct fxt_location *fxt_image_name(struct fxt_image *image, uint64_t address)
{
	return named_function(image, address);
}

const struct fxt_location *fxt_image_function(struct fxt_image *image, uint64_t address)
{
	struct fxt_location *function = named_function(image, address);

	if (function && !function->is_located && look_up_source(image, function) != 0)
		return NULL;
	return function;
}

void fxt_images_free(struct fxt_images *images)
{
	tdestroy(images->tree, free_image);
	tdestroy(images->files, free_file);
	*images = (struct fxt_images){0};
}

/*
 * Any bytes as a trace that is exported. The first word says how: its lowest byte is the
 * cost of call paths, the next the format and whether threads stand by themselves; the
 * others are a pattern for functions. The output is in memory, or in a directory of its
 * own.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file.h"
#include "fxt/export/export.h"
#include "reader/slices/query_filter.h"
#include "reader/trace/source.h"

struct fuzz_format {
	unsigned properties;
	void (*run)(struct fxt_export *e);
};

static const struct fuzz_format formats[] = {
#define FUZZ_FORMAT(name, ending, properties, summary) {properties, fxt_export_##name},
        FXT_EXPORTERS(FUZZ_FORMAT)
#undef FUZZ_FORMAT
};

static int fuzz_remove(const char *name, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(name);
}

/* Runs a format that makes files, in a directory without files of other inputs. */
static void fuzz_run_to_files(const struct fuzz_format *format, struct fxt_export *e)
{
	char directory[] = "/dev/shm/fxt-fuzz-XXXXXX", name[256];

	if (!mkdtemp(directory))
		abort();
	snprintf(name, sizeof(name), "%s/made", directory);
	e->file = name;
	format->run(e);
	if (nftw(directory, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS) != 0)
		abort();
}

static void fuzz_run_to_stream(const struct fuzz_format *format, struct fxt_export *e)
{
	char *data;
	size_t bytes;

	e->out = open_memstream(&data, &bytes);
	if (!e->out)
		abort();
	format->run(e);
	fclose(e->out);
	free(data);
}

static void fuzz_export(const struct fxt_source *source, const uint8_t *how)
{
	const struct fuzz_format *format = &formats[(how[1] >> 1) % (sizeof(formats) / sizeof(*formats))];
	struct fxt_query_filter choice = {0};
	char pattern[7] = {0};
	struct fxt_export e = {.name = "trace",
	        .source = source,
	        .wanted = {.cost = (enum fxt_flame_cost)(how[0] % FXT_FLAME_COSTS),
	                .by_thread = how[1] & 1,
	                .choice = &choice}};

	memcpy(pattern, how + 2, 6);
	if (*pattern && format->properties & FXT_EXPORT_OF_CHOICE && !fxt_flame_is_heap(e.wanted.cost))
		fxt_query_filter_set(&choice, FXT_CHOOSE_FUNCTION, pattern);
	if (format->properties & FXT_EXPORT_OF_FILES)
		fuzz_run_to_files(format, &e);
	else
		fuzz_run_to_stream(format, &e);
	fxt_query_filter_free(&choice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fxt_source source;
	char error[1024];

	if (bytes < 8)
		return 0;
	int fd = fuzz_file(data + 8, bytes - 8);

	if (fxt_source_open_fd(&source, fd, "trace", error, sizeof(error)) == 0) {
		fuzz_export(&source, data);
		fxt_source_close(&source);
	}
	close(fd);
	return 0;
}

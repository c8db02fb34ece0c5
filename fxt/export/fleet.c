/*
 * A trace as a part of a fleet (fleet.h): the tables of fxt sql as CSV, in
 *
 *   FOLDER/day=2026-11-29/run=1f0c8a52b7e3d946/TABLE.csv.zst
 *
 * Engines for many files take such names of folders for columns. The last parts of FOLDER
 * may be such pairs too, as in fleet/version=1.4/host=node7; the fleet begins above them.
 *
 * The tables are written in a folder without such a name, which then gets its name, or
 * changes places with the one that has it. So a run is never there in part, and the same
 * trace is there once. Runs on the main thread.
 */
#include "fleet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "fxt/commands.h"
#include "fxt/output.h"
#include "tables.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* The place of a trace. */
struct fleet_run {
	int folder, fresh, day; /* descriptors; -1: not open */
	char fresh_name[16];    /* below the folder, while it is written */
	char day_name[32], name[32];
	char whole_name[PATH_MAX]; /* for messages */
};

/* ---- names ---- */

/* A number that the contents of the trace give (FNV-1a), so that the same trace has it
 * again, and a part of the trace, or a snapshot from before its end, has another. */
static uint64_t fleet_number(const struct fxt_source *source)
{
	static unsigned char piece[1 << 16];
	uint64_t number = FNV_BASIS, offset = 0;
	size_t bytes;

	for (; (bytes = fxt_source_read(source, offset, piece, sizeof(piece))) > 0; offset += bytes)
		for (size_t i = 0; i < bytes; i++)
			number = (number ^ piece[i]) * FNV_PRIME;
	return number;
}

static void fleet_name(struct fleet_run *run, const struct fxt_export *e, const struct fxt_scan *scan)
{
	time_t began = (time_t)(scan->began.realtime_ns / 1000000000);
	struct tm date;
	unsigned number;

	snprintf(run->day_name, sizeof(run->day_name), "day=unknown");
	if (began > 0 && gmtime_r(&began, &date))
		strftime(run->day_name, sizeof(run->day_name), "day=%Y-%m-%d", &date);
	snprintf(run->name, sizeof(run->name), "run=%016" PRIx64, fleet_number(e->source));
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (unsigned)getpid();
	snprintf(run->fresh_name, sizeof(run->fresh_name), ".new.%08x", number);
	snprintf(run->whole_name, sizeof(run->whole_name), "%s/%s/%s", e->file, run->day_name, run->name);
}

/* ---- folders ---- */

/* Makes a folder that is not there, with those above it. */
static const char *fleet_open_folder(int *folder, const char *path, const struct fxt_source_file *source)
{
	char above[PATH_MAX];
	const char *reason = NULL, *slash = path;

	while (!reason && *slash && (slash = strchr(slash + 1, '/')) != NULL) {
		if (snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path) >= (int)sizeof(above))
			return strerror(ENAMETOOLONG);
		if (access(above, F_OK) == 0)
			continue;
		reason = fxt_draft_open_directory(folder, AT_FDCWD, above, source);
		if (!reason)
			close(*folder);
	}
	return reason ? reason : fxt_draft_open_directory(folder, AT_FDCWD, path, source);
}

/* Removes a folder of files. */
static void fleet_remove(int at, const char *name)
{
	int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *files = folder >= 0 ? fdopendir(folder) : NULL;
	struct dirent *file;

	while (files && (file = readdir(files)) != NULL)
		if (strcmp(file->d_name, ".") != 0 && strcmp(file->d_name, "..") != 0)
			unlinkat(folder, file->d_name, 0);
	if (files)
		closedir(files);
	unlinkat(at, name, AT_REMOVEDIR);
}

/* Puts the written folder in its place. One that has the place is removed. */
static const char *fleet_publish(struct fleet_run *run, const struct fxt_source_file *source)
{
	const char *reason = fxt_draft_open_directory(&run->day, run->folder, run->day_name, source);

	if (reason)
		return reason;
	if (renameat(run->folder, run->fresh_name, run->day, run->name) == 0)
		return NULL;
	if ((errno != EEXIST && errno != ENOTEMPTY) ||
	        renameat2(run->folder, run->fresh_name, run->day, run->name, RENAME_EXCHANGE) != 0)
		return strerror(errno);
	fleet_remove(run->folder, run->fresh_name);
	return NULL;
}

/* ---- writing ---- */

/* The number of bytes of a folder's name without the pairs at its end. */
static size_t fleet_root(const char *folder)
{
	size_t bytes = strlen(folder);

	for (;;) {
		while (bytes > 1 && folder[bytes - 1] == '/')
			bytes--;
		size_t name = bytes;

		while (name > 0 && folder[name - 1] != '/')
			name--;
		if (!memchr(folder + name, '=', bytes - name))
			return bytes;
		bytes = name;
	}
}

/* Returns false after reporting the reason. */
static bool fleet_write_views(const struct fxt_export *e)
{
	size_t bytes = fleet_root(e->file);
	char name[PATH_MAX + 16];
	struct fxt_output out;

	snprintf(name, sizeof(name), "%.*s%sfleet.sql", (int)bytes, e->file,
	        bytes > 0 && e->file[bytes - 1] != '/' ? "/" : "");
	if (fxt_output_open(&out, name, &e->source->file) != 0)
		return false;
	fxt_export_fleet_views(out.file);
	return fxt_output_close(&out) == 0;
}

/* Returns false, after reporting it, for a reason. */
static bool fleet_is_made(const char *name, const char *reason)
{
	if (reason)
		fprintf(stderr, "fxt: %s: cannot be made: %s\n", name, reason);
	return !reason;
}

static bool fleet_fill(struct fleet_run *run, struct fxt_export *e, sqlite3 *database)
{
	const struct fxt_source_file *source = &e->source->file;
	const char *reason = fleet_open_folder(&run->folder, e->file, source);

	if (!reason)
		reason = fxt_draft_open_directory(&run->fresh, run->folder, run->fresh_name, source);
	const struct fxt_export_place place = {run->fresh, run->whole_name, FXT_FLEET_TABLES};

	return fleet_is_made(e->file, reason) && fxt_export_csv_tables(e, &place, database) &&
	       fleet_write_views(e) && fleet_is_made(run->whole_name, fleet_publish(run, source));
}

static void fleet_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void fxt_export_fleet(struct fxt_export *e)
{
	struct fleet_run run = {.folder = -1, .fresh = -1, .day = -1};
	struct fxt_export_tables tables;

	if (!fxt_export_tables_open(e, &tables))
		return;
	fleet_name(&run, e, &tables.trace.scan);
	if (!fleet_fill(&run, e, tables.database)) {
		if (run.fresh >= 0)
			fleet_remove(run.folder, run.fresh_name);
		e->status = FXT_FAILED;
	}
	fleet_close(run.folder);
	fleet_close(run.fresh);
	fleet_close(run.day);
	fxt_export_tables_close(e, &tables);
}

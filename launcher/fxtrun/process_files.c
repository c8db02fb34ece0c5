/*
 * Writes the files of --file-per-process (process_files.h). Runs on the thread that
 * finishes the trace. It must not remove the trace before all files are in their places.
 */
#include "process_files.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "division.h"
#include "launcher/message.h"
#include "output_name.h"
#include "reader/trace/draft.h"
#include "reader/trace/fields.h"
#include "reader/trace/sink.h"
#include "writer/format/encode.h"
#include "writer/shared/clock.h"

struct process_files {
	const char *pattern; /* of the names, with %p and %n */
	char folder[PATH_MAX];
	bool is_compressed;
	struct fxt_rotation session;
	struct fxt_archive archive;
	struct fxt_division division;
	struct fxt_spill_window shared_window, own_window;
	uint64_t shared_count; /* runs that each file has */
	uint64_t next;         /* the first run of the next file */
	uint64_t bytes;
	uint32_t count;
	/* of the file that is being written */
	struct fxt_sink *sink;
	uint32_t provider;
	bool has_session;
	int failed;
};

/* ---- names ---- */

/* Makes the name of a process's file. The kernel gives numbers again; later processes of one
 * number have another koid, and a second number in their name. */
static bool files_name(
        const struct process_files *f, uint32_t process, const char *folder, char path[PATH_MAX])
{
	const struct fxt_tables *t = &f->division.tables;
	uint64_t koid = f->division.koids[process], reuse = koid >> FXT_KOID_REUSE_SHIFT;
	struct fxt_span text = fxt_tables_object_text(t, FXT_OBJECT_PROCESS, koid);
	unsigned number = koid & ((1u << FXT_KOID_REUSE_SHIFT) - 1);
	char name[PATH_MAX], program[NAME_MAX + 1], pid[64];

	snprintf(program, sizeof(program), "%.*s", (int)text.bytes, text.data);
	if (reuse)
		snprintf(pid, sizeof(pid), "%u-%llu", number, (unsigned long long)reuse + 1);
	else
		snprintf(pid, sizeof(pid), "%u", number);
	return fxt_output_name_put(name, f->pattern, "%pn", pid, program) &&
	       snprintf(path, PATH_MAX, "%s%s", folder, strrchr(name, '/') ? strrchr(name, '/') + 1 : name) <
	               PATH_MAX;
}

/* ---- records ---- */

static void files_put(struct process_files *f, const void *data, size_t bytes)
{
	if (!f->failed)
		f->failed = fxt_sink_append(f->sink, data, bytes);
}

static void files_put_blob(
        struct process_files *f, const char *name, enum fxt_blob_type type, const void *data, size_t bytes)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];

	files_put(f, record,
	        8 * fxt_put_blob(record, FXT_RECORD_MAX_WORDS, fxt_string_text(name), type, data, bytes));
}

/* The session stands before the first provider, as in the files of --rotate. */
static void files_put_run(struct process_files *f, const struct fxt_division_run *run)
{
	const uint64_t *words = f->archive.words + run->offset / 8;
	uint64_t section;

	if (run->provider && !f->has_session) {
		files_put_blob(f, FXT_ROTATION_BLOB, FXT_BLOB_DATA, &f->session, sizeof(f->session));
		f->has_session = true;
	}
	/* A run that begins with the provider's announcement needs no section. */
	bool is_announced = fxt_record_type(*words) == FXT_RECORD_METADATA &&
	                    fxt_record_subtype(*words) == FXT_METADATA_PROVIDER_INFO;

	if (run->provider && run->provider != f->provider && !is_announced) {
		fxt_put_provider_section(&section, 1, run->provider);
		files_put(f, &section, sizeof(section));
	}
	if (run->provider)
		f->provider = run->provider;
	files_put(f, words, run->bytes);
}

static void files_put_open_calls(void *files, const void *data, size_t bytes)
{
	files_put_blob(files, FXT_OPEN_CALLS_BLOB, FXT_BLOB_PERFETTO, data, bytes);
}

static void files_describe_open_calls(struct process_files *f, uint64_t koid)
{
	const struct fxt_open_calls *all = &f->division.open_calls;

	for (size_t i = 0; f->division.has_open_calls && i < all->count; i++) {
		const struct fxt_open_calls one = {.threads = &all->threads[i], .count = 1};

		if (all->threads[i].process == koid)
			fxt_open_calls_describe(&one, 0, files_put_open_calls, f);
	}
}

/* The run of an index if it is one of that process, else NULL. */
static const struct fxt_division_run *files_run(
        const struct process_files *f, struct fxt_spill_window *window, uint64_t index, uint32_t process)
{
	const struct fxt_division_run *run =
	        index < f->division.runs.count ? fxt_spill_at(&f->division.runs, window, index) : NULL;

	return run && run->process == process ? run : NULL;
}

/* Writes the records of a process, and moves to the runs of the next one. */
static int files_put_records(struct process_files *f, uint32_t process, int fd)
{
	const struct fxt_division_run *shared, *own;
	uint64_t next_shared = 0;

	*f->sink = (struct fxt_sink){.fd = fd};
	f->provider = 0;
	f->has_session = false;
	f->failed = 0;
	do {
		shared = files_run(f, &f->shared_window, next_shared, FXT_DIVISION_ALL);
		own = files_run(f, &f->own_window, f->next, process);
		bool is_shared = shared && (!own || shared->offset < own->offset);

		if (shared || own)
			files_put_run(f, is_shared ? shared : own);
		next_shared += is_shared;
		f->next += own && !is_shared;
	} while (shared || own);
	files_describe_open_calls(f, f->division.koids[process]);
	return f->failed ? f->failed : fxt_sink_flush(f->sink);
}

/* ---- files ---- */

/* Writes the file's content: through another file if it is compressed, or has a heap whose
 * profiles are made of the records. Returns NULL, or the reason why it cannot. */
static const char *files_write(struct process_files *f, uint32_t process, int fd)
{
	const struct fxt_rewrite_options options = {
	        .compressed = f->is_compressed, .heap_profiles = f->division.has_profiles};
	bool is_rewritten = options.compressed || options.heap_profiles;
	int records = is_rewritten ? fxt_trace_output_temporary_file() : fd;
	static char error[PATH_MAX + 256];
	struct fxt_rewrite_result result;
	const char *reason = NULL;
	int failed;

	if (records < 0)
		return strerror(errno);
	failed = files_put_records(f, process, records);
	if (failed)
		reason = strerror(failed);
	else if (is_rewritten &&
	         fxt_rewrite_archive(records, fd, &options, &result, error, sizeof(error)) != 0)
		reason = error;
	if (is_rewritten)
		close(records);
	return reason;
}

/* Makes the file of a process. Returns NULL, or the reason why it cannot. */
static const char *files_make(struct process_files *f, uint32_t process, const char *path)
{
	const struct fxt_draft_config config = {.source = &f->archive.file};
	struct fxt_draft draft;
	struct stat status;
	const char *reason = fxt_draft_open(&draft, AT_FDCWD, path, &config);
	int failed;

	if (reason)
		return reason;
	reason = files_write(f, process, draft.fd);
	if (reason) {
		fxt_draft_abandon(&draft);
		return reason;
	}
	f->bytes += fstat(draft.fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	failed = fxt_draft_publish(&draft);
	f->count += !failed;
	return failed ? strerror(failed) : NULL;
}

/* Processes without a record of their own get no file. */
static bool files_has_records(struct process_files *f, uint32_t process)
{
	return files_run(f, &f->own_window, f->next, process) != NULL;
}

/* Removes the files of the processes before `end`: the trace stays, and has all of them. */
static void files_remove(struct process_files *f, uint32_t end)
{
	char path[PATH_MAX];

	f->next = f->shared_count;
	for (uint32_t i = 1; i < end; i++) {
		if (files_has_records(f, i) && files_name(f, i, f->folder, path))
			unlink(path);
		while (files_has_records(f, i))
			f->next++;
	}
}

/* Makes all files. False: one of them cannot be made, which was printed. */
static bool files_make_all(struct process_files *f, const char *trace)
{
	char path[PATH_MAX];
	const char *reason = NULL;
	uint32_t process = 1;

	while (files_run(f, &f->own_window, f->shared_count, FXT_DIVISION_ALL))
		f->shared_count++;
	f->next = f->shared_count;
	for (; process < f->division.count && !reason; process++)
		if (files_has_records(f, process))
			reason = files_name(f, process, f->folder, path) ? files_make(f, process, path)
			                                                 : strerror(ENAMETOOLONG);
	if (!reason)
		return true;
	fxt_say("%s has all processes: %s cannot be written: %s", trace, path, reason);
	files_remove(f, process - 1);
	return false;
}

/* ---- the trace ---- */

/* Divides the open trace. False: it stays as it is. */
static bool files_divide(struct process_files *f, const char *trace, char program[PATH_MAX])
{
	char folder[PATH_MAX]; /* as the user named it */
	bool is_divided;

	strcpy(folder, trace);
	*(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder) = 0;

	fxt_divide(&f->division, &f->archive);
	f->sink = fxt_allocate(sizeof(*f->sink));
	is_divided = f->division.first && files_make_all(f, trace) &&
	             files_name(f, f->division.first, folder, program);
	free(f->sink);
	fxt_division_free(&f->division);
	return is_divided;
}

void fxt_process_files_make(const struct fxt_options *options, struct fxt_trace_output *output,
        struct fxt_totals *totals, uint64_t *bytes)
{
	struct process_files f = {.pattern = options->process_files, .is_compressed = output->is_compressed};
	static char program[PATH_MAX];
	char error[PATH_MAX + 256];

	if (!options->file_per_process || totals->trace_is_lost)
		return;
	if (!*output->path) {
		fxt_say("%s has all processes: only a file in a folder that can be written to is divided",
		        output->name);
		return;
	}
	if (fxt_archive_open(&f.archive, output->path, error, sizeof(error)) != 0) {
		fxt_say("%s has all processes: %s", output->name, error);
		return;
	}
	strcpy(f.folder, output->path);
	strrchr(f.folder, '/')[1] = 0;
	/* Fits because a process number has at most 22 bits. */
	f.session.session = fxt_clock_ticks(FXT_CLOCK_MONOTONIC) << FXT_KOID_REUSE_SHIFT | (uint64_t)getpid();
	if (files_divide(&f, output->name, program)) {
		unlink(output->path);
		output->name = program;
		totals->process_files = f.count;
		*bytes = f.bytes;
	}
	fxt_archive_close(&f.archive);
}

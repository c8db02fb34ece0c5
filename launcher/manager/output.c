/*
 * Opens the place for the trace, and turns the raw archive into the finished trace at the
 * end. Runs on the main thread, or on the thread that finishes a recording. Must not lose
 * the raw archive: if rewriting fails, the raw archive is kept.
 */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "reader/trace/empty_file.h"
#include "reader/slices/span.h"
#include "reader/trace/write_all.h"
#include "writer/shared/atomics.h"
#include "writer/shared/shared.h"
#include "writer/shared/trace_open.h"

#define OUTPUT_TEMPORARY "the temporary file in TMPDIR or /tmp"

int fxt_trace_output_temporary_file(void)
{
	const char *directory = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!directory || !*directory)
		directory = "/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	/* Some file systems cannot make unnamed files. */
	snprintf(path, sizeof(path), "%s/fxtrun-XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

bool fxt_trace_output_is_compressed(const char *name)
{
	return fxt_ends_with(fxt_span(name), ".zst");
}

const char *fxt_trace_output_extension(const char *name)
{
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	const char *extension = strrchr(base, '.');

	if (extension && extension != base && fxt_trace_output_is_compressed(base))
		extension = memrchr(base, '.', (size_t)(extension - base)) ?: extension;
	return extension && extension != base ? extension : base + strlen(base);
}

/* ---- opening ---- */

bool fxt_trace_output_is_standard(const char *name)
{
	static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* True if a descriptor is that file. Devices do not count: /dev/null takes both outputs,
 * and a terminal takes no trace at all. */
static bool output_is_file_of(int fd, const struct stat *file)
{
	struct stat status;

	return fstat(fd, &status) == 0 && !S_ISCHR(status.st_mode) && status.st_dev == file->st_dev &&
	       status.st_ino == file->st_ino;
}

/* True if the program writes to the same file, which would mix its text with the trace. If
 * the trace goes to the standard output, the program's output goes elsewhere. */
static bool output_is_shared(const char *name)
{
	struct stat status;

	if (fxt_trace_output_is_standard(name))
		return fstat(STDOUT_FILENO, &status) == 0 && output_is_file_of(STDERR_FILENO, &status);
	return stat(name, &status) == 0 &&
	       (output_is_file_of(STDOUT_FILENO, &status) || output_is_file_of(STDERR_FILENO, &status));
}

static int output_open_target(struct fxt_trace_output *o, const char *name)
{
	struct stat status;
	bool regular;
	long opened;
	int fd;

	if (fxt_trace_output_is_standard(name)) {
		o->standard = true;
		o->name = "standard output";
		/* A descriptor that fxtrun was started with has no FD_CLOEXEC, since it
		 * survived an exec. With the flag set, the descriptor only fills the number
		 * of a standard output that was closed, and there is none to write to. */
		if (fcntl(STDOUT_FILENO, F_GETFD) & FD_CLOEXEC) {
			errno = EBADF;
			return -1;
		}
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	}
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FXT_TRACE_MODE);
	o->created = fd >= 0;
	if (fd >= 0 || errno != EEXIST)
		return fd;
	/* Without O_RDWR: if we could read from a pipe ourselves, we would never notice
	 * that its reader is gone. */
	regular = stat(name, &status) != 0 || S_ISREG(status.st_mode);
	opened = fxt_trace_open(name, (regular ? O_RDWR : O_WRONLY) | O_NOCTTY | O_CLOEXEC, FXT_TRACE_MODE);
	if (opened >= 0)
		return (int)opened;
	errno = (int)-opened;
	return -1;
}

/* True if a finished file can replace this one. Finds its path. */
static bool output_can_replace(struct fxt_trace_output *o, int fd)
{
	char folder[PATH_MAX];
	struct stat status;

	if (o->standard || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !realpath(o->name, o->path))
		return false;
	strcpy(folder, o->path);
	strrchr(folder, '/')[1] = 0;
	return access(folder, W_OK) == 0;
}

int fxt_trace_output_open(struct fxt_trace_output *o, const char *name, bool defer, const char *advice,
        char *error, size_t error_bytes)
{
	int fd;

	*o = (struct fxt_trace_output){.name = name, .raw_fd = -1, .final_fd = -1, .plain_fd = -1};
	o->is_compressed = fxt_trace_output_is_compressed(name);
	if (output_is_shared(name)) {
		snprintf(error, error_bytes,
		        fxt_trace_output_is_standard(name)
		                ? "%s: standard output and standard error are the same file, and the "
		                  "program's text would be in the trace; choose another place%s"
		                : "%s is where the program prints, so its text would be in the trace; choose "
		                  "another place%s",
		        name, advice);
		return -1;
	}
	fd = output_open_target(o, name);
	if (fd < 0) {
		snprintf(error, error_bytes, "cannot write the trace to %s: %s; choose another place%s",
		        o->name, errno == EPERM ? FXT_TRACE_OPEN_FOREIGN : strerror(errno), advice);
		return -1;
	}
	o->raw_name = o->name;
	if (!defer && output_can_replace(o, fd)) {
		o->raw_fd = fd;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return 0;
		snprintf(error, error_bytes, "%s is being written by another fxtrun; choose another file%s",
		        name, advice);
		close(fd);
		return -1;
	}
	o->final_fd = fd;
	if (isatty(fd)) {
		snprintf(error, error_bytes, "%s is a terminal; send the trace to a file or a pipe", o->name);
	} else {
		o->raw_name = OUTPUT_TEMPORARY;
		o->raw_fd = fxt_trace_output_temporary_file();
		if (o->raw_fd >= 0)
			return 0;
		snprintf(error, error_bytes, "no temporary file for the trace in TMPDIR or /tmp: %s",
		        strerror(errno));
	}
	fxt_trace_output_abandon(o);
	return -1;
}

void fxt_trace_output_adopt(struct fxt_trace_output *o, const char *name, int raw_fd, int final_fd)
{
	*o = (struct fxt_trace_output){.name = name, .raw_fd = raw_fd, .final_fd = final_fd, .plain_fd = -1};
	o->is_compressed = fxt_trace_output_is_compressed(name);
	o->raw_name = final_fd < 0 ? name : OUTPUT_TEMPORARY;
	if (final_fd < 0)
		output_can_replace(o, raw_fd);
}

void fxt_trace_output_compress(
        struct fxt_trace_output *o, enum fxt_buffering_mode mode, struct fxt_compressor_queue *queue)
{
	/* In other modes almost nothing is written before the end, and a snapshot copies
	 * the contents. */
	if (o->is_compressed && o->final_fd < 0 && mode == FXT_STREAMING)
		o->queue = queue;
}

/* True if the raw archive is compressed. */
static bool output_has_frames(const struct fxt_trace_output *o)
{
	return o->queue && load_acquire(&o->queue->is_used);
}

int fxt_trace_output_recover(struct fxt_trace_output *o)
{
	if (!output_has_frames(o))
		return o->raw_fd;
	o->plain_fd = fxt_compressor_unpack(o->queue, o->raw_fd);
	return o->plain_fd;
}

static void output_close(struct fxt_trace_output *o)
{
	if (o->plain_fd >= 0)
		close(o->plain_fd);
	if (o->raw_fd >= 0) {
		flock(o->raw_fd, LOCK_UN); /* the supervisor may still hold it */
		close(o->raw_fd);
	}
	if (o->final_fd >= 0)
		close(o->final_fd);
}

void fxt_trace_output_abandon(struct fxt_trace_output *o)
{
	char old[PATH_MAX + sizeof(FXT_TRACE_OUTPUT_OLD)];

	if (o->created)
		unlink(o->name);
	if (o->has_kept_old) {
		snprintf(old, sizeof(old), "%s" FXT_TRACE_OUTPUT_OLD, o->path);
		rename(old, o->path);
	}
	output_close(o);
}

/* Moves an earlier trace aside and puts a new file in its place. False: the file is
 * unchanged, or there is none. */
static bool output_keep_old(struct fxt_trace_output *o)
{
	char old[PATH_MAX + sizeof(FXT_TRACE_OUTPUT_OLD)];
	int fd;

	snprintf(old, sizeof(old), "%s" FXT_TRACE_OUTPUT_OLD, o->path);
	if (rename(o->path, old) != 0)
		return false;
	fd = open(o->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FXT_TRACE_MODE);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || dup3(fd, o->raw_fd, O_CLOEXEC) < 0) {
		rename(old, o->path);
		if (fd >= 0)
			close(fd);
		return false;
	}
	close(fd);
	return true;
}

void fxt_trace_output_begin(struct fxt_trace_output *o, bool keeps_old)
{
	struct stat status;
	int fd = o->final_fd < 0 ? o->raw_fd : o->final_fd;

	o->has_kept_old = keeps_old && o->final_fd < 0 && fstat(fd, &status) == 0 && status.st_size > 0 &&
	                  output_keep_old(o);
	if (o->has_kept_old)
		return;
	/* It was opened for writing just now, so nothing can refuse it. */
	if (!o->standard)
		(void)!fxt_empty_file(fd);
}

/* ---- finishing ---- */

/* Reports the state of a trace after its rewriting ended with `result` (0 or -1), with the
 * reason for -1 in `reason`. */
static int output_rewritten(const struct fxt_trace_output *o, int result,
        const struct fxt_rewrite_options *options, const struct fxt_fault *fault, const char *reason,
        char *error, size_t error_bytes)
{
	if (result != 0 && o->plain_fd >= 0) {
		snprintf(error, error_bytes, "%s stays unfinished: %s", o->name, reason);
		return -1;
	}
	if (result != 0 && !options->symbols && !options->cleared_count && o->is_roomy &&
	        !options->compressed)
		return 0; /* only larger than necessary */
	if (result != 0 && !options->symbols) {
		snprintf(error, error_bytes, "%s is not %s: %s; fxt reads it as it is", o->name,
		        output_has_frames(o) ? "as viewers want it" : "compressed", reason);
		return -1;
	}
	if (result != 0) {
		snprintf(error, error_bytes, "no names in %s: %s; fxt symbolize can add them later", o->name,
		        reason);
		return -1;
	}
	if (!fault->reason)
		return 0;
	snprintf(error, error_bytes,
	        "%s: %s at byte %" PRIu64 " of the records; the records after it were dropped", o->name,
	        fault->reason, fault->offset);
	return -1;
}

/* Copies a file from its start. Returns the number of bytes, or -1 and errno. */
static int64_t output_copy(int from, int to)
{
	static char block[1 << 20];
	int64_t total = 0;
	ssize_t bytes;

	while ((bytes = pread(from, block, sizeof(block), total)) > 0) {
		if ((errno = fxt_write_all(to, block, (size_t)bytes)) != 0)
			return -1;
		total += bytes;
	}
	return bytes < 0 ? -1 : total;
}

/* Finishes an archive that has its names. Returns the same as fxt_trace_output_finish(). */
static int output_finish_named(const struct fxt_trace_output *o, const struct fxt_rewrite_options *options,
        char *error, size_t error_bytes)
{
	char reason[PATH_MAX + 256];

	if (!options->heap_profiles ||
	        fxt_rewrite_append_profiles(o->raw_fd, options, reason, sizeof(reason)) == 0)
		return 0;
	snprintf(error, error_bytes, "no flame graph of the heap in %s: %s", o->name, reason);
	return -1;
}

/* Copies an archive that has its names to `to`. */
static int output_finish_named_copy(struct fxt_trace_output *o, int to,
        const struct fxt_rewrite_options *options, uint64_t *bytes, char *error, size_t error_bytes)
{
	int result = output_finish_named(o, options, error, error_bytes);
	int64_t copied = output_copy(o->raw_fd, to);

	*bytes = copied < 0 ? 0 : (uint64_t)copied;
	if (copied >= 0)
		return result;
	snprintf(error, error_bytes, "%s: %s; the trace is lost", o->name, strerror(errno));
	return -1;
}

/* True if the archive is not yet in its final form. */
static bool output_is_to_be_rewritten(
        const struct fxt_trace_output *o, const struct fxt_rewrite_options *options)
{
	/* Profiles of the heap cannot be appended behind the table of the frames. */
	bool is_as_told = options->compressed == output_has_frames(o) &&
	                  !(options->compressed && options->heap_profiles);

	/* In a compressed archive, records without content take almost no room. */
	bool is_roomy = o->is_roomy && !options->compressed;

	return options->symbols || options->cleared_count || o->plain_fd >= 0 || !is_as_told || is_roomy;
}

/* Copies the finished archive to `to`; the raw one if it cannot be finished. */
static int output_finish_copy(struct fxt_trace_output *o, int to, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes)
{
	struct fxt_rewrite_result rewrite = {0};
	char reason[PATH_MAX + 256];
	int finished, result = -1, raw = o->plain_fd >= 0 ? o->plain_fd : o->raw_fd;
	int64_t copied;

	if (!output_is_to_be_rewritten(o, options))
		return output_finish_named_copy(o, to, options, bytes, error, error_bytes);
	finished = fxt_trace_output_temporary_file();
	if (finished < 0)
		snprintf(reason, sizeof(reason), "no temporary file: %s", strerror(errno));
	else
		result = fxt_rewrite_archive(raw, finished, options, &rewrite, reason, sizeof(reason));
	copied = output_copy(result == 0 ? finished : raw, to);
	*bytes = copied < 0 ? 0 : (uint64_t)copied;
	if (copied >= 0) {
		result = output_rewritten(o, result, options, &rewrite.fault, reason, error, error_bytes);
	} else {
		snprintf(error, error_bytes, "%s: %s; the trace is lost", o->name, strerror(errno));
		result = -1;
	}
	if (finished >= 0)
		close(finished);
	return result;
}

/* The program has removed the file. The archive still exists while it is open, and is put
 * back. */
static int output_restore(struct fxt_trace_output *o, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes)
{
	int fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FXT_TRACE_MODE);
	int result;

	if (fd < 0) {
		snprintf(error, error_bytes,
		        "%s was removed while the program ran and cannot be written again: %s; "
		        "the trace is lost",
		        o->name, strerror(errno));
		return -1;
	}
	result = output_finish_copy(o, fd, options, bytes, error, error_bytes);
	close(fd);
	return result;
}

/* True if another process truncated the file, or wrote another in its place: it does not
 * begin as a trace. A recovered archive may have its beginning from the queue: the
 * compressor had not come to write yet. */
static bool output_has_no_beginning(const struct fxt_trace_output *o)
{
	bool has_frames = o->plain_fd < 0 && output_has_frames(o);
	uint32_t magic, expected = has_frames ? FXT_FRAME_MAGIC : (uint32_t)FXT_MAGIC_RECORD;

	return pread(o->plain_fd >= 0 ? o->plain_fd : o->raw_fd, &magic, sizeof(magic), 0) !=
	               (ssize_t)sizeof(magic) ||
	       magic != expected;
}

static int output_finish_file(struct fxt_trace_output *o, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes)
{
	struct fxt_rewrite_options replacing = *options;
	struct fxt_rewrite_result rewrite = {0};
	struct stat ours, there;
	bool is_rewritten = output_is_to_be_rewritten(o, options);
	char reason[PATH_MAX + 256], plain[32];
	int result;

	if (fstat(o->raw_fd, &ours) != 0 || stat(o->path, &there) != 0)
		return output_restore(o, options, bytes, error, error_bytes);
	if (ours.st_dev != there.st_dev || ours.st_ino != there.st_ino) {
		snprintf(error, error_bytes, "%s was replaced while the program ran; the trace is lost",
		        o->name);
		return -1;
	}
	if (output_has_no_beginning(o)) {
		snprintf(error, error_bytes, "%s was truncated while the program ran; the trace is lost",
		        o->name);
		return -1;
	}
	snprintf(plain, sizeof(plain), "/proc/self/fd/%d", o->plain_fd);
	replacing.keeps_owner = true; /* it was opened before, and is the same file */
	if (o->plain_fd >= 0)
		result = fxt_rewrite_copy(plain, o->path, &replacing, &rewrite, reason, sizeof(reason));
	else if (is_rewritten)
		result = fxt_rewrite_file(o->path, &replacing, &rewrite, reason, sizeof(reason));
	else
		result = output_finish_named(o, options, error, error_bytes);
	*bytes = stat(o->path, &there) == 0 ? (uint64_t)there.st_size : 0;
	if (!is_rewritten)
		return result;
	return output_rewritten(o, result, options, &rewrite.fault, reason, error, error_bytes);
}

struct fxt_rewrite_options fxt_trace_output_rewriting(const struct fxt_options *o, uint64_t kept_from,
        uint64_t ticks_per_second, bool symbols, bool compressed)
{
	/* A file that was compressed while the program ran would have to be rewritten for
	 * them. */
	bool is_unasked = compressed && o->heap_mode == FXT_HEAP_AUTO;

	return (struct fxt_rewrite_options){
	        .ticks_per_second = ticks_per_second,
	        .without_room = true,
	        .symbols = symbols && !o->raw,
	        .filter = &o->filter,
	        .kept_from = kept_from,
	        .heap_profiles = fxt_options_heap_mode(o) != FXT_HEAP_OFF && !o->no_perfetto_heap &&
	                         !o->raw && !is_unasked,
	        .compressed = compressed,
	};
}

int fxt_trace_output_finish(struct fxt_trace_output *o, const struct fxt_rewrite_options *options,
        uint64_t *bytes, char *error, size_t error_bytes)
{
	int result;

	*bytes = 0;
	if (o->final_fd < 0)
		result = output_finish_file(o, options, bytes, error, error_bytes);
	else
		result = output_finish_copy(o, o->final_fd, options, bytes, error, error_bytes);
	output_close(o);
	return result;
}

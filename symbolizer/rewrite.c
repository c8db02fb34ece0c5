#include "rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "reader/trace/draft.h"
#include "records.h"

int fxt_rewrite_archive(int in_fd, int out_fd, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	int failed;

	if (fxt_archive_open_fd(&archive, in_fd, "the recorded trace", error, error_bytes) != 0)
		return -1;
	failed = fxt_rewrite_records(&archive, out_fd, options, result);
	fxt_archive_close(&archive);
	if (failed)
		snprintf(error, error_bytes, "the finished trace cannot be written: %s", strerror(failed));
	return failed ? -1 : 0;
}

int fxt_rewrite_append_profiles(
        int fd, const struct fxt_rewrite_options *options, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	off_t end = lseek(fd, 0, SEEK_END);
	int failed;

	if (end < 0 || fxt_archive_open_fd(&archive, fd, "the recorded trace", error, error_bytes) != 0)
		return -1;
	archive.parts = options->parts;
	archive.part_count = options->part_count;
	/* Parts beyond the end are left out: they are missing if the file could take no
	 * more. */
	while (archive.part_count && archive.parts[archive.part_count - 1].to > archive.bytes)
		archive.part_count--;
	failed = fxt_rewrite_profiles(&archive, fd, options->ticks_per_second);
	fxt_archive_close(&archive);
	if (!failed)
		return 0;
	snprintf(error, error_bytes, "the heap's profiles cannot be written: %s", strerror(failed));
	if (ftruncate(fd, end) != 0)
		snprintf(error, error_bytes, "the trace ends in part of the heap's profiles: %s",
		        strerror(errno));
	return -1;
}

/* Writes the archive to a draft of `to`. Returns NULL, or the reason why it cannot. */
static const char *rewrite_to(const struct fxt_archive *archive, const char *to,
        const struct fxt_draft_config *terms, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result)
{
	struct fxt_draft draft;
	const char *reason = fxt_draft_open(&draft, AT_FDCWD, to, terms);
	int failed;

	if (reason)
		return reason;
	failed = fxt_rewrite_records(archive, draft.fd, options, result);
	if (failed)
		fxt_draft_abandon(&draft);
	else
		failed = fxt_draft_publish(&draft);
	return failed ? strerror(failed) : NULL;
}

int fxt_rewrite_copy(const char *from, const char *to, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	struct fxt_archive archive;
	const struct fxt_draft_config terms = {
	        .source = &archive.file, .may_be_source = true, .may_be_foreign = options->keeps_owner};
	const char *reason;

	if (fxt_archive_open(&archive, from, error, error_bytes) != 0)
		return -1;
	reason = rewrite_to(&archive, to, &terms, options, result);
	fxt_archive_close(&archive);
	if (reason)
		snprintf(error, error_bytes, "%s: cannot be written: %s", to, reason);
	return reason ? -1 : 0;
}

int fxt_rewrite_file(const char *path, const struct fxt_rewrite_options *options,
        struct fxt_rewrite_result *result, char *error, unsigned error_bytes)
{
	return fxt_rewrite_copy(path, path, options, result, error, error_bytes);
}

/* Begins and finishes the files of a session's trace (trace_file.h). */
#include "trace_file.h"
#include <string.h>
#include "launcher/manager/description.h"
#include "launcher/message.h"

void fxt_trace_file_begin(const struct fxt_session *session, struct fxt_archive_writer *archive,
        const struct fxt_trace_output *output, struct fxt_compressor *compressor,
        struct fxt_rotation rotation)
{
	const struct fxt_options *options = session->config.options;

	fxt_archive_begin(archive, output->raw_fd, output->raw_name, compressor);
	archive->number = (uint32_t)rotation.number;
	fxt_archive_limit(archive, options->max_bytes);
	fxt_archive_write_state(archive);
	fxt_archive_write_anchor(archive, session->config.clock);
	fxt_describe_session(archive, options);
	if (rotation.number)
		fxt_archive_write_blob(
		        archive, FXT_ROTATION_BLOB, FXT_BLOB_DATA, &rotation, sizeof(rotation));
}

/* Writes what readers and viewers need beside the records. */
static void trace_file_describe(struct fxt_archive_writer *archive, uint64_t start_ticks, uint64_t rate)
{
	if (rate)
		fxt_describe_open_calls(archive, rate);
	if (rate && start_ticks) {
		fxt_describe_start(archive, start_ticks, rate);
		fxt_describe_functions(archive, start_ticks, rate);
	}
}

struct fxt_trace_file_end fxt_trace_file_finish(const struct fxt_session *session,
        struct fxt_archive_writer *archive, struct fxt_trace_output *output, uint64_t start_ticks,
        uint64_t kept_from, bool lacks_names)
{
	const struct fxt_options *of_session = session->config.options;
	struct fxt_rewrite_options options = fxt_trace_output_rewriting(
	        of_session, kept_from, fxt_session_final_rate(session), lacks_names, output->is_compressed);
	struct fxt_trace_file_end end = {.is_complete = true};
	char line[2 * PATH_MAX + 256]; /* two paths and a sentence */
	int result;

	output->is_roomy = fxt_archive_is_roomy(archive);
	if (fxt_archive_set_rate(archive, options.ticks_per_second) != 0 && !of_session->raw)
		options.symbols = true; /* this includes the rates */
	trace_file_describe(archive, start_ticks, options.ticks_per_second);
	fxt_archive_write_anchor(archive, session->config.clock);
	result = fxt_archive_finish(archive, FXT_ARCHIVE_FINISHED);
	end.is_complete = !archive->error && result == 0;
	if (result != 0)
		fxt_say("%s is complete, but says that it is unfinished: %s", output->name, strerror(result));
	if (!archive->parts_unknown) { /* nothing is written any more */
		options.parts = archive->parts;
		options.part_count = archive->part_count;
	}
	options.cleared = archive->cleared;
	options.cleared_count = archive->cleared_count;
	result = fxt_trace_output_finish(output, &options, &end.bytes, line, sizeof(line));
	if (result != 0) {
		fxt_say("%s", line);
		end.is_complete = false;
	}
	end.is_lost = result != 0 && end.bytes == 0;
	return end;
}

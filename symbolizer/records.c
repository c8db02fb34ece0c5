/*
 * Walks an archive once and rewrites its records: names for placeholders, source positions,
 * filtered calls, and profiles at the end. Runs on its caller's thread. It must never
 * decode a plain call: these are nearly all of a trace, and are copied in blocks.
 */
#include "records.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfetto/function_track.h"
#include "perfetto/heap_profile.h"
#include "modules.h"
#include "naming.h"
#include "reader/trace/fields.h"
#include "reader/trace/rate.h"
#include "reader/trace/sink.h"
#include "writer/format/encode.h"
#include "writer/shared/shared.h"
#include "writer/engine/strings.h"

struct provider {
	uint32_t id;
	struct fxt_modules modules;
	uint64_t process;
	enum { PROCESS_UNKNOWN, PROCESS_OF_THREAD, PROCESS_KNOWN } process_is;
	size_t next_cleared; /* the first cleared part that may still be ahead */
	void *described;     /* tree of the functions that have their userspace-object record */
	uint8_t excluded[FXT_STRING_INLINE_BIT]; /* by string index: true if calls of that name are
	                                          * excluded */
};

/* The module is part of the key: another library may be mapped where one was unmapped. */
struct described {
	uint64_t address, module;
};

struct rewrite {
	const struct fxt_rewrite_options *options;
	struct fxt_rewrite_result *result;
	struct fxt_images images;
	void *providers; /* tree by id */
	struct provider *provider;
	bool has_heap, has_profile;
	struct fxt_function_tracks functions; /* the functions that got their names */
	uint64_t first_ticks;                 /* of the first event; 0 = there was none yet */
	uint64_t ticks_per_second;            /* from the first initialization record */
	/* everything before it in the archive is in the sink */
	const uint64_t *copied;
	struct fxt_sink sink;
	struct fxt_frames frames; /* the sink's output, if the archive is to be compressed */
	uint64_t record[FXT_RECORD_MAX_WORDS];
	int failed; /* errno of the first blob of functions that could not be written */
};

/* ---- providers ---- */

static int compare_providers(const void *a, const void *b)
{
	const struct provider *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_described(const void *a, const void *b)
{
	const struct described *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

static void free_provider(void *node)
{
	struct provider *provider = node;

	fxt_modules_free(&provider->modules);
	tdestroy(provider->described, free);
	free(provider);
}

static int enter_provider(struct rewrite *rewrite, uint32_t id)
{
	struct provider key = {.id = id};
	struct provider **found = tfind(&key, &rewrite->providers, compare_providers);

	if (!found) {
		struct provider *provider = calloc(1, sizeof(*provider));

		if (!provider)
			return ENOMEM;
		provider->id = id;
		found = tsearch(provider, &rewrite->providers, compare_providers);
		if (!found) {
			free(provider);
			return ENOMEM;
		}
	}
	rewrite->provider = *found;
	return 0;
}

static void learn_process(struct provider *provider, const struct fxt_view *view)
{
	if (view->type == FXT_RECORD_KERNEL_OBJECT && view->kernel_object.type == FXT_OBJECT_PROCESS) {
		provider->process = view->kernel_object.koid;
		provider->process_is = PROCESS_KNOWN;
	}
	if (view->type == FXT_RECORD_THREAD && provider->process_is == PROCESS_UNKNOWN) {
		provider->process = view->thread.koids.process;
		provider->process_is = PROCESS_OF_THREAD;
	}
}

/* ---- records ---- */

/* Copies the archive up to `end` to the sink, unchanged. */
static int copy_until(struct rewrite *rewrite, const uint64_t *end)
{
	const uint64_t *begin = rewrite->copied;

	rewrite->copied = end;
	return fxt_sink_append(&rewrite->sink, begin, (size_t)(end - begin) * sizeof(*begin));
}

/* Writes rewrite->record in place of a record of the archive. */
static int replace_record(struct rewrite *rewrite, const struct fxt_record *record, size_t words)
{
	int failed = copy_until(rewrite, record->words);

	rewrite->copied = record->words + record->size;
	return failed ? failed : fxt_sink_append(&rewrite->sink, rewrite->record, words * sizeof(uint64_t));
}

/* Returns the function if the text is a placeholder; NULL with *failed = 0 if it is not. */
static const struct fxt_location *location_of(
        struct rewrite *rewrite, struct fxt_span text, struct fxt_markup *markup, int *failed)
{
	const struct fxt_location *function = NULL;

	*failed = 0;
	if (!fxt_markup_parse(text, markup) || markup->kind != FXT_MARKUP_PC)
		return NULL;
	function = fxt_modules_function(&rewrite->provider->modules, markup);
	if (!function)
		*failed = ENOMEM;
	else
		rewrite->result->functions++;
	if (function && !function->known)
		rewrite->result->unknown++;
	return function;
}

static bool is_described(const struct rewrite *rewrite, const struct fxt_markup *pc)
{
	const struct described key = {pc->address, pc->module};

	return tfind(&key, &rewrite->provider->described, compare_described) != NULL;
}

/* Writes a function's source position, which says too which function the string index means
 * from here on. */
static int describe(struct rewrite *rewrite, const struct fxt_markup *pc, uint32_t index,
        const struct fxt_location *function)
{
	struct described *described = malloc(sizeof(*described));
	size_t words;

	if (!described)
		return ENOMEM;
	*described = (struct described){pc->address, pc->module};
	if (!tsearch(described, &rewrite->provider->described, compare_described)) {
		free(described);
		return ENOMEM;
	}
	words = fxt_naming_object(
	        rewrite->record, rewrite->provider->process, pc->address, fxt_string_index(index), function);
	fxt_function_tracks_add(&rewrite->functions, rewrite->provider->process, function);
	return fxt_sink_append(&rewrite->sink, rewrite->record, words * sizeof(uint64_t));
}

/* The same, without the source position. */
static int identify(
        struct rewrite *rewrite, uint64_t address, uint32_t index, const struct fxt_location *function)
{
	size_t words = fxt_naming_identity(
	        rewrite->record, FXT_RECORD_MAX_WORDS, rewrite->provider->process, address, index, function);

	return fxt_sink_append(&rewrite->sink, rewrite->record, words * sizeof(uint64_t));
}

static bool has_filter(const struct rewrite *rewrite)
{
	return rewrite->options->symbols && rewrite->options->filter && rewrite->options->filter->count;
}

/* True if the filter applies to calls that begin at `ticks`. */
static bool filter_holds_at(const struct rewrite *rewrite, uint64_t ticks)
{
	return !rewrite->options->kept_from || ticks < rewrite->options->kept_from;
}

/* Leaves out the record of a call. */
static int drop_call(struct rewrite *rewrite, const struct fxt_record *record)
{
	rewrite->result->calls_left_out++;
	return replace_record(rewrite, record, 0);
}

static int rewrite_string(
        struct rewrite *rewrite, const struct fxt_record *record, const struct fxt_view *view)
{
	struct fxt_markup pc;
	int failed;
	const struct fxt_location *function = location_of(rewrite, view->string.text, &pc, &failed);
	uint32_t index = view->string.index;

	if (index == 0)
		return failed;
	rewrite->provider->excluded[index] = function && has_filter(rewrite) &&
	                                     fxt_record_filter_excludes(rewrite->options->filter, function);
	if (!function)
		return failed;
	failed = replace_record(rewrite, record, fxt_naming_string(rewrite->record, index, function));
	if (failed || rewrite->provider->process_is == PROCESS_UNKNOWN)
		return failed;
	if (index >= FXT_STRING_LOCAL_FIRST || is_described(rewrite, &pc))
		return identify(rewrite, pc.address, index, function);
	return describe(rewrite, &pc, index, function);
}

static int rewrite_event(
        struct rewrite *rewrite, const struct fxt_record *record, const struct fxt_view *view)
{
	struct fxt_markup pc;
	int failed;
	const struct fxt_location *function =
	        location_of(rewrite, fxt_inline_text(view->event.name), &pc, &failed);

	if (!function)
		return failed;
	if (has_filter(rewrite) && filter_holds_at(rewrite, view->event.ticks) &&
	        fxt_record_filter_excludes(rewrite->options->filter, function))
		return drop_call(rewrite, record);
	return replace_record(rewrite, record, fxt_naming_event(rewrite->record, record, view, function));
}

static int rewrite_initialization(struct rewrite *rewrite, const struct fxt_record *record)
{
	if (rewrite->ticks_per_second == 0)
		rewrite->ticks_per_second = record->words[1];
	if (rewrite->options->ticks_per_second == 0)
		return 0;
	memcpy(rewrite->record, record->words, record->size * sizeof(uint64_t));
	rewrite->record[1] = rewrite->options->ticks_per_second;
	return replace_record(rewrite, record, record->size);
}

/* Enters the provider of a metadata record. A record that says nothing is left out if the
 * options ask for that. */
static int take_provider(
        struct rewrite *rewrite, const struct fxt_record *record, const struct fxt_view *view)
{
	const struct provider *provider = rewrite->provider;

	if (rewrite->options->without_room && view->metadata.type == FXT_METADATA_PROVIDER_SECTION &&
	        provider->id && provider->id == view->metadata.provider)
		return replace_record(rewrite, record, 0);
	if (view->metadata.type == FXT_METADATA_PROVIDER_INFO ||
	        view->metadata.type == FXT_METADATA_PROVIDER_SECTION)
		return enter_provider(rewrite, view->metadata.provider);
	return 0;
}

static int take_announcement(struct rewrite *rewrite, const struct fxt_view *view)
{
	struct fxt_markup markup;

	if (!fxt_markup_parse(view->log.text, &markup) || markup.kind == FXT_MARKUP_PC)
		return 0;
	return fxt_modules_announce(&rewrite->provider->modules, &rewrite->images, &markup);
}

static bool is_heap_profile(const struct fxt_view *view)
{
	return fxt_span_is(fxt_view_blob_name(view), FXT_HEAP_PROFILE_BLOB) &&
	       view->blob.type == FXT_BLOB_PERFETTO;
}

/* True for the node of a call path and for heap counters: these records show that there is
 * a heap. */
static bool is_of_heap(const struct fxt_view *view)
{
	struct fxt_view counters;

	return (view->type == FXT_RECORD_USERSPACE_OBJECT && view->userspace_object.pointer >> 63) ||
	       fxt_view_heap_counters(view, &counters);
}

/* Rewrites a record that is not a plain call; a malformed one stays as it is, and so does
 * one that has nothing to be rewritten. */
static int take_record(struct rewrite *rewrite, const struct fxt_record *record)
{
	bool symbols = rewrite->options->symbols;
	struct fxt_view view;

	if (fxt_decode(record, &view) != NULL)
		return 0;
	rewrite->result->records_unknown += view.is_unknown;
	rewrite->has_profile |= is_heap_profile(&view);
	rewrite->has_heap |= is_of_heap(&view);
	learn_process(rewrite->provider, &view);
	switch (view.type) {
	case FXT_RECORD_METADATA:
		return take_provider(rewrite, record, &view);
	case FXT_RECORD_INITIALIZATION:
		return rewrite_initialization(rewrite, record);
	case FXT_RECORD_LOG:
		return symbols ? take_announcement(rewrite, &view) : 0;
	case FXT_RECORD_STRING:
		return symbols ? rewrite_string(rewrite, record, &view) : 0;
	case FXT_RECORD_EVENT:
		return symbols ? rewrite_event(rewrite, record, &view) : 0;
	default:
		return 0;
	}
}

/* True if a record is an event that was cleared. Each provider's cleared parts come in the
 * order of the archive. */
static bool is_cleared(const struct rewrite *rewrite, const struct fxt_record *record)
{
	const struct fxt_archive_cleared *cleared = rewrite->options->cleared;
	size_t count = rewrite->options->cleared_count, *next = &rewrite->provider->next_cleared;

	if (fxt_record_type(record->words[0]) != FXT_RECORD_EVENT)
		return false;
	while (*next < count && (cleared[*next].provider != rewrite->provider->id ||
	                                record->offset >= cleared[*next].part.to))
		(*next)++;
	return *next < count && record->offset >= cleared[*next].part.from;
}

/* True if an event is an excluded call with a name by index. */
static bool is_excluded(const struct rewrite *rewrite, const struct fxt_record *record)
{
	uint64_t header = record->words[0];

	return record->size > 1 && fxt_record_type(header) == FXT_RECORD_EVENT && !(header >> 63) &&
	       fxt_is_function_category(fxt_field(header, 32, 16)) &&
	       rewrite->provider->excluded[header >> 48] && filter_holds_at(rewrite, record->words[1]);
}

static int rewrite_all(struct rewrite *rewrite, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record record;
	int failed = enter_provider(rewrite, 0);

	rewrite->copied = cursor.first;
	while (!failed && fxt_next(&cursor, &record)) {
		uint64_t header = record.words[0];
		bool is_event = fxt_record_type(header) == FXT_RECORD_EVENT;

		if (rewrite->first_ticks == 0 && record.size > 1 && is_event)
			rewrite->first_ticks = record.words[1];
		if (is_cleared(rewrite, &record))
			failed = replace_record(rewrite, &record, 0);
		else if (!is_event || header >> 63) /* a name by index needs no rewriting */
			failed = take_record(rewrite, &record);
		else if (is_excluded(rewrite, &record))
			failed = drop_call(rewrite, &record);
		else if (!fxt_is_plain_call(header))
			rewrite->result->records_unknown += fxt_is_unknown(header);
		if (!failed && cursor.next - rewrite->copied >= (ptrdiff_t)(FXT_SINK_BLOCK_BYTES / 8))
			failed = copy_until(rewrite, cursor.next);
	}
	if (!failed)
		failed = copy_until(rewrite, cursor.next);
	rewrite->result->fault = cursor.fault;
	return failed;
}

static struct fxt_span function_name(void *context, uint32_t provider, struct fxt_span text)
{
	struct rewrite *rewrite = context;
	struct provider key = {.id = provider};
	struct provider **found = tfind(&key, &rewrite->providers, compare_providers);
	struct fxt_markup pc;
	const struct fxt_location *function = NULL;

	if (found && fxt_markup_parse(text, &pc) && pc.kind == FXT_MARKUP_PC)
		function = fxt_modules_function(&(*found)->modules, &pc);
	return function ? (struct fxt_span){function->name, function->name_bytes} : text;
}

static void append_function_blob(void *context, const void *data, size_t bytes)
{
	struct rewrite *rewrite = context;
	struct fxt_string name = fxt_string_text(FXT_FUNCTION_TRACK_BLOB);
	size_t words =
	        fxt_put_blob(rewrite->record, FXT_RECORD_MAX_WORDS, name, FXT_BLOB_PERFETTO, data, bytes);

	if (!rewrite->failed)
		rewrite->failed = fxt_sink_append(&rewrite->sink, rewrite->record, words * sizeof(uint64_t));
}

/* Does nothing for a trace without a clock or without an event: it has no time for the
 * track of functions. */
static int append_functions(struct rewrite *rewrite)
{
	uint64_t rate = rewrite->options->ticks_per_second ? rewrite->options->ticks_per_second
	                                                   : rewrite->ticks_per_second;

	if (rate && rewrite->first_ticks)
		fxt_function_tracks_take(&rewrite->functions, fxt_rate_viewer_ns(rewrite->first_ticks, rate),
		        append_function_blob, rewrite);
	return rewrite->failed;
}

static int append_profiles(struct rewrite *rewrite, const struct fxt_archive *archive)
{
	struct fxt_heap heap;
	int failed;

	fxt_heap_read_with_curves(&heap, archive, rewrite->options->ticks_per_second);
	failed = fxt_heap_profile_append(&rewrite->sink, &heap, function_name, rewrite);
	fxt_heap_free(&heap);
	return failed;
}

int fxt_rewrite_records(const struct fxt_archive *archive, int out_fd,
        const struct fxt_rewrite_options *options, struct fxt_rewrite_result *result)
{
	struct rewrite *rewrite = calloc(1, sizeof(*rewrite));
	int failed;

	*result = (struct fxt_rewrite_result){0};
	if (!rewrite)
		return ENOMEM;
	rewrite->options = options;
	rewrite->result = result;
	rewrite->sink.fd = out_fd;
	failed = options->compressed ? fxt_frames_begin(&rewrite->frames, out_fd) : 0;
	if (options->compressed)
		rewrite->sink.frames = &rewrite->frames;
	if (!failed)
		failed = rewrite_all(rewrite, archive);
	if (!failed)
		failed = append_functions(rewrite);
	if (!failed && options->heap_profiles && rewrite->has_heap && !rewrite->has_profile)
		failed = append_profiles(rewrite, archive);
	if (!failed)
		failed = options->compressed ? fxt_frames_finish(&rewrite->frames)
		                             : fxt_sink_flush(&rewrite->sink);
	fxt_frames_end(&rewrite->frames);
	tdestroy(rewrite->providers, free_provider);
	fxt_images_free(&rewrite->images);
	fxt_function_tracks_free(&rewrite->functions);
	free(rewrite);
	return failed;
}

/* Names for an archive that is symbolized already: the strings as they stand. */
static struct fxt_span name_as_it_is(void *context, uint32_t provider, struct fxt_span text)
{
	(void)context;
	(void)provider;
	return text;
}

/* True if an archive has a heap and no profiles of it yet. */
static bool lacks_profiles(const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	bool has_heap = false, has_profile = false;
	struct fxt_record record;
	struct fxt_view view;

	while (!has_profile && fxt_next(&cursor, &record)) {
		if (fxt_is_plain_call(record.words[0]) || fxt_decode(&record, &view) != NULL)
			continue;
		has_heap |= is_of_heap(&view);
		has_profile = is_heap_profile(&view);
	}
	return has_heap && !has_profile;
}

int fxt_rewrite_profiles(const struct fxt_archive *archive, int out_fd, uint64_t ticks_per_second)
{
	struct fxt_sink *sink;
	struct fxt_heap heap;
	int failed;

	if (!lacks_profiles(archive))
		return 0;
	sink = calloc(1, sizeof(*sink));
	if (!sink)
		return ENOMEM;
	sink->fd = out_fd;
	fxt_heap_read_with_curves(&heap, archive, ticks_per_second);
	failed = fxt_heap_profile_append(sink, &heap, name_as_it_is, NULL);
	if (!failed)
		failed = fxt_sink_flush(sink);
	fxt_heap_free(&heap);
	free(sink);
	return failed;
}

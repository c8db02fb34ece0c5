/*
 * Learns from registrations: looks names up, opens the files of modules, decides on
 * functions, and writes source positions. Runs on the resolver's thread. Slow work must not
 * be done under the lock.
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "names.h"
#include "reader/trace/cursor.h"
#include "reader/trace/utf8.h"
#include "symbolizer/naming.h"
#include "writer/shared/atomics.h"
#include "writer/shared/clock.h"
#include "writer/engine/decisions.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/engine/function_table.h"
#include "writer/shared/sys.h"

/* ---- names ---- */

static int resolver_compare_names(const void *a, const void *b)
{
	const struct fxt_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

struct fxt_name *fxt_names_find(const struct fxt_names *names, uint64_t address, uint64_t module)
{
	struct fxt_name key = {.address = address, .module = module};
	struct fxt_name **found = tfind(&key, &names->names, resolver_compare_names);

	return found ? *found : NULL;
}

static void resolver_set_location(
        struct fxt_name *name, const struct fxt_location *function, uint64_t mappings)
{
	name->mappings = mappings;
	name->function = *function;
	if (function->module)
		return;
	/* The text is valid only until the next look-up. It is the same each time, and
	 * other threads may be reading it. */
	if (!name->text[0])
		memcpy(name->text, function->name, function->name_bytes);
	name->function.name = name->text;
}

static unsigned resolver_decide_by(
        const struct fxt_record_filter *filter, const struct fxt_location *function)
{
	unsigned under = filter ? fxt_record_filter_under(filter, function) : 0;

	return (filter && fxt_record_filter_excludes(filter, function) ? FXT_DECIDED_EXCLUDE : 0) |
	       (under & FXT_UNDER_ONLY ? FXT_DECIDED_ONLY_UNDER : 0) |
	       (under & FXT_UNDER_NOT ? FXT_DECIDED_NOT_UNDER : 0);
}

/* Returns the filter's decision on a function; a function without a name gets none. */
static struct fxt_name_decision resolver_decide(
        const struct fxt_names *names, uint64_t address, const struct fxt_location *function)
{
	const struct fxt_record_filter *filter = names->owner.filter;
	struct fxt_name_decision decision = {.word = fxt_function_key(address) | FXT_DECIDED};
	uint32_t change = names->filter_changes;

	if (filter && function) {
		uint64_t ns =
		        fxt_record_filter_limit(filter, FXT_RECORD_FILTER_MIN_DURATION, function, UINT64_MAX);
		uint64_t calls =
		        fxt_record_filter_limit(filter, FXT_RECORD_FILTER_MAX_CALLS, function, UINT64_MAX);

		decision.word |= fxt_decided(resolver_decide_by(filter, function), change);
		if (change)
			decision.word |=
			        fxt_decided(resolver_decide_by(names->earlier_filter, function), change - 1);
		if (ns != UINT64_MAX)
			decision.limit.min_duration = fxt_ns_to_ticks(ns, names->owner.ticks_per_second) + 1;
		decision.limit.first_counted = calls + 1;
		decision.word |= FXT_DECIDED_TRIGGER(fxt_record_filter_limit(
		                         filter, FXT_RECORD_FILTER_TRIGGER, function, 0)) |
		                 FXT_DECIDED_BEGIN_TRIGGER(fxt_record_filter_limit(
		                         filter, FXT_RECORD_FILTER_BEGIN_TRIGGER, function, 0));
	}
	return decision;
}

/* NULL: not known because memory was short. If an announcement of a module is missing,
 * functions in no module are not known either: they may lie in the missing module, and get
 * their names when the archive is rewritten. */
static const struct fxt_location *resolver_find_function(struct fxt_names *names, const struct fxt_markup *pc)
{
	const struct fxt_record_filter *filter = names->owner.filter;
	const struct fxt_location *function = filter && filter->needs_source
	                                              ? fxt_modules_function(&names->modules, pc)
	                                              : fxt_modules_name(&names->modules, pc);

	return function && !function->known && names->lacks_modules ? NULL : function;
}

/* Looks a function up and notes its name. Returns the decision on it. On the thread,
 * without the lock. */
static struct fxt_name_decision resolver_learn_name(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc)
{
	const struct fxt_location *function = resolver_find_function(names, pc);
	struct fxt_name_decision decision = resolver_decide(names, pc->address, function);
	struct fxt_name *name, *made = calloc(1, sizeof(*made));

	pthread_mutex_lock(&resolver->lock);
	name = fxt_names_find(names, pc->address, pc->module);
	if (!name && made && function) {
		made->address = pc->address;
		made->module = pc->module;
		if (tsearch(made, &names->names, resolver_compare_names)) {
			name = made;
			made = NULL;
		}
	}
	if (name && function)
		resolver_set_location(name, function, names->mappings);
	else
		names->has_failed = true;
	pthread_cond_broadcast(&resolver->answered);
	pthread_mutex_unlock(&resolver->lock);
	free(made);
	decision.name = name;
	return decision;
}

/* ---- modules ---- */

static bool resolver_is_executable(const char *link, struct fxt_span module)
{
	char path[PATH_MAX], escaped[2 * PATH_MAX];
	ssize_t bytes = readlink(link, path, sizeof(path));
	struct fxt_span executable = {escaped, 0};

	if (bytes > 0)
		executable.bytes = fxt_escape(escaped, sizeof(escaped), path, (size_t)bytes);
	return bytes > 0 && fxt_spans_equal(module, executable);
}

/* Opens a module's file through its process. */
static void resolver_open_image(const struct fxt_names *names, const struct fxt_markup *module)
{
	struct fxt_image *image = fxt_modules_image(&names->modules, module->module);
	struct fxt_span inside = fxt_path_in_process(module->path);
	char link[32], path[2 * PATH_MAX];
	int bytes;

	if (!image)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", names->owner.pid);
	if (resolver_is_executable(link, module->path)) {
		fxt_image_open_by(image, link);
		return;
	}
	if (inside.bytes == 0)
		inside = module->path;
	bytes = snprintf(path, sizeof(path), "/proc/%d/%s%.*s", names->owner.pid,
	        inside.data == module->path.data ? "root" : "", (int)inside.bytes, inside.data);
	if (bytes >= (int)sizeof(path))
		return;
	fxt_image_open_by(image, path);
	/* As the path is written it led to no such file: it may be escaped. */
	if (!fxt_image_is_open(image)) {
		path[fxt_unescape(path, path, (size_t)bytes)] = '\0';
		fxt_image_open_by(image, path);
	}
}

/* Opens the file that is mapped at the start of a mapping, whose path leads nowhere any
 * more: it was unlinked, or its descriptor closed. The kernel allows that to privileged
 * users only. */
static void resolver_open_mapped(const struct fxt_names *names, const struct fxt_markup *mapping)
{
	struct fxt_image *image = fxt_modules_image(&names->modules, mapping->module);
	char path[32 + sizeof(((struct dirent *)0)->d_name)];
	const struct dirent *entry;
	uint64_t start, end;
	DIR *all;

	if (!image || fxt_image_is_open(image))
		return;
	snprintf(path, sizeof(path), "/proc/%d/map_files", names->owner.pid);
	all = opendir(path);
	while (all && (entry = readdir(all)) != NULL) {
		if (sscanf(entry->d_name, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 ||
		        mapping->address - start >= end - start)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%s", names->owner.pid, entry->d_name);
		fxt_image_open_by(image, path);
		break;
	}
	if (all)
		closedir(all);
}

static void resolver_learn_module(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *markup)
{
	int failed = fxt_modules_announce(&names->modules, &resolver->images, markup);

	names->lacks_modules |= failed != 0;
	if (!failed && markup->kind == FXT_MARKUP_MODULE)
		resolver_open_image(names, markup);
	else if (!failed)
		resolver_open_mapped(names, markup);
	pthread_mutex_lock(&resolver->lock);
	names->has_failed |= failed != 0;
	names->mappings++;
	pthread_mutex_unlock(&resolver->lock);
}

/* Returns the decision on a string that is no function. It may name spans, which raise
 * triggers. */
static struct fxt_name_decision resolver_decide_on_text(const struct fxt_names *names, struct fxt_span text)
{
	const struct fxt_record_filter *filter = names->owner.filter;
	const struct fxt_location span = {
	        .name = text.data, .name_bytes = text.bytes, .known = true, .module = "", .build_id = ""};
	struct fxt_name_decision decision = {.word = FXT_DECIDED};

	if (filter && filter->triggers && text.bytes > 0)
		decision.word |=
		        FXT_DECIDED_TRIGGER(
		                fxt_record_filter_limit(filter, FXT_RECORD_FILTER_TRIGGER, &span, 0)) |
		        FXT_DECIDED_BEGIN_TRIGGER(
		                fxt_record_filter_limit(filter, FXT_RECORD_FILTER_BEGIN_TRIGGER, &span, 0));
	return decision;
}

struct fxt_name_decision fxt_names_learn_text(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text)
{
	static const struct fxt_name_decision no_function = {.word = FXT_DECIDED};
	struct fxt_markup markup;

	if (!fxt_markup_parse(text, &markup))
		return resolver_decide_on_text(names, text);
	if (markup.kind == FXT_MARKUP_PC)
		return resolver_learn_name(resolver, names, &markup);
	resolver_learn_module(resolver, names, &markup);
	return no_function;
}

/* ---- reading ahead ---- */

/* Passes the decision on a string to the agent. */
static void resolver_publish_decision(struct fxt_resolver *resolver, const struct fxt_names *names,
        uint32_t index, const struct fxt_name_decision *decision)
{
	pthread_mutex_lock(&resolver->lock);
	if (names->owner.buffer && names->owner.filter && index < names->strings) {
		struct fxt_limit *limit = fxt_limit(names->owner.control, index);

		if (names->owner.filter->has_limits) {
			store_relaxed(&limit->min_duration, decision->limit.min_duration);
			store_relaxed(&limit->first_counted, decision->limit.first_counted);
		}
		/* Release: pairs with the agent's acquire. */
		store_release(fxt_decision(names->owner.control, index), decision->word);
	}
	pthread_mutex_unlock(&resolver->lock);
}

static void resolver_learn_record(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_record *record)
{
	struct fxt_view view;

	if (fxt_decode(record, &view) != NULL)
		return;
	if (view.type == FXT_RECORD_STRING) {
		struct fxt_name_decision decision = fxt_names_learn_text(resolver, names, view.string.text);
		uint32_t index = view.string.index;

		if (index >= FXT_DECISIONS)
			return;
		names->functions[index] = decision.name;
		free(names->texts[index]);
		names->texts[index] =
		        decision.name ? NULL : strndup(view.string.text.data, view.string.text.bytes);
		pthread_mutex_lock(&resolver->lock);
		names->strings = names->strings > index ? names->strings : index + 1;
		pthread_mutex_unlock(&resolver->lock);
		resolver_publish_decision(resolver, names, index, &decision);
	} else if (view.type == FXT_RECORD_LOG) {
		fxt_names_learn_text(resolver, names, view.log.text);
	}
}

/* Wakes the agent's helper, which carries out new decisions. */
static void resolver_wake_helper(struct fxt_resolver *resolver, const struct fxt_names *names)
{
	pthread_mutex_lock(&resolver->lock);
	if (names->owner.buffer && names->owner.filter)
		sys_futex_wake(&names->owner.control->session_command, 1);
	pthread_mutex_unlock(&resolver->lock);
}

/* Learns from the whole records in a block. Returns their size; the whole block if its
 * framing is bad. */
static uint64_t resolver_learn_block(
        struct fxt_resolver *resolver, struct fxt_names *names, const uint8_t *block, uint64_t bytes)
{
	uint64_t at = 0;

	while (at + 8 <= bytes) {
		struct fxt_record record = {.words = (const uint64_t *)(block + at)};

		record.size = fxt_record_words(record.words[0]);
		if (record.size == 0 || fxt_record_type(record.words[0]) == FXT_RECORD_LARGE)
			return bytes;
		if (record.size * 8 > bytes - at)
			break;
		resolver_learn_record(resolver, names, &record);
		at += record.size * 8;
	}
	return at;
}

bool fxt_names_read_ahead(struct fxt_resolver *resolver, struct fxt_names *names)
{
	static uint64_t block[FXT_NAMES_READ_BYTES / 8];
	bool was_any = false;

	for (;;) {
		uint64_t from, bytes, learned;

		pthread_mutex_lock(&resolver->lock);
		bytes = fxt_names_copy_new(names, (uint8_t *)block);
		from = names->read;
		pthread_mutex_unlock(&resolver->lock);
		learned = bytes ? resolver_learn_block(resolver, names, (const uint8_t *)block, bytes) : 0;
		if (learned == 0)
			return was_any;
		was_any = true;
		resolver_wake_helper(resolver, names);
		pthread_mutex_lock(&resolver->lock);
		if (names->read == from) /* otherwise it began anew in between */
			names->read += learned;
		pthread_mutex_unlock(&resolver->lock);
	}
}

/* ---- another filter ---- */

/* Returns the filter's decision on a string that was learnt before. */
static struct fxt_name_decision resolver_decide_again(
        struct fxt_resolver *resolver, struct fxt_names *names, uint32_t index)
{
	static const struct fxt_name_decision no_function = {.word = FXT_DECIDED};
	struct fxt_name *name = names->functions[index];
	const char *text = names->texts[index];
	const struct fxt_markup pc = {.kind = FXT_MARKUP_PC,
	        .address = name ? name->address : 0,
	        .module = name ? name->module : 0};

	if (!name)
		return text ? resolver_decide_on_text(names, (struct fxt_span){text, strlen(text)})
		            : no_function;
	if (names->owner.filter->needs_source && !name->function.is_located)
		return resolver_learn_name(resolver, names, &pc);
	return resolver_decide(names, name->address, &name->function);
}

/* Notifies the agent that all decisions of the change are stored. */
static void resolver_publish_change(struct fxt_resolver *resolver, const struct fxt_names *names)
{
	struct fxt_control *control = names->owner.control;

	pthread_mutex_lock(&resolver->lock);
	if (names->owner.buffer) {
		/* Release: pairs with the agent's acquire. */
		store_release(&control->filter_changes, names->filter_changes);
		sys_futex_wake(&control->session_command, 1);
	}
	pthread_mutex_unlock(&resolver->lock);
}

bool fxt_names_decide_anew(struct fxt_resolver *resolver, struct fxt_names *names)
{
	uint32_t strings;

	pthread_mutex_lock(&resolver->lock);
	strings = names->filter_changes == resolver->filter_changes ? 0 : names->strings;
	if (strings) {
		names->filter_changes = resolver->filter_changes;
		names->earlier_filter = names->owner.filter;
		names->owner.filter = resolver->filter;
	}
	pthread_mutex_unlock(&resolver->lock);
	if (!strings)
		return false;
	for (uint32_t index = 1; index < strings; index++) {
		struct fxt_name_decision decision = resolver_decide_again(resolver, names, index);

		resolver_publish_decision(resolver, names, index, &decision);
	}
	resolver_publish_change(resolver, names);
	return true;
}

/* ---- source positions ---- */

static void resolver_write_position(struct fxt_names *names, const struct fxt_markup *pc)
{
	static uint64_t record[FXT_RECORD_MAX_WORDS];
	const struct fxt_location *function = fxt_modules_function(&names->modules, pc);
	struct fxt_archive_writer *archive = names->owner.archive;
	size_t bytes;

	if (!function)
		return;
	/* The main thread may be joining the rests of ended processes to this archive. */
	pthread_mutex_lock(&archive->lock);
	fxt_function_tracks_add(&archive->functions, names->owner.process_koid, function);
	pthread_mutex_unlock(&archive->lock);
	bytes = fxt_utf8_cut(function->name, function->name_bytes, FXT_RECORD_MAX_WORDS);
	fxt_archive_write(archive, names->owner.identity, record,
	        8 * fxt_naming_object(record, names->owner.process_koid, pc->address,
	                    fxt_string_inline(function->name, bytes), function));
}

bool fxt_names_write_object(struct fxt_resolver *resolver, struct fxt_names *names)
{
	struct fxt_markup pc = {.kind = FXT_MARKUP_PC};
	struct fxt_name *name;

	pthread_mutex_lock(&resolver->lock);
	name = names->due;
	if (name) {
		names->due = name->next_due;
		pc.address = name->address;
		pc.module = name->module;
		names->is_writing = true;
	}
	pthread_mutex_unlock(&resolver->lock);
	if (!name)
		return false;
	resolver_write_position(names, &pc);
	pthread_mutex_lock(&resolver->lock);
	names->is_writing = false;
	pthread_cond_broadcast(&resolver->answered);
	pthread_mutex_unlock(&resolver->lock);
	return true;
}

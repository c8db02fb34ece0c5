/*
 * Descriptions of threads, call paths, locks and parts of a call as text. Runs on the main
 * thread. It must not escape names: tables and lines do.
 */
#include "describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "reader/slices/arguments.h"
#include "reader/trace/fold_names.h"
#include "reader/stats/groups.h"
#include "reader/trace/text.h"
#include "table.h"
#include "terminal.h"

enum { PATH_CALLS = 8, PATH_CALLS_TERMINAL = 4 }; /* calls of a path that are shown */
enum { ARGUMENTS_SHOWN = 8, VALUE_COLUMNS = 40 }; /* of an event, and of each value */

void fxt_describe_begin(struct fxt_describer *words)
{
	*words = (struct fxt_describer){0};
	words->out = fxt_memory_open(&words->text, &words->bytes);
}

struct fxt_span fxt_describe_end(struct fxt_describer *words)
{
	fxt_memory_close(words->out, &words->text);
	words->out = NULL;
	return (struct fxt_span){words->text, words->bytes};
}

void fxt_describe_free(struct fxt_describer *words)
{
	free(words->text);
	*words = (struct fxt_describer){0};
}

void fxt_describe_print(struct fxt_describer *words)
{
	struct fxt_span text = fxt_describe_end(words);

	if (fxt_terminal()->is_terminal)
		text.bytes = fxt_fold_names(text, words->text);
	fxt_print_line("%.*s", (int)text.bytes, text.data);
	fxt_describe_free(words);
}

/* ---- threads ---- */

static void describe_name(FILE *out, const struct fxt_scan *scan, uint32_t name)
{
	fwrite(scan->tables.strings[name].data, 1, scan->tables.strings[name].bytes, out);
}

void fxt_describe_thread(FILE *out, const struct fxt_scan *scan, uint32_t thread, bool with_process)
{
	if (with_process)
		fxt_groups_write_thread(out, &scan->tables, scan->tables.threads[thread]);
	else
		fxt_describe_koid(out, scan, scan->tables.threads[thread].thread);
}

void fxt_describe_koid(FILE *out, const struct fxt_scan *scan, uint64_t koid)
{
	fxt_groups_write_object(out, &scan->tables, FXT_OBJECT_THREAD, koid);
}

/* ---- paths ---- */

/* True if a function belongs to the C++ library. The name of a template has a type
 * before it. */
static bool describe_is_library(struct fxt_span name)
{
	static const char *const beginnings[] = {"std::", "__gthread_", "__gnu_cxx::"};
	struct fxt_span behind_type = name;

	while (behind_type.bytes > 0 && !strchr(" (<", *behind_type.data))
		behind_type = (struct fxt_span){behind_type.data + 1, behind_type.bytes - 1};
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (fxt_begins_with(name, beginnings[i]))
			return true;
	return fxt_begins_with(behind_type, " std::");
}

/* Prints a path. If it is too long, prints its inner end, and only the program's own
 * functions if there are any. */
static void describe_calls(
        FILE *out, const struct fxt_scan *scan, const struct fxt_paths *paths, uint32_t path, bool own_only)
{
	uint32_t nodes[PATH_CALLS];
	size_t count = 0, most = fxt_terminal()->is_terminal ? PATH_CALLS_TERMINAL : PATH_CALLS;

	for (; path != 0 && count < most; path = paths->items[path].parent)
		if (!own_only || !describe_is_library(scan->tables.strings[paths->items[path].name]))
			nodes[count++] = path;
	if (path != 0)
		fputs("... > ", out);
	for (size_t i = count; i-- > 0;) {
		describe_name(out, scan, paths->items[nodes[i]].name);
		fputs(i > 0 ? " > " : "", out);
	}
	if (count == 0)
		fputs("no function", out);
}

static bool describe_has_own(const struct fxt_scan *scan, const struct fxt_paths *paths, uint32_t path)
{
	while (path != 0 && describe_is_library(scan->tables.strings[paths->items[path].name]))
		path = paths->items[path].parent;
	return path != 0;
}

void fxt_describe_path(FILE *out, const struct fxt_scan *scan, const struct fxt_paths *paths, uint32_t path)
{
	describe_calls(out, scan, paths, path, describe_has_own(scan, paths, path));
}

void fxt_describe_place(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, uint32_t thread, uint32_t path)
{
	fxt_describe_thread(out, scan, thread, false);
	fputs(" in ", out);
	fxt_describe_path(out, scan, &waits->paths, path);
}

/* True if the thread ended within the trace. */
static bool describe_has_ended(const struct fxt_scan *scan, const struct fxt_waits *waits, uint64_t koid)
{
	for (uint32_t i = 0; i < scan->tables.thread_count; i++)
		if (scan->tables.threads[i].thread == koid && fxt_waits_has_ended(waits, i))
			return true;
	return false;
}

void fxt_describe_holder(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_blame *blame)
{
	if (blame->holder != FXT_NOTHING)
		fxt_describe_place(out, scan, waits, blame->holder, blame->holder_path);
	else if (blame->keeper)
		fxt_describe_koid(out, scan, blame->keeper);
	else
		fputs(blame->is_free ? "no thread: released, and the waiter not back yet" : "unknown", out);
}

void fxt_describe_keeper(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_wait *wait)
{
	uint64_t keeper = wait->kind == FXT_WAIT_LOCK ? fxt_waits_keeper(waits, wait) : 0;

	if (keeper == scan->tables.threads[wait->thread].thread) {
		fputs(", which it holds itself", out);
	} else if (keeper) {
		fputs(", held by ", out);
		fxt_describe_koid(out, scan, keeper);
		fputs(describe_has_ended(scan, waits, keeper) ? ", which has ended" : "", out);
	}
}

/* Prints the descriptor's file, or several descriptors with their files. */
static void describe_file(FILE *out, const struct fxt_scan *scan, uint64_t object, uint32_t file)
{
	if (file == FXT_NOTHING)
		return;
	fputs(object ? " (" : "", out);
	describe_name(out, scan, file);
	fputs(object ? ")" : "", out);
}

void fxt_describe_awaited(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_wait *wait)
{
	uint64_t thread = wait->kind == FXT_WAIT_THREAD ? fxt_waits_keeper(waits, wait) : 0;

	if (thread) {
		fputs("the end of ", out);
		fxt_describe_koid(out, scan, thread);
	} else if (wait->object) {
		fxt_describe_object(out, scan, wait->kind, wait->symbol, wait->object, wait->life);
	}
	describe_file(out, scan, wait->object, wait->file);
}

void fxt_describe_object(FILE *out, const struct fxt_scan *scan, enum fxt_wait_kind kind, uint32_t symbol,
        uint64_t object, uint32_t life)
{
	if (kind == FXT_WAIT_DESCRIPTOR)
		fprintf(out, "fd %" PRId64, (int64_t)(object - 1));
	else if (symbol != FXT_NOTHING)
		describe_name(out, scan, symbol);
	else
		fprintf(out, "0x%" PRIx64, object);
	if (life > 0)
		fprintf(out, " #%" PRIu32, life + 1);
}

void fxt_describe_blocker(FILE *out, const struct fxt_scan *scan, const struct fxt_blocker *blocker)
{
	struct fxt_span call = scan->tables.strings[blocker->call];

	if (fxt_span_is(call, FXT_BLOCKED_READY)) {
		fputs("ready, and not on a CPU (sampled)", out);
		return;
	}
	if (fxt_span_is(call, FXT_BLOCKED_FAULT) || fxt_span_is(call, FXT_BLOCKED_STOPPED))
		fputs("outside of a system call, ", out);
	else
		fputs("in system call ", out);
	describe_name(out, scan, blocker->call);
	if (blocker->file != FXT_NOTHING) {
		fputs(" of ", out);
		describe_name(out, scan, blocker->file);
	} else if (blocker->object) {
		fputs(" of ", out);
		fxt_describe_object(out, scan, blocker->has_fd ? FXT_WAIT_DESCRIPTOR : FXT_WAIT_FUTEX,
		        FXT_NOTHING, blocker->object, 0);
	}
	fputs(" (sampled)", out);
}

/* ---- parts ---- */

const char *fxt_describe_kind(enum fxt_part_kind kind)
{
	static const char *const kinds[] = {
	        [FXT_PART_RAN] = "ran",
	        [FXT_PART_ALLOCATED] = "allocated",
	        [FXT_PART_PREEMPTED] = "preempted",
	        [FXT_PART_WAITED] = "waited",
	        [FXT_PART_WOKEN] = "woken",
	        [FXT_PART_SAMPLED] = "sampled",
	        [FXT_PART_BLOCKED] = "blocked",
	        [FXT_PART_TRACER] = "tracer",
	        [FXT_PART_UNKNOWN] = "unknown",
	        [FXT_PART_OTHERS] = "others",
	};

	return kinds[kind];
}

/* Prints the function: one that was called, or the one with its own code running. */
static void describe_function(
        FILE *out, const struct fxt_scan *scan, const struct fxt_part *part, uint32_t function)
{
	if (part->name != FXT_NOTHING) {
		fputs("in ", out);
		describe_name(out, scan, part->name);
	} else if (function != FXT_NOTHING) {
		fputs("in ", out);
		describe_name(out, scan, function);
		fputs(" itself", out);
	} else {
		fputs("outside of every function", out);
	}
}

/* Prints the object of a wait ("for" an object, or "in" a call) and the thread that
 * ended it. */
static void describe_wait(
        FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits, const struct fxt_part *part)
{
	static const char *const doings[] = {
	        [FXT_WAIT_LOCK] = "held by",
	        [FXT_WAIT_SEMAPHORE] = "posted by",
	        [FXT_WAIT_CONDITION] = "signalled by",
	        [FXT_WAIT_BARRIER] = "last reached by",
	        [FXT_WAIT_THREAD] = "the end of",
	        [FXT_WAIT_FUTEX] = "woken by",
	        [FXT_WAIT_OTHER] = "ended by",
	};
	bool is_thread = part->wait_kind == FXT_WAIT_THREAD;

	if (part->wait_kind == FXT_WAIT_TIME || part->wait_kind == FXT_WAIT_DESCRIPTOR ||
	        part->wait_kind == FXT_WAIT_EVENT) {
		fputs("in ", out);
		describe_name(out, scan, part->name);
		fputs(part->object || part->file != FXT_NOTHING ? " of " : "", out);
		if (part->object)
			fxt_describe_object(
			        out, scan, part->wait_kind, part->symbol, part->object, part->life);
		describe_file(out, scan, part->object, part->file);
		return;
	}
	fputs("for ", out);
	/* A waited-for thread is described by its name; its handle means nothing to
	 * people. */
	if (part->object && !(is_thread && (part->holder != FXT_NOTHING || part->koid))) {
		fputs(is_thread ? "thread handle " : "", out);
		fxt_describe_object(out, scan, part->wait_kind, part->symbol, part->object, part->life);
		fputs(" ", out);
	}
	uint64_t koid = part->holder != FXT_NOTHING ? scan->tables.threads[part->holder].thread : part->koid;

	if (koid && is_thread) {
		fprintf(out, "%s ", doings[part->wait_kind]);
		fxt_describe_koid(out, scan, koid);
		fputs(" ", out);
	}
	fputs("in ", out);
	describe_name(out, scan, part->name);
	if (!koid || is_thread)
		return;
	fprintf(out, ", %s ", doings[part->wait_kind]);
	if (part->holder != FXT_NOTHING)
		fxt_describe_place(out, scan, waits, part->holder, part->path);
	else
		fxt_describe_koid(out, scan, koid);
}

static void describe_part_itself(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        const struct fxt_part *part, uint32_t function)
{
	switch (part->kind) {
	case FXT_PART_RAN:
		fputs("running ", out);
		describe_function(out, scan, part, function);
		break;
	case FXT_PART_ALLOCATED:
		fputs("allocating in ", out);
		describe_name(out, scan, part->name);
		break;
	case FXT_PART_PREEMPTED:
		fputs("preempted by ", out);
		if (part->koid)
			fxt_describe_koid(out, scan, part->koid);
		else
			fputs("another program, or unknown", out);
		break;
	case FXT_PART_WAITED:
		fputs(part->wait_kind == FXT_WAIT_TIME ? "sleeping " : "waiting ", out);
		describe_wait(out, scan, waits, part);
		break;
	case FXT_PART_WOKEN:
		fputs("let go on, not yet on a CPU: waited ", out);
		describe_wait(out, scan, waits, part);
		break;
	case FXT_PART_SAMPLED:
		fxt_describe_blocker(out, scan,
		        &(struct fxt_blocker){part->name, part->symbol, part->object,
		                part->wait_kind == FXT_WAIT_DESCRIPTOR});
		break;
	case FXT_PART_BLOCKED:
		fputs("blocked ", out);
		describe_function(out, scan, part, function);
		fputs(", for an unknown reason", out);
		break;
	case FXT_PART_TRACER:
		fputs("the tracer: ", out);
		describe_name(out, scan, part->name);
		break;
	case FXT_PART_UNKNOWN:
		describe_function(out, scan, part, function);
		fputs(", running or not", out);
		break;
	case FXT_PART_OTHERS:
		fprintf(out, "(%zu more)", part->others);
		break;
	}
}

void fxt_describe_part(FILE *out, const struct fxt_scan *scan, const struct fxt_waits *waits,
        const struct fxt_faults *faults, const struct fxt_part *part, uint32_t function)
{
	describe_part_itself(out, scan, waits, part, function);
	if (part->faults > 0)
		fprintf(out, ", %s%" PRIu64 " page fault%s", faults->has_missing ? "≥ " : "", part->faults,
		        fxt_plural(part->faults));
}

/* ---- arguments ---- */

void fxt_describe_arguments(FILE *out, struct fxt_tables *t, const struct fxt_view *view)
{
	bool is_text = fxt_print_format() == FXT_FORMAT_TEXT;
	struct fxt_arguments arguments = view->arguments;
	struct fxt_argument argument;
	char buffer[FXT_ARGUMENT_BYTES];

	for (unsigned count = 0; fxt_next_argument(&arguments, &argument); count++) {
		struct fxt_span name = fxt_tables_text(t, argument.name);
		struct fxt_span value = fxt_argument_text(t, view, &argument, buffer);
		unsigned columns = VALUE_COLUMNS;
		size_t bytes = is_text ? fxt_text_beginning(value, &columns) : value.bytes;

		fputs(count > 0 ? ", " : "", out);
		if (is_text && count == ARGUMENTS_SHOWN) {
			fputs("…", out);
			return;
		}
		fprintf(out, "%.*s=%.*s%s", (int)name.bytes, name.data, (int)bytes, value.data,
		        bytes < value.bytes ? "…" : "");
	}
}

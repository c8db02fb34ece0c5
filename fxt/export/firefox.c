/*
 * The processed profile format of the Firefox Profiler, version 48 (see its
 * docs-developer/CHANGELOG-formats.md). The format consists of samples. Here a sample is a
 * stretch of time in which a thread's open calls stay the same; its weight is its length.
 * Times are milliseconds since the start of the trace.
 *
 * Each thread is written as a whole, with its own tables of functions and stacks. The
 * samples of a thread are spread over the trace. Therefore all samples are first sorted by
 * thread, in an unlinked temporary file. Memory grows with the number of call paths.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "events.h"
#include "fxt/json.h"
#include "reader/stats/paths.h"
#include "slices.h"

struct firefox_sample {
	uint32_t thread, stack; /* `stack` is an index in the thread's stack table */
	uint64_t ns, weight;
};

struct firefox {
	struct fxt_export *e;
	const struct fxt_scan *scan;
	uint64_t start_ns;
	struct fxt_paths paths; /* each thread has a group below the root */
	uint32_t *places;       /* by node of `paths`: its index in the stack table of its
	                           thread */
	size_t place_count;
	struct firefox_thread {
		uint32_t group, node; /* the thread's node in `paths`, and that of its
		                         innermost open slice */
		uint32_t stacks;      /* the size of its stack table */
		uint64_t since_ns;
	} * threads;
	struct fxt_spill samples;
	uint64_t sample; /* index of the first sample of the thread that is being written */
};

/* ---- reading ---- */

static void firefox_slice(void *state, const struct fxt_slice *slice, uint64_t ns, bool is_end)
{
	struct firefox *f = state;
	struct firefox_thread *thread = &f->threads[slice->thread];

	if (thread->group == 0)
		thread->group = thread->node = fxt_paths_child(&f->paths, 0, FXT_PATH_GROUP, slice->thread);
	if (thread->node != thread->group && ns > thread->since_ns)
		fxt_spill_add(&f->samples, &(struct firefox_sample){slice->thread, f->places[thread->node],
		                                   thread->since_ns - f->start_ns, ns - thread->since_ns});
	thread->since_ns = ns;
	if (is_end) {
		thread->node = f->paths.items[thread->node].parent;
		return;
	}
	size_t before = f->paths.count;

	thread->node = fxt_paths_of_slice(&f->paths, thread->node, slice);
	if (f->paths.count == before)
		return;
	fxt_make_zeroed(f->places, f->place_count, thread->node);
	f->places[thread->node] = thread->stacks++;
}

static int firefox_compare(const void *left, const void *right)
{
	const struct firefox_sample *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* ---- writing ---- */

static void firefox_milliseconds(FILE *out, uint64_t ns)
{
	char below[8];

	fxt_export_number(out, ns / 1000000);
	snprintf(below, sizeof(below), ".%06" PRIu64, ns % 1000000);
	fputs_unlocked(below, out);
}

enum firefox_column { FIREFOX_STACK, FIREFOX_TIME, FIREFOX_WEIGHT };

/* Writes a column of a thread's samples. Returns the index after the last sample. */
static uint64_t firefox_samples(const struct firefox *f, uint32_t thread, enum firefox_column column)
{
	struct firefox_sample samples[1024];
	uint64_t at = f->sample;

	while (at < f->samples.count) {
		size_t count = f->samples.count - at < 1024 ? (size_t)(f->samples.count - at) : 1024;

		fxt_spill_read(&f->samples, at, count, samples);
		for (size_t i = 0; i < count; i++, at++) {
			if (samples[i].thread != thread)
				return at;
			if (at > f->sample)
				putc_unlocked(',', f->e->out);
			if (column == FIREFOX_STACK)
				fxt_export_number(f->e->out, samples[i].stack);
			else
				firefox_milliseconds(f->e->out,
				        column == FIREFOX_TIME ? samples[i].ns : samples[i].weight);
		}
	}
	return at;
}

/* Writes a column with the same value in all rows. */
static void firefox_constant(FILE *out, const char *name, const char *value, size_t count)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		fputs_unlocked(i > 0 ? "," : "", out);
		fputs_unlocked(value, out);
	}
	putc(']', out);
}

/* Writes a column with the numbers 0, 1, 2 and so on. */
static void firefox_numbers(FILE *out, const char *name, size_t count)
{
	fprintf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%zu", i > 0 ? "," : "", i);
	putc(']', out);
}

/* Puts the functions of a thread's nodes into `names`, each once. frame_of[name] becomes 1
 * plus the place of the function there. Returns the number of functions. */
static uint32_t firefox_frames(
        const struct firefox *f, const uint32_t *nodes, uint32_t count, uint32_t *frame_of, uint32_t *names)
{
	uint32_t frames = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t name = f->paths.items[nodes[i]].name;

		if (frame_of[name] == 0) {
			names[frames] = name;
			frame_of[name] = ++frames;
		}
	}
	return frames;
}

static void firefox_stacks(
        const struct firefox *f, const uint32_t *nodes, uint32_t count, const uint32_t *frame_of)
{
	FILE *out = f->e->out;

	fputs(",\n\"stackTable\":{\"frame\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", frame_of[f->paths.items[nodes[i]].name] - 1);
	fputs("],\"prefix\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = f->paths.items[nodes[i]].parent;

		fputs(i > 0 ? "," : "", out);
		if (f->paths.items[parent].kind == FXT_PATH_GROUP)
			fputs("null", out);
		else
			fxt_export_number(out, f->places[parent]);
	}
	putc(']', out);
	firefox_constant(out, "category", "0", count);
	firefox_constant(out, "subcategory", "0", count);
	fprintf(out, ",\"length\":%" PRIu32 "}", count);
}

/* Writes the tables of frames and functions, and their strings: the name of each function,
 * then the source file of each. */
static void firefox_functions(const struct firefox *f, const uint32_t *names, uint32_t count)
{
	FILE *out = f->e->out;

	fputs(",\n\"frameTable\":{\"length\":", out);
	fxt_export_number(out, count);
	firefox_numbers(out, "func", count);
	firefox_constant(out, "address", "-1", count);
	firefox_constant(out, "inlineDepth", "0", count);
	firefox_constant(out, "category", "0", count);
	firefox_constant(out, "subcategory", "0", count);
	firefox_constant(out, "nativeSymbol", "null", count);
	firefox_constant(out, "innerWindowID", "0", count);
	firefox_constant(out, "implementation", "null", count);
	firefox_constant(out, "line", "null", count);
	firefox_constant(out, "column", "null", count);
	fputs("},\n\"funcTable\":{\"length\":", out);
	fxt_export_number(out, count);
	firefox_numbers(out, "name", count);
	firefox_constant(out, "isJS", "false", count);
	firefox_constant(out, "relevantForJS", "false", count);
	firefox_constant(out, "resource", "-1", count);
	firefox_constant(out, "columnNumber", "null", count);
	fputs(",\"fileName\":[", out);
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", count + i);
	fputs("],\"lineNumber\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		const struct fxt_origin *origin = fxt_origins_next(&f->scan->origins, names[i], NULL);

		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", origin ? origin->line : 0);
	}
	fputs("]},\n\"stringArray\":[", out);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i > 0 ? "," : "", out);
		fxt_json_string(out, f->scan->tables.strings[names[i]]);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct fxt_origin *origin = fxt_origins_next(&f->scan->origins, names[i], NULL);
		uint32_t file = origin && origin->file != FXT_NOTHING ? origin->file : FXT_EMPTY;

		putc(',', out);
		fxt_json_string(out, f->scan->tables.strings[file]);
	}
	putc(']', out);
}

static void firefox_name(const struct firefox *f, const char *key, enum fxt_object_type type, uint64_t koid)
{
	fprintf(f->e->out, ",\"%s\":", key);
	fxt_json_string(f->e->out, fxt_tables_object_text(&f->scan->tables, type, koid));
}

static void firefox_thread(struct firefox *f, uint32_t thread, const uint32_t *nodes, uint32_t *frame_of)
{
	struct fxt_koids koids = f->scan->tables.threads[thread];
	uint32_t count = f->threads[thread].stacks;
	uint32_t *names = fxt_allocate(count * sizeof(*names));
	uint32_t frames = firefox_frames(f, nodes, count, frame_of, names);
	FILE *out = f->e->out;

	fprintf(out, "{\"processType\":\"default\",\"pid\":\"%" PRIu64 "\",\"tid\":%" PRIu64, koids.process,
	        koids.thread);
	firefox_name(f, "name", FXT_OBJECT_THREAD, koids.thread);
	firefox_name(f, "processName", FXT_OBJECT_PROCESS, koids.process);
	fprintf(out,
	        ",\"isMainThread\":%s,\"processStartupTime\":0,\"processShutdownTime\":null,"
	        "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\n"
	        "\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	        "\"category\":[],\"length\":0},\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],"
	        "\"type\":[],\"length\":0},\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	        "\"functionSize\":[],\"length\":0}",
	        koids.process == koids.thread ? "true" : "false");
	firefox_stacks(f, nodes, count, frame_of);
	firefox_functions(f, names, frames);
	fputs(",\n\"samples\":{\"weightType\":\"tracing-ms\",\"stack\":[", out);
	firefox_samples(f, thread, FIREFOX_STACK);
	fputs("],\n\"time\":[", out);
	firefox_samples(f, thread, FIREFOX_TIME);
	fputs("],\n\"weight\":[", out);
	uint64_t behind = firefox_samples(f, thread, FIREFOX_WEIGHT);

	fprintf(out, "],\"length\":%" PRIu64 "}}", behind - f->sample);
	f->sample = behind;
	for (uint32_t i = 0; i < frames; i++)
		frame_of[names[i]] = 0;
	free(names);
}

/* Returns the nodes, sorted by thread and then by their index in the stack table. The
 * caller frees the array. */
static uint32_t *firefox_by_thread(const struct firefox *f)
{
	uint32_t *sorted = fxt_allocate(f->paths.count * sizeof(*sorted));
	uint32_t *first = fxt_allocate(f->scan->tables.thread_count * sizeof(*first));
	uint32_t *thread_of = fxt_allocate(f->paths.count * sizeof(*thread_of));

	for (size_t i = 1; i < f->scan->tables.thread_count; i++)
		first[i] = first[i - 1] + f->threads[i - 1].stacks;
	for (size_t i = 1; i < f->paths.count; i++) {
		const struct fxt_path *path = &f->paths.items[i];

		thread_of[i] = path->kind == FXT_PATH_GROUP ? path->name : thread_of[path->parent];
		if (path->kind != FXT_PATH_GROUP)
			sorted[first[thread_of[i]] + f->places[i]] = (uint32_t)i;
	}
	free(first);
	free(thread_of);
	return sorted;
}

static void firefox_threads(struct firefox *f)
{
	uint32_t *sorted = firefox_by_thread(f), *nodes = sorted;
	uint32_t *frame_of = fxt_allocate(f->scan->tables.string_count * sizeof(*frame_of));
	const char *before = "\n";

	for (uint32_t i = 0; i < f->scan->tables.thread_count; i++) {
		if (f->threads[i].stacks == 0)
			continue;
		fputs(before, f->e->out);
		firefox_thread(f, i, nodes, frame_of);
		nodes += f->threads[i].stacks;
		before = ",\n";
	}
	free(sorted);
	free(frame_of);
}

void fxt_export_firefox(struct fxt_export *e)
{
	struct fxt_filter filter;
	struct fxt_scan scan;
	struct firefox f = {.e = e, .scan = &scan};

	if (!fxt_export_scan_chosen(e, &scan, &filter))
		return;
	f.start_ns = fxt_scan_ns(&scan, scan.start);
	f.threads = fxt_allocate(scan.tables.thread_count * sizeof(*f.threads));
	fxt_paths_init(&f.paths);
	fxt_spill_init(&f.samples, sizeof(struct firefox_sample), FXT_SPILL_MEMORY_BYTES);
	fxt_export_slices(e, &scan, firefox_slice, &f);
	fxt_spill_sort(&f.samples, firefox_compare);
	fputs("{\"meta\":{\"preprocessedProfileVersion\":48,\"version\":28,\"interval\":1,\"startTime\":0,"
	      "\"processType\":0,\"stackwalk\":0,\"debug\":false,\"symbolicated\":true,\"markerSchema\":[],"
	      "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
	      "\"importedFrom\":\"fxt " FXT_VERSION "\",\"product\":",
	        e->out);
	fxt_json_string(e->out, fxt_span(e->name));
	fputs("},\"libs\":[],\"pages\":[],\"threads\":[", e->out);
	firefox_threads(&f);
	fputs("\n]}\n", e->out);
	fxt_spill_free(&f.samples);
	fxt_paths_free(&f.paths);
	free(f.places);
	free(f.threads);
	fxt_filter_free(&filter);
	fxt_scan_free(&scan);
}

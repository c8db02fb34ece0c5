/*
 * Divides a trace by processes (division.h). Runs on the thread that finishes the trace. It
 * must give every record that is not a viewer's row to at least one process.
 */
#include "division.h"
#include <stdlib.h>
#include "launcher/manager/archive.h"
#include "launcher/sched/sched.h"
#include "perfetto/function_track.h"
#include "perfetto/heap_profile.h"
#include "perfetto/perfetto.h"
#include "perfetto/protobuf.h"

/* Stands for no process. */
#define NOBODY UINT32_MAX

/* ---- who owns what ---- */

/* The process of a key; FXT_DIVISION_ALL: it is not known. */
static uint32_t owners_get(const struct fxt_division_owners *owners, uint64_t key)
{
	for (struct fxt_probe probe = fxt_probe(&owners->index, fxt_hash_word(key));
	        fxt_probe_next(&owners->index, &probe);)
		if (owners->items[probe.id].key == key)
			return owners->items[probe.id].process;
	return FXT_DIVISION_ALL;
}

static void owners_put(struct fxt_division_owners *owners, uint64_t key, uint32_t process)
{
	if (owners_get(owners, key) != FXT_DIVISION_ALL)
		return;
	fxt_index_add(&owners->index, fxt_hash_word(key), (uint32_t)owners->count);
	fxt_make_room(owners->items, owners->count, owners->room);
	owners->items[owners->count++] = (struct fxt_division_owner){key, process};
}

static void owners_free(struct fxt_division_owners *owners)
{
	free(owners->items);
	fxt_index_free(&owners->index);
	*owners = (struct fxt_division_owners){0};
}

/* The number of a process, which is new if the koid is. */
static uint32_t division_process(struct fxt_division *d, uint64_t koid)
{
	uint32_t process = owners_get(&d->processes, koid);

	if (process != FXT_DIVISION_ALL)
		return process;
	fxt_make_room(d->koids, d->count, d->room);
	d->koids[d->count] = koid;
	owners_put(&d->processes, koid, (uint32_t)d->count);
	return (uint32_t)d->count++;
}

/* ---- the first reading ---- */

static void division_learn_provider(struct fxt_division *d)
{
	const struct fxt_provider_tables *p = d->tables.provider;

	if (!p->process || !p->id || p->id == FXT_SCHED_PROVIDER)
		return;
	uint32_t process = division_process(d, p->process);

	owners_put(&d->providers, p->id, process);
	if (p->id < d->first_provider) {
		d->first_provider = p->id;
		d->first = process;
	}
}

static void division_learn_thread(struct fxt_division *d, const struct fxt_view *view)
{
	struct fxt_argument process;

	if (view->type == FXT_RECORD_KERNEL_OBJECT && view->kernel_object.type == FXT_OBJECT_THREAD &&
	        fxt_tables_argument(&d->tables, view, "process", &process) &&
	        process.type == FXT_ARGUMENT_KOID && process.value.word)
		owners_put(&d->threads, view->kernel_object.koid, division_process(d, process.value.word));
}

static void division_learn(struct fxt_division *d, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_record r;
	struct fxt_view view;

	fxt_tables_init(&d->tables);
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0]) || fxt_decode(&r, &view) != NULL)
			continue;
		fxt_tables_apply(&d->tables, &view);
		division_learn_provider(d);
		division_learn_thread(d, &view);
	}
	for (size_t i = 1; i < d->tables.thread_count; i++)
		if (d->tables.threads[i].process && d->tables.threads[i].thread)
			owners_put(&d->threads, d->tables.threads[i].thread,
			        division_process(d, d->tables.threads[i].process));
	fxt_tables_free(&d->tables);
}

/* ---- the second reading ---- */

static uint32_t division_or_first(const struct fxt_division *d, uint32_t process)
{
	return process == FXT_DIVISION_ALL ? d->first : process;
}

/* The process that a description names; all: it describes something else. */
static uint32_t division_of_description(const struct fxt_division *d, struct fxt_span data)
{
	static const unsigned path[] = {
	        PERFETTO_TRACE_PACKET, PERFETTO_PACKET_PROCESS_TREE, PERFETTO_TREE_PROCESSES};
	struct fxt_message_field field;

	for (size_t i = 0; i < sizeof(path) / sizeof(*path); i++) {
		if (!fxt_message_next(&data, &field) || field.number != path[i] || !field.is_bytes)
			return FXT_DIVISION_ALL;
		data = field.bytes;
	}
	if (!fxt_message_next(&data, &field) || field.number != PERFETTO_TREE_PROCESS_PID)
		return FXT_DIVISION_ALL;
	return division_or_first(d, owners_get(&d->processes, field.value));
}

static uint32_t division_of_provider(const struct fxt_division *d, uint32_t id)
{
	return id == FXT_SCHED_PROVIDER ? FXT_DIVISION_ALL
	                                : division_or_first(d, owners_get(&d->providers, id));
}

static uint32_t division_of_blob(struct fxt_division *d, const struct fxt_view *view)
{
	struct fxt_span name = fxt_view_blob_name(view);

	if (fxt_span_is(name, FXT_DESCRIPTION_BLOB))
		return division_of_description(d, view->blob.data);
	if (fxt_span_is(name, FXT_LOSS_BLOB))
		return division_of_provider(d, d->tables.provider->id);
	d->has_open_calls |= fxt_span_is(name, FXT_OPEN_CALLS_BLOB);
	d->has_profiles |= fxt_span_is(name, FXT_HEAP_PROFILE_BLOB);
	return fxt_span_is(name, FXT_OPEN_CALLS_BLOB) || fxt_span_is(name, FXT_HEAP_PROFILE_BLOB) ||
	                       fxt_span_is(name, FXT_FUNCTION_TRACK_BLOB)
	               ? NOBODY
	               : FXT_DIVISION_ALL;
}

static uint32_t division_of_thread(struct fxt_division *d, struct fxt_thread thread)
{
	uint32_t id = fxt_tables_thread(&d->tables, thread);
	struct fxt_koids koids = d->tables.threads[id];

	return koids.process ? owners_get(&d->processes, koids.process)
	                     : owners_get(&d->threads, koids.thread);
}

/* The process of a record of the scheduler. */
static uint32_t division_of_kernel(struct fxt_division *d, const struct fxt_view *view)
{
	uint64_t koid = 0;

	switch (view->type) {
	case FXT_RECORD_INITIALIZATION:
	case FXT_RECORD_STRING:
		return FXT_DIVISION_ALL;
	case FXT_RECORD_THREAD:
		return division_or_first(d, owners_get(&d->processes, view->thread.koids.process));
	case FXT_RECORD_EVENT:
		return division_or_first(d, division_of_thread(d, view->event.thread));
	case FXT_RECORD_SCHEDULING: /* one of the two threads is the idle one, 0 */
		koid = view->scheduling.incoming.thread ?: view->scheduling.outgoing.thread;
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		koid = view->kernel_object.koid;
		break;
	default:
		break;
	}
	return division_or_first(d, owners_get(&d->threads, koid));
}

static uint32_t division_of(struct fxt_division *d, const struct fxt_view *view)
{
	const struct fxt_provider_tables *p = d->tables.provider;

	if (view->type == FXT_RECORD_BLOB)
		return division_of_blob(d, view);
	if (view->type == FXT_RECORD_METADATA)
		return view->metadata.type == FXT_METADATA_PROVIDER_SECTION ? NOBODY
		       : view->metadata.type == FXT_METADATA_PROVIDER_INFO ||
		                       view->metadata.type == FXT_METADATA_PROVIDER_EVENT
		               ? division_of_provider(d, view->metadata.provider)
		               : FXT_DIVISION_ALL;
	if (!p->id)
		return FXT_DIVISION_ALL;
	return p->id == FXT_SCHED_PROVIDER ? division_of_kernel(d, view) : division_of_provider(d, p->id);
}

/* Gives a record to a process. A blob is of no provider, wherever it stands. */
static void division_add(struct fxt_division *d, const struct fxt_record *r, uint32_t process)
{
	bool is_blob = fxt_record_type(r->words[0]) == FXT_RECORD_BLOB;
	uint32_t provider = is_blob ? 0 : d->tables.provider->id;
	struct fxt_division_run *run = &d->run;

	if (run->bytes && run->process == process && run->provider == provider &&
	        run->offset + run->bytes == r->offset) {
		run->bytes += r->size * sizeof(*r->words);
		return;
	}
	if (run->bytes)
		fxt_spill_add(&d->runs, run);
	*run = (struct fxt_division_run){r->offset, r->size * sizeof(*r->words), process, provider};
}

static int division_compare(const void *left, const void *right)
{
	const struct fxt_division_run *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->offset < b->offset ? -1 : 1;
}

static void division_give(struct fxt_division *d, const struct fxt_archive *archive)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_open_calls_search search = {0};
	uint32_t of_calls = d->first; /* the process of the provider that is being read */
	struct fxt_record r;
	struct fxt_view view;

	fxt_tables_init(&d->tables);
	while (fxt_next(&cursor, &r)) {
		uint32_t process = of_calls;

		if (!fxt_is_plain_call(r.words[0]) && fxt_decode(&r, &view) == NULL) {
			fxt_tables_apply(&d->tables, &view);
			fxt_open_calls_take(&search, &d->tables, &view);
			process = division_of(d, &view);
			if (view.type == FXT_RECORD_METADATA)
				of_calls =
				        division_or_first(d, division_of_provider(d, d->tables.provider->id));
		}
		if (process != NOBODY)
			division_add(d, &r, process);
	}
	if (d->run.bytes)
		fxt_spill_add(&d->runs, &d->run);
	fxt_open_calls_end_search(&search);
	d->open_calls = search.found;
}

void fxt_divide(struct fxt_division *d, const struct fxt_archive *archive)
{
	*d = (struct fxt_division){.first_provider = UINT32_MAX};
	fxt_make_room(d->koids, d->count, d->room);
	d->koids[d->count++] = 0;
	division_learn(d, archive);
	fxt_spill_init(&d->runs, sizeof(struct fxt_division_run), FXT_SPILL_MEMORY_BYTES);
	division_give(d, archive);
	fxt_spill_sort(&d->runs, division_compare);
	owners_free(&d->processes);
	owners_free(&d->threads);
	owners_free(&d->providers);
}

void fxt_division_free(struct fxt_division *d)
{
	fxt_spill_free(&d->runs);
	fxt_open_calls_free(&d->open_calls);
	fxt_tables_free(&d->tables);
	free(d->koids);
}

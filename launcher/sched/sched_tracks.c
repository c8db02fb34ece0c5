#include "sched_tracks.h"
#include <stdlib.h>
#include <string.h>
#include "writer/shared/atomics.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"
#include "writer/format/thread_object.h"

void fxt_sched_tracks_free(struct fxt_sched_tracks *rows)
{
	free(rows->items);
	fxt_index_free(&rows->index);
	*rows = (struct fxt_sched_tracks){0};
}

static struct fxt_sched_track *sched_tracks_find(const struct fxt_sched_tracks *rows, uint64_t thread)
{
	for (struct fxt_probe probe = fxt_probe(&rows->index, fxt_hash_word(thread));
	        fxt_probe_next(&rows->index, &probe);)
		if (rows->items[probe.id].koids.thread == thread)
			return &rows->items[probe.id];
	return NULL;
}

uint64_t fxt_sched_tracks_koid(struct fxt_sched_tracks *rows, struct fxt_koids thread)
{
	if (!sched_tracks_find(rows, thread.thread)) {
		fxt_index_add(&rows->index, fxt_hash_word(thread.thread), (uint32_t)rows->count);
		fxt_make_room(rows->items, rows->count, rows->room);
		rows->items[rows->count++] = (struct fxt_sched_track){.koids = thread};
		rows->has_new = true;
	}
	return fxt_fault_track_koid(thread.thread);
}

/* The program has written its slot. */
static void sched_tracks_take_name(struct fxt_sched_track *row, const struct fxt_thread_slot *slot)
{
	char name[FXT_THREAD_NAME_BYTES] = {0};

	memcpy(name, slot->name, strnlen(slot->name, sizeof(name) - 1));
	if (memcmp(row->name, name, sizeof(name)) == 0)
		return;
	memcpy(row->name, name, sizeof(name));
	row->is_written = false;
}

void fxt_sched_tracks_name(struct fxt_sched_tracks *rows, const struct fxt_control *control)
{
	uint32_t used = load_acquire(&control->slots_used);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++) {
		const struct fxt_thread_slot *slot = fxt_control_slot(control, i);
		/* Acquire: pairs with the thread's release; its koid and its name were
		 * written before. */
		struct fxt_sched_track *row = load_acquire(&slot->state) == FXT_SLOT_LIVE
		                                      ? sched_tracks_find(rows, load_relaxed(&slot->koid))
		                                      : NULL;

		if (row)
			sched_tracks_take_name(row, slot);
	}
}

static void sched_tracks_write(const struct fxt_sched_track *row, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	static const char suffix[] = ": page faults";
	struct fxt_argument arguments[] = {fxt_argument_koid(fxt_string_text("process"), row->koids.process),
	        fxt_argument_koid(fxt_string_text(FXT_ROW_OF), row->koids.thread)};
	char name[FXT_VALID_NAME_BYTES + sizeof(suffix)];
	size_t bytes = fxt_escape(name, FXT_VALID_NAME_BYTES, row->name, strlen(row->name));
	uint64_t record[FXT_THREAD_OBJECT_WORDS];
	size_t words;

	strcpy(name + bytes, suffix);
	words = fxt_put_kernel_object(record, FXT_THREAD_OBJECT_WORDS, FXT_OBJECT_THREAD,
	        fxt_fault_track_koid(row->koids.thread), fxt_string_text(name), arguments, 2);
	fxt_archive_write(archive, provider, record, words * sizeof(*record));
}

void fxt_sched_tracks_write_all(const struct fxt_sched_tracks *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	for (size_t i = 0; i < rows->count; i++)
		sched_tracks_write(&rows->items[i], archive, provider);
}

void fxt_sched_tracks_write_new(struct fxt_sched_tracks *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->items[i].is_written)
			continue;
		sched_tracks_write(&rows->items[i], archive, provider);
		rows->items[i].is_written = true;
	}
}

void fxt_sched_tracks_repeat(struct fxt_sched_tracks *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].is_written = false;
}

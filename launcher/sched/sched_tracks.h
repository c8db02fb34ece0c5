/*
 * The fault tracks of threads (writer/format/thread_object.h). A track is described in the
 * archive before its first fault, and again when its thread has a new name.
 *
 * Errors: if memory is short, these functions do not return (reader/trace/index.h).
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_TRACKS_H
#define FXT_LAUNCHER_SCHED_SCHED_TRACKS_H

#include "launcher/manager/archive.h"
#include "reader/trace/index.h"
#include "reader/trace/tables.h"
#include "writer/shared/control.h"

struct fxt_sched_track {
	struct fxt_koids koids; /* of its thread */
	char name[FXT_THREAD_NAME_BYTES];
	bool is_written; /* the archive has the track under this name */
};

struct fxt_sched_tracks {
	struct fxt_sched_track *items;
	struct fxt_index index; /* by the thread's koid */
	size_t count, room;
	bool has_new; /* tracks were added after names were last looked up */
};

void fxt_sched_tracks_free(struct fxt_sched_tracks *rows);

/* Returns the koid of a thread's fault track; makes the track if necessary. */
uint64_t fxt_sched_tracks_koid(struct fxt_sched_tracks *rows, struct fxt_koids thread);

/* Updates the names of the tracks from the threads of a provider. */
void fxt_sched_tracks_name(struct fxt_sched_tracks *rows, const struct fxt_control *control);

/* Describes all tracks, or only those not described by an earlier call; the latest
 * description of a track counts. */
void fxt_sched_tracks_write_all(const struct fxt_sched_tracks *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);
void fxt_sched_tracks_write_new(struct fxt_sched_tracks *rows, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider);

/* Makes the next call describe all tracks again: to another archive. */
void fxt_sched_tracks_repeat(struct fxt_sched_tracks *rows);

#endif

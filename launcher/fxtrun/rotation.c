/*
 * Goes from one file of a trace to the next (rotation.h). The main thread must not wait here
 * for a provider or for a file to be finished, except at the end.
 */
#include "rotation.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher/message.h"
#include "rotated_name.h"
#include "writer/shared/atomics.h"

static const struct fxt_options *rotations_options(const struct fxt_rotations *r)
{
	return r->session->config.options;
}

static void rotations_note_beginning(struct fxt_rotations *r)
{
	r->began_ns = fxt_monotonic_ns();
	r->began_ticks = fxt_clock_ticks(r->session->config.clock);
}

static struct fxt_rotation rotations_place(const struct fxt_rotations *r, uint32_t number)
{
	return (struct fxt_rotation){r->id, number, r->first, rotations_options(r)->rotate.keep};
}

const char *fxt_rotations_prepare(struct fxt_rotations *r, const char *output)
{
	r->first = r->number = fxt_rotated_look(output) + 1;
	return fxt_rotated_name(r->names[r->number & 1], output, r->number) ? r->names[r->number & 1] : NULL;
}

struct fxt_rotation fxt_rotations_begin(
        struct fxt_rotations *r, struct fxt_session *session, struct fxt_trace_output *output)
{
	r->session = session;
	r->output = output;
	/* Fits because a process number has at most 22 bits. */
	r->id = session->first.ticks << FXT_KOID_REUSE_SHIFT | (uint64_t)session->supervisor;
	rotations_note_beginning(r);
	return rotations_place(r, r->number);
}

/* ---- the next file ---- */

static bool rotations_are_due(const struct fxt_rotations *r)
{
	const struct fxt_rotate *rotate = &rotations_options(r)->rotate;

	return (rotate->bytes && fxt_archive_bytes(r->session->archive) >= rotate->bytes) ||
	       (rotate->ns && fxt_monotonic_ns() - r->began_ns >= rotate->ns);
}

/* Opens the next file. False: that is impossible, and was said. */
static bool rotations_open(struct fxt_rotations *r, struct fxt_trace_output *output)
{
	uint32_t number = r->number + 1;
	char *name = r->names[number & 1];
	char error[2 * PATH_MAX + 256]; /* two paths and a sentence */

	if (!fxt_rotated_name(name, rotations_options(r)->output_file, number))
		strcpy(error, strerror(ENAMETOOLONG));
	else if (fxt_trace_output_open(output, name, false, "", error, sizeof(error)) == 0)
		return true;
	fxt_say("%s; %s gets the rest", error, r->output->name);
	r->has_failed = true;
	return false;
}

static void rotations_turn(struct fxt_rotations *r)
{
	struct fxt_session *s = r->session;
	struct fxt_archive_writer *next = &s->archives[s->archive == s->archives];
	struct fxt_trace_output output;

	if (!rotations_open(r, &output))
		return;
	fxt_trace_output_begin(&output, false);
	fxt_trace_file_begin(s, next, &output, NULL, rotations_place(r, r->number + 1));
	fxt_ledger_send(s->ledger, FXT_LEDGER_ROTATED, r->number + 1, &output.raw_fd, 1);
	r->old = s->archive;
	r->old_output = *r->output;
	r->old_began_ticks = r->began_ticks;
	*r->output = output;
	r->number++;
	rotations_note_beginning(r);
	/* Release: the archive has begun. Pairs with the acquire of the threads. */
	store_release(&s->archive, next);
}

/* ---- the file before ---- */

static void *rotations_finish(void *context)
{
	struct fxt_rotations *r = context;

	r->end = fxt_trace_file_finish(
	        r->session, r->old, &r->old_output, r->old_began_ticks, r->kept_from, r->old->lacks_names);
	/* Release: pairs with the main thread's acquire; the file is final. */
	store_release(&r->is_finished, 1);
	fxt_wakeup_send(&r->session->wakeup, NULL);
	return NULL;
}

/* Begins to finish the old file. Without a thread it is finished here. */
static void rotations_begin_finishing(struct fxt_rotations *r)
{
	r->is_finishing = true;
	r->is_finished = 0;
	r->kept_from = r->session->config.filter_changed_ticks;
	r->has_finisher = pthread_create(&r->finisher, NULL, rotations_finish, r) == 0;
	if (!r->has_finisher)
		rotations_finish(r);
}

/* Deletes the oldest file if there are more than --keep allows. The user may have taken it
 * away. Files of earlier runs stay. */
static void rotations_delete(struct fxt_rotations *r)
{
	uint32_t keep = rotations_options(r)->rotate.keep, number = r->number - keep;
	char name[PATH_MAX];

	if (r->number - r->first < keep || !fxt_rotated_name(name, rotations_options(r)->output_file, number))
		return;
	if (unlink(name) == 0)
		r->files[number - r->first].is_deleted = true;
	else if (errno != ENOENT)
		fxt_say("%s cannot be deleted: %s", name, strerror(errno));
}

/* The old file is final. */
static void rotations_end_finishing(struct fxt_rotations *r)
{
	uint32_t count = r->number - r->first; /* with the old one */

	if (r->has_finisher)
		pthread_join(r->finisher, NULL);
	r->is_finishing = false;
	r->files = reallocarray(r->files, count, sizeof(*r->files));
	if (!r->files)
		fxt_out_of_memory();
	r->files[count - 1] = (struct fxt_rotated_file){.events = r->old->events, .bytes = r->end.bytes};
	r->bytes_unwritten += r->old->bytes_lost;
	r->is_incomplete |= !r->end.is_complete;
	fxt_archive_end(r->old);
	r->old = NULL;
	rotations_delete(r);
}

void fxt_rotations_look(void *rotations)
{
	struct fxt_rotations *r = rotations;

	if (r->old && !r->is_finishing && fxt_session_has_left(r->session, r->old))
		rotations_begin_finishing(r);
	/* Acquire: pairs with the release of the thread that finished the file. */
	if (r->is_finishing && load_acquire(&r->is_finished))
		rotations_end_finishing(r);
	if (!r->old && !r->has_failed && rotations_are_due(r))
		rotations_turn(r);
}

/* ---- the end ---- */

void fxt_rotations_end(struct fxt_rotations *r)
{
	if (!r->old)
		return;
	if (!r->is_finishing)
		rotations_begin_finishing(r);
	rotations_end_finishing(r);
}

uint64_t fxt_rotations_sum_up(struct fxt_rotations *r, struct fxt_totals *totals, uint64_t last_bytes)
{
	uint32_t finished = r->number - r->first, first = r->number;
	uint64_t bytes = last_bytes;

	totals->files = 1;
	for (uint32_t i = finished; i-- > 0;) {
		const struct fxt_rotated_file *file = &r->files[i];

		if (file->is_deleted) {
			totals->files_deleted++;
			totals->events_deleted += file->events;
			continue;
		}
		totals->files++;
		bytes += file->bytes;
		first = r->first + i;
	}
	totals->events -= totals->events_deleted;
	totals->bytes_unwritten += r->bytes_unwritten;
	totals->first_file =
	        fxt_rotated_name(r->names[~r->number & 1], rotations_options(r)->output_file, first)
	                ? r->names[~r->number & 1]
	                : r->output->name;
	free(r->files);
	r->files = NULL;
	return bytes;
}

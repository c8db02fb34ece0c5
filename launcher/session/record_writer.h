/*
 * A provider's records on their way into the archive: functions get their names in place of the placeholders
 * that the agent left (resolver.h), so that the archive is final as it is written. For a name that is late,
 * where the program would have to wait for it, room is left in the archive and filled in once it is known.
 * Each record is as long as its contents; the rest of the room has records that say nothing. A name that does
 * not fit there stays a placeholder, and the archive has to be rewritten at the end.
 *
 * With a filter the calls of functions that it leaves out are taken out on the way. Then names are waited
 * for, by the program too if it comes to that: without them nobody knows which calls are to be written.
 *
 * Everything here is the provider's thread's.
 */
#ifndef FXT_LAUNCHER_SESSION_RECORD_WRITER_H
#define FXT_LAUNCHER_SESSION_RECORD_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include "archive.h"
#include "call_counts.h"
#include "call_sample.h"
#include "resolver.h"
#include "writer/collect/collect.h"

/* A string record that waits for its text. */
struct fxt_late_name {
	uint64_t at; /* in the archive, in bytes */
	uint32_t index;
	struct fxt_markup pc;
};

struct fxt_record_writer {
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider *identity;
	struct fxt_resolver *resolver;
	struct fxt_names *names; /* NULL: placeholders stay */
	struct fxt_collector *collector;
	bool nobody_waits;       /* the process records no more: every name can be waited for */
	bool is_moved;           /* the archive is only to be written until the writer's end */
	uint64_t names_until_ns; /* if not 0, names are waited for until then, by CLOCK_MONOTONIC, at most */
	bool left_placeholders;  /* some names did not come, or had no room */
	struct fxt_late_name *late;
	size_t late_count;
	const struct fxt_selection *filter; /* NULL: nothing is left out */
	uint8_t *excluded;                  /* by string index; for the collector */
	uint8_t *gathered;                  /* named records, to be written in one piece; NULL = none yet */
	uint32_t gathered_bytes;
	bool gathered_others; /* they are not plain calls alone */
	struct fxt_call_sample sample;
	struct fxt_call_counter counter; /* counts nothing, unless who made the writer has it begin */
	double noise; /* of the events, the share that fxt suggest would have left out; known at the end */
};

/* Has what the collector hands out written to the archive by this writer. `names` may be NULL. Both are
 * kept. */
void fxt_record_writer_begin(struct fxt_record_writer *writer, struct fxt_collector *collector,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_resolver *resolver, struct fxt_names *names);

/* Has calls left out. Once, before the first record. `filter` is kept. */
void fxt_record_writer_exclude(struct fxt_record_writer *writer, const struct fxt_selection *filter);

/* Writes what is still gathered, and late names that are known by now. After every call of the collector. */
void fxt_record_writer_flush(struct fxt_record_writer *writer);

/* The collector begins anew on a buffer that may have been cleared. */
void fxt_record_writer_restart(struct fxt_record_writer *writer);

/* From now on all goes to another archive, nothing of which is written any more after the writer's end. */
void fxt_record_writer_move(struct fxt_record_writer *writer, struct fxt_archive_writer *archive);

/* Waits for the names that are late; then the writer is of no more use. */
void fxt_record_writer_end(struct fxt_record_writer *writer);

#endif

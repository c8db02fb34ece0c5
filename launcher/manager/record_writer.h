/*
 * Writes a provider's records to the archive and replaces the agent's placeholders by
 * function names (resolver.h), so that the archive is final as it is written. If a name is
 * late and the program would have to wait for it, the writer leaves room in the archive and
 * fills the name in later. Each record is as long as its contents; records without content
 * fill the rest of the room. A name too long for the room stays a placeholder, and the
 * archive must be rewritten at the end.
 *
 * With a filter, the writer removes the calls of excluded functions. It then waits for
 * names, and lets the program wait if necessary: without a name it cannot tell whether a
 * call must be written.
 *
 * Everything here runs on the provider's thread.
 */
#ifndef FXT_LAUNCHER_MANAGER_RECORD_WRITER_H
#define FXT_LAUNCHER_MANAGER_RECORD_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include "archive.h"
#include "call_counts.h"
#include "call_sample.h"
#include "resolver.h"
#include "writer/collect/collect.h"

/* A string record that waits for its text. */
struct fxt_late_name {
	uint64_t at; /* offset in the archive, in bytes */
	uint32_t index;
	struct fxt_markup pc;
};

struct fxt_record_writer {
	struct fxt_archive_writer *archive;
	struct fxt_archive_provider *identity;
	struct fxt_resolver *resolver;
	struct fxt_names *names; /* NULL: placeholders stay */
	struct fxt_collector *collector;
	bool nobody_waits;       /* the process no longer records: the writer may wait for
	                          * every name */
	bool is_moved;           /* after this writer's end nothing may be written to the
	                          * archive */
	uint64_t names_until_ns; /* names are waited for until this CLOCK_MONOTONIC time at
	                          * most; 0 = no such limit */
	bool left_placeholders;  /* some names did not come, or did not fit */
	struct fxt_late_name *late;
	size_t late_count;
	const struct fxt_record_filter *filter; /* NULL: nothing is excluded */
	uint8_t *excluded;                      /* by string index; for the collector */
	uint8_t *gathered;                      /* named records, to be written in one piece;
	                                     * NULL = none yet */
	uint32_t gathered_bytes;
	bool gathered_others; /* not all of them are plain calls */
	struct fxt_call_sample sample;
	struct fxt_call_counter counter; /* counts nothing unless the creator of the writer
	                                  * begins it */
	/* share of the events that fxt suggest would have excluded; known at the end */
	double noise;
};

/* Makes this writer write the collector's records to the archive. `names` may be NULL.
 * Keeps both pointers. */
void fxt_record_writer_begin(struct fxt_record_writer *writer, struct fxt_collector *collector,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_resolver *resolver, struct fxt_names *names);

/* Makes the writer remove excluded calls. Call it at most once, before the first record.
 * Keeps `filter`. */
void fxt_record_writer_exclude(struct fxt_record_writer *writer, const struct fxt_record_filter *filter);

/* Writes the records still gathered, and the late names that are known by now. Call it
 * after every call of the collector. */
void fxt_record_writer_flush(struct fxt_record_writer *writer);

/* The collector begins anew on a buffer that may have been cleared. */
void fxt_record_writer_restart(struct fxt_record_writer *writer);

/* Sends everything from now on to another archive, which is complete when the writer
 * ends. */
void fxt_record_writer_move(struct fxt_record_writer *writer, struct fxt_archive_writer *archive);

/* Sends everything from now on to an archive that has nothing of the provider yet: the
 * collector hands out all names again. Waits for no name: `left_placeholders` says of the
 * old archive that names or source positions are missing there. Begins anew to say so of
 * the new one. Call it after a flush. Returns what it said. */
bool fxt_record_writer_turn(struct fxt_record_writer *writer, struct fxt_archive_writer *archive);

/* Waits for the late names; afterwards the writer cannot be used any more. */
void fxt_record_writer_end(struct fxt_record_writer *writer);

#endif

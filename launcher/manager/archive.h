/*
 * Writes the archive of a session: the magic record, then the records of many providers. A
 * Provider Info record introduces each provider, and a Provider Section record stands
 * wherever the writing provider changes (the section on metadata records of the format).
 *
 * The file is valid up to its end after every call. If it cannot be written any more (full
 * disk, size limit), it is cut behind the last whole record and this is printed once.
 * Everything after that is counted and thrown away, so that a disk never delays the
 * providers.
 */
#ifndef FXT_LAUNCHER_MANAGER_ARCHIVE_H
#define FXT_LAUNCHER_MANAGER_ARCHIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "compressor.h"
#include "reader/trace/archive.h"
#include "perfetto/function_track.h"
#include "perfetto/open_calls.h"
#include "writer/format/archive_state.h"
#include "writer/format/format.h"
#include "writer/shared/shared.h"

struct fxt_archive_writer {
	pthread_mutex_t lock; /* for all fields below */
	int fd;
	const char *name;                  /* for messages */
	struct fxt_compressor *compressor; /* receives the records instead of the file; or
	                                    * NULL */
	uint64_t bytes;                    /* whole records in the file, or on their way to
	                                    * it */
	uint32_t section;                  /* id of the provider that wrote last; 0 = none */
	int error;                         /* errno value that ended the writing; 0 = none */
	uint64_t bytes_lost;               /* thrown away since `error` */
	uint64_t max_bytes;                /* the archive's bound, as the user asked; 0 = none */
	uint32_t is_full;                  /* 1: records of providers were thrown away to keep
	                                    * to it; read without the lock */
	uint64_t events_refused;           /* events of programs among those */
	/* offset in the file of the state record, which marks the archive as unfinished; 0
	 * = none */
	uint64_t state;
	uint64_t *rates; /* offsets in the file of the clock rates */
	size_t rate_count;
	bool rate_unknown;              /* `rates` is incomplete: memory was short */
	struct fxt_archive_part *parts; /* parts of the file that hold more than plain
	                                 * calls, for reading the archive again */
	size_t part_count;
	struct fxt_archive_cleared *cleared; /* events to leave out when the archive is
	                                      * finished */
	size_t cleared_count;
	struct fxt_open_calls open_calls;            /* in killed processes; written at the end */
	struct fxt_function_tracks functions;        /* functions with source positions in the
	                                              * archive; written at the end. The resolver's
	                                              * thread adds them (resolver.h) */
	uint64_t processes_dropped, records_dropped; /* written to struct fxt_archive_state at the
	                                              * end */
	uint32_t number;     /* of an archive of a rotated trace; 0: it is not rotated */
	uint64_t events;     /* of programs, in an archive of a rotated trace */
	bool lacks_names;    /* some functions have no name or source position in it */
	uint64_t room_bytes; /* bytes of records without content, left behind names that
	                      * needed less room */
	bool parts_unknown;  /* memory was short, or another writer began the archive: any
	                      * part may hold more than plain calls */
};

/* A provider, as far as the archive needs it. Ids begin at 1. */
struct fxt_archive_provider {
	uint32_t id;
	uint8_t name_bytes; /* at most FXT_NAME_BYTES */
	char name[FXT_NAME_BYTES];
	bool announced; /* belongs to the archive; initially false */
	bool is_kernel; /* its events are the kernel's, and no program's sums have them */
};

/* Gives a provider a name in UTF-8, as the format requires: invalid bytes and control
 * characters become '?'. A name longer than FXT_NAME_BYTES is cut; an empty name becomes
 * "unnamed". */
void fxt_archive_name(struct fxt_archive_provider *provider, const char *name, size_t bytes);

/* Begins an archive in fd, an empty regular file that the caller keeps owning. With a
 * compressor, the records go through it to the file; NULL: straight to the file. Keeps all
 * pointers. */
void fxt_archive_begin(
        struct fxt_archive_writer *archive, int fd, const char *name, struct fxt_compressor *compressor);

/* Begins a part of an archive in fd, an empty regular file. fxt_archive_join() later adds
 * it to an archive. */
void fxt_archive_begin_part(struct fxt_archive_writer *part, int fd, const char *name);

/* Appends the contents of a part to the archive. The part must not be written to during the
 * call, and stays as it is. */
void fxt_archive_join(struct fxt_archive_writer *archive, const struct fxt_archive_writer *part);

/* Marks the archive as unfinished, right behind the magic record
 * (writer/format/archive_state.h). */
void fxt_archive_write_state(struct fxt_archive_writer *archive);

/* Bounds the archive: once a provider's records would make it larger, they and all later
 * ones are thrown away and counted. A part of the room is kept for blobs of no provider,
 * which the manager writes at the end; they are left out if it is too small. 0: no bound. */
void fxt_archive_limit(struct fxt_archive_writer *archive, uint64_t max_bytes);

/* True once records were thrown away to keep to the bound. From any thread; waits for no
 * disk, as the lock's owner may. */
bool fxt_archive_is_full(const struct fxt_archive_writer *archive);

/* Appends a blob record that belongs to no provider. Data too long for one record is
 * cut. */
void fxt_archive_write_blob(struct fxt_archive_writer *archive, const char *name, enum fxt_blob_type type,
        const void *data, size_t bytes);

/* Appends an anchor (writer/format/anchor.h): this instant on all clocks. `clock` is the
 * clock of the archive's ticks. */
void fxt_archive_write_anchor(struct fxt_archive_writer *archive, enum fxt_clock_kind clock);

/* Continues an archive that is marked as unfinished because its writer was killed. `fd`
 * holds `bytes` bytes of whole records; the last of them are of provider `section`. */
void fxt_archive_resume(
        struct fxt_archive_writer *archive, int fd, const char *name, uint64_t bytes, uint32_t section);

/* Waits for the compressor, so that bytes the file does not take are known. */
void fxt_archive_drain(struct fxt_archive_writer *archive);

/* Everything is in the archive: writes the final state, including the losses, and ends the
 * compressor. Returns 0, or an errno value: the archive is still marked as unfinished. */
int fxt_archive_finish(struct fxt_archive_writer *archive, enum fxt_archive_end end);

/* Appends whole records of a provider, in one piece; from any thread. An initialization
 * record must be the first record of its piece, where fxt_archive_set_rate() finds it.
 * Returns the offset of the records in the file, in bytes; 0 if the file did not take all
 * of them. */
uint64_t fxt_archive_write(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider,
        const void *records, uint64_t bytes);

/* The same, for records that are all plain calls (fxt_is_plain_call()). */
void fxt_archive_write_calls(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider,
        const void *records, uint64_t bytes);

/* The same, for one record that fxt_archive_replace() may replace. */
uint64_t fxt_archive_write_to_replace(struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider, const void *record, uint64_t bytes);

/* Overwrites a record with one of the same size. `at` is the return value of
 * fxt_archive_write_to_replace(). Returns 0, or an errno value. */
int fxt_archive_replace(
        const struct fxt_archive_writer *archive, uint64_t at, const void *record, uint64_t bytes);

/* Notes that the archive has so many more bytes of records without content. */
void fxt_archive_note_room(struct fxt_archive_writer *archive, uint64_t bytes);

/* True if records without content make up enough of the archive that it is worth
 * rewriting. */
bool fxt_archive_is_roomy(const struct fxt_archive_writer *archive);

/* Writes a better rate into the existing initialization records. Returns 0, or an errno
 * value: some keep their first rate. */
int fxt_archive_set_rate(const struct fxt_archive_writer *archive, uint64_t ticks_per_second);

/* The length of the archive so far. */
uint64_t fxt_archive_bytes(struct fxt_archive_writer *archive);

/* Drops the events of a provider behind `from` when the archive is finished. */
void fxt_archive_clear(
        struct fxt_archive_writer *archive, const struct fxt_archive_provider *provider, uint64_t from);

/* Frees the memory of the writer, but does not close its file. The writer may begin
 * again. */
void fxt_archive_end(struct fxt_archive_writer *archive);

#define FXT_LOSS_BLOB "fxt: loss" /* for viewers; it stands in the provider's section */

/* Records that a provider lost records because its buffer was full, for readers and for
 * viewers. */
void fxt_archive_write_loss(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider);

#endif

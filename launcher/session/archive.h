/*
 * Writes the archive of a session: the magic record, then the records of many providers, each told apart by a
 * Provider Info record before its first ones and a Provider Section record wherever the writer changes (the
 * section on metadata records of the format).
 *
 * The file is valid up to its end after every call. When it cannot be written any more (full disk, size
 * limit) it is cut behind the last whole record, that is said once, and everything after it is counted and
 * thrown away: the providers must not be held up by a disk.
 */
#ifndef FXT_LAUNCHER_SESSION_ARCHIVE_H
#define FXT_LAUNCHER_SESSION_ARCHIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "compressor.h"
#include "reader/trace/archive.h"
#include "symbolizer/function_row.h"
#include "symbolizer/open_calls.h"
#include "writer/archive_state.h"
#include "writer/format.h"
#include "writer/shared.h"

struct fxt_archive_writer {
	pthread_mutex_t lock; /* of everything below */
	int fd;
	const char *name;                  /* for messages */
	struct fxt_compressor *compressor; /* what it goes to instead of the file; or NULL */
	uint64_t bytes;                    /* whole records in the file, or on their way there */
	uint32_t section;                  /* id of the provider that wrote last; 0 = none */
	int error;                         /* errno that ended the writing; 0 = none */
	uint64_t bytes_lost;               /* thrown away since */
	uint64_t state;  /* where in the file the archive says that it is unfinished; 0 = nowhere */
	uint64_t *rates; /* where in the file the rates of the clock stand */
	size_t rate_count;
	bool rate_unknown;              /* for want of memory some are not in `rates` */
	struct fxt_archive_part *parts; /* what is not plain calls alone, for who reads the archive again */
	size_t part_count;
	struct fxt_archive_cleared *cleared; /* to be left out when it is finished */
	size_t cleared_count;
	struct fxt_open_calls open_calls;            /* in processes that were killed; told at the end */
	struct fxt_function_rows functions;          /* whose source positions are in it; told at the end. The
	                                              * resolver's	  thread adds them (resolver.h) */
	uint64_t processes_dropped, records_dropped; /* struct fxt_archive_state says so at the end */
	uint64_t room_bytes; /* in it with records that say nothing, in place of names that need less */
	bool parts_unknown;  /* for want of memory, or because another writer began: all of it may be that */
};

/* A provider, as far as the archive knows it. Ids are 1 and up. */
struct fxt_archive_provider {
	uint32_t id;
	uint8_t name_bytes; /* at most FXT_NAME_BYTES */
	char name[FXT_NAME_BYTES];
	bool announced; /* the archive's own; begins as false */
};

/* Gives a provider its name as the format wants it, UTF-8: other bytes, and control characters, become '?'.
 * What is longer than FXT_NAME_BYTES is cut, an empty name becomes "unnamed". */
void fxt_archive_name(struct fxt_archive_provider *provider, const char *name, size_t bytes);

/* Begins an archive in fd, a regular file that is empty and stays the caller's; through a compressor that
 * writes there, unless that is NULL. All pointers are kept. */
void fxt_archive_begin(
        struct fxt_archive_writer *archive, int fd, const char *name, struct fxt_compressor *compressor);

/* Begins a part of an archive in fd, an empty regular file. fxt_archive_join() adds it to an archive later.
 */
void fxt_archive_begin_part(struct fxt_archive_writer *part, int fd, const char *name);

/* Appends what a part holds, which nobody writes to meanwhile; the part stays as it is. */
void fxt_archive_join(struct fxt_archive_writer *archive, const struct fxt_archive_writer *part);

/* Says, right behind the magic record, that the archive is unfinished (writer/archive_state.h). */
void fxt_archive_write_state(struct fxt_archive_writer *archive);

/* Appends a blob record of no provider. What does not fit in a record is left out. */
void fxt_archive_write_blob(struct fxt_archive_writer *archive, const char *name, enum fxt_blob_type type,
        const void *data, size_t bytes);

/* Appends an anchor (writer/anchor.h): this instant on all clocks, `clock` being that of the archive's ticks.
 */
void fxt_archive_write_anchor(struct fxt_archive_writer *archive, enum fxt_clock_kind clock);

/* Goes on with an archive whose writer was killed, and that says of itself that it is unfinished: in `fd` are
 * so many bytes of whole records, those of provider `section` last. */
void fxt_archive_resume(
        struct fxt_archive_writer *archive, int fd, const char *name, uint64_t bytes, uint32_t section);

/* Waits for a compressor, so that what the file does not take is known. */
void fxt_archive_drain(struct fxt_archive_writer *archive);

/* All is in the archive: changes what it says of itself, with what could not be written, and ends the
 * compressor. Returns 0, or an errno value: it is unfinished still. */
int fxt_archive_finish(struct fxt_archive_writer *archive, enum fxt_archive_end end);

/* Appends whole records of a provider; from any thread, in one piece each. An initialization record stands at
 * the beginning of a piece, where it is found for fxt_archive_set_rate(). Returns where in the file they
 * stand, in bytes; 0 if the file did not take all of them. */
uint64_t fxt_archive_write(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider,
        const void *records, uint64_t bytes);

/* The same for plain calls (fxt_is_plain_call()) alone. */
void fxt_archive_write_calls(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider,
        const void *records, uint64_t bytes);

/* The same for one record that may be replaced. */
uint64_t fxt_archive_write_to_replace(struct fxt_archive_writer *archive,
        struct fxt_archive_provider *provider, const void *record, uint64_t bytes);

/* Writes a record over one of the same size; `at` is what fxt_archive_write_to_replace() returned for that
 * one. Returns 0, or an errno value. */
int fxt_archive_replace(
        const struct fxt_archive_writer *archive, uint64_t at, const void *record, uint64_t bytes);

/* Notes that so many bytes have records that say nothing. */
void fxt_archive_note_room(struct fxt_archive_writer *archive, uint64_t bytes);

/* Whether so much of the archive says nothing that it is worth to be written anew without that. */
bool fxt_archive_is_roomy(const struct fxt_archive_writer *archive);

/* Writes a better rate into the initialization records there are. Returns 0, or an errno value: some have
 * their first one still. */
int fxt_archive_set_rate(const struct fxt_archive_writer *archive, uint64_t ticks_per_second);

/* How long the archive is by now. */
uint64_t fxt_archive_bytes(struct fxt_archive_writer *archive);

/* Has the events of a provider left out that stand behind `from`, when the archive is finished. */
void fxt_archive_clear(
        struct fxt_archive_writer *archive, const struct fxt_archive_provider *provider, uint64_t from);

/* Gives back what the writer holds; not its file. It may begin anew. */
void fxt_archive_end(struct fxt_archive_writer *archive);

/* Notes that a provider lost records because its buffer was full, for readers and for viewers. */
void fxt_archive_write_loss(struct fxt_archive_writer *archive, struct fxt_archive_provider *provider);

#endif

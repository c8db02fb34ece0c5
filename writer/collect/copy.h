/*
 * Records on their way out of memory that an agent shares: copied into a block of the reader's own, checked
 * there, and handed out from there. So what is handed out is what was checked, whatever the agent writes to
 * its memory meanwhile, and nothing of one provider can be taken for a record of another.
 *
 *   block  |handed out|  checked  | copied: part of a record |   room   |
 *          ^0         ^handed     ^checked                   ^copied    ^FXT_COPY_BYTES
 */
#ifndef FXT_WRITER_COLLECT_COPY_H
#define FXT_WRITER_COLLECT_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Stays in a core's cache between being copied, checked, and written to a file. */
#define FXT_COPY_BYTES (UINT64_C(1) << 18)

/*
 * Receives whole records in the order in which they belong into the archive. They hold only during the call.
 * Returns 0, or an errno value: then nothing more is handed out.
 */
typedef int fxt_emit(void *context, const void *records, uint64_t bytes);

/* The same for a single record. */
typedef int fxt_emit_record(void *context, const uint64_t *record, uint64_t words);

/* All zeros but for the first three fields is an empty one. */
struct fxt_copy {
	fxt_emit *emit;
	/* NULL, or who is given, one by one, the records that hold or need a name: string, log and
	 * initialization records, and events whose names stand inside. */
	fxt_emit_record *emit_record;
	void *context;
	/* NULL, or by string index whether calls of that name are left out. emit_record may change it. */
	const uint8_t *excluded;
	uint64_t kept_from; /* ... that begin earlier, in ticks (fxt_control.kept_from); 0 = whenever */
	/* NULL, or a word that changes before memory is written over that is being copied. From then on
	 * nothing more is taken, and is_stale is set. */
	const uint32_t *guard;
	uint32_t guard_value;
	bool is_stale;
	uint8_t *block; /* mapped by fxt_copy_open(); NULL = closed */
	uint64_t handed, checked;
	bool has_others; /* what was checked and not handed out yet has records that are no plain calls */
	uint64_t events; /* event records handed out so far, in all */
	uint64_t names_of_chunks; /* registrations taken so far that hold in one chunk alone */
	const char *reason;       /* why something was left out, the first such reason; NULL = nothing was */
	int error;                /* of emit */
};

/* Maps the block unless it is there, and forgets reason and error. Returns 0 or ENOMEM. */
int fxt_copy_open(struct fxt_copy *copy);

/* Takes the records in [data, data + bytes), but for metadata records, which only a manager may write. Stops
 * at the first that is not well framed, and at one larger than the block. May hand them out later. */
void fxt_copy_append(struct fxt_copy *copy, const void *data, uint64_t bytes);

/* The same, but of these records only the registrations of strings and threads that hold in one chunk alone:
 * a chunk that is handed out in parts begins each part with them. */
void fxt_copy_append_names(struct fxt_copy *copy, const void *data, uint64_t bytes);

/* How many bytes can be taken before some are handed out. */
uint64_t fxt_copy_room(const struct fxt_copy *copy);

/* Hands out what is still held. Returns emit's error, or 0. */
int fxt_copy_flush(struct fxt_copy *copy);

/* Gives the block back; what it still held is lost. */
void fxt_copy_close(struct fxt_copy *copy);

#endif

/*
 * Records on their way out of memory that an agent shares. They are copied into memory of
 * the reader's own, checked there, and handed out from there. Therefore exactly the checked
 * bytes are handed out, whatever the agent writes to its memory in the meantime, and
 * nothing of one provider can be taken for a record of another.
 *
 *   memory  |handed out|  checked  | copied: part of a record |   room   |
 *          ^0         ^handed     ^checked                   ^copied    ^FXT_COPY_BYTES
 */
#ifndef FXT_WRITER_COLLECT_COPY_H
#define FXT_WRITER_COLLECT_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Fits into a core's cache from copying through checking to writing to a file. */
#define FXT_COPY_BYTES (UINT64_C(1) << 18)

/*
 * Receives whole records in the order of the archive. They are valid only during the call.
 * Returns 0, or an errno value: then nothing more is handed out.
 */
typedef int fxt_emit(void *context, const void *records, uint64_t bytes);

/* The same for a single record. */
typedef int fxt_emit_record(void *context, const uint64_t *record, uint64_t words);

/* An empty copy is all zeros except for the first three fields. */
struct fxt_copy {
	fxt_emit *emit;
	/* NULL, or a function that receives, one by one, the records that hold or need a
	 * name: string, log and initialization records, and events with inline names. */
	fxt_emit_record *emit_record;
	void *context;
	/* NULL, or by string index whether calls of that name are excluded. emit_record may
	 * change it. */
	const uint8_t *excluded;
	/* ... if they begin earlier than this, in ticks (fxt_control.kept_from); 0 = at any
	 * time */
	uint64_t kept_from;
	/* NULL, or a word that changes before memory is overwritten that is being copied.
	 * From then on nothing more is taken, and is_stale is set. */
	const uint32_t *guard;
	uint32_t guard_value;
	bool is_stale;
	uint8_t *memory; /* mapped by fxt_copy_open(); NULL = closed */
	uint64_t handed, checked;
	/* the place of the last checked record, if it is a userspace object; else `checked` */
	uint64_t last_object;
	/* the checked records not handed out yet include some that are no plain calls */
	bool has_others;
	uint64_t events; /* total of event records handed out so far */
	bool has_calls;  /* some of them are calls of functions */
	/* registrations taken so far that hold in one chunk alone */
	uint64_t names_of_chunks;
	/* the first reason for leaving something out; NULL = nothing was left out */
	const char *reason;
	int error; /* emit's error */
};

/* Maps the memory unless it is there, and forgets reason and error. Returns 0 or ENOMEM. */
int fxt_copy_open(struct fxt_copy *copy);

/*
 * Takes the records in [data, data + bytes), except metadata records, which only a manager
 * may write. Stops at the first that is not well framed, and at one larger than the memory.
 * May hand them out later. A userspace object is handed out with the record behind it: an
 * allocation is these two records, and readers find them side by side in one file, whatever
 * the manager writes between two calls of emit.
 */
void fxt_copy_append(struct fxt_copy *copy, const void *data, uint64_t bytes);

/* The same, but takes only the registrations of strings and threads that hold in one chunk
 * alone: a chunk that is handed out in parts begins each part with them. */
void fxt_copy_append_names(struct fxt_copy *copy, const void *data, uint64_t bytes);

/* Returns how many bytes can be taken before some are handed out. */
uint64_t fxt_copy_room(const struct fxt_copy *copy);

/* Hands out the records still held. Returns emit's error, or 0. */
int fxt_copy_flush(struct fxt_copy *copy);

/* Frees the memory; records it still held are lost. */
void fxt_copy_close(struct fxt_copy *copy);

#endif

/*
 * Keeps everything that fxtrun's supervisor needs to finish the trace if the manager is
 * killed. This is the progress of each provider, in memory that both processes share, and
 * the descriptors of the providers' memories, which are handed over when the memories are
 * made.
 *
 *     provider's thread --notes--> page 0 | page 1 --supervisor, once the manager is dead--> recovery.h
 *
 * A provider's thread notes its progress after each step that must not be repeated. Records
 * in the archive up to the noted length count; the provider's records behind it are taken
 * again. The thread writes the page that is not current and then makes it the current one,
 * so the current page is whole at any time.
 */
#ifndef FXT_LAUNCHER_MANAGER_LEDGER_H
#define FXT_LAUNCHER_MANAGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "writer/collect/collect.h"

/* providers; those beyond this number cannot be recovered */
#define FXT_LEDGER_ENTRIES 65536

/* The progress of a provider. */
struct fxt_ledger_page {
	uint64_t archive_bytes; /* all records of the provider before this offset are in the
	                         * archive, for good */
	uint64_t bytes_lost;    /* bytes lost up to then, because the archive had no room */
	uint32_t archive;       /* the archive's number, of a rotated trace */
	uint32_t section;       /* of the archive, at that offset */
	uint32_t state;         /* enum fxt_provider_state */
	uint32_t runs;
	bool announced;  /* the archive has introduced the provider */
	bool may_repeat; /* a part of the buffer that would be taken again is in an earlier
	                  * archive of a rotated trace */
	uint64_t stopped_ticks;
	/* State of the collector. */
	uint64_t durable_saved, events;
	uint32_t next_wrapped, saves;
	struct fxt_losses earlier_losses, losses;
	uint64_t threads;
};

struct fxt_ledger_entry {
	struct fxt_archive_provider identity; /* id 0: unused entry */
	pid_t pid, own_pid;
	uint64_t process_koid;
	uint32_t is_replaced; /* a later image of its process has come */
	uint64_t segment;     /* generation of the segment that has, or gets, its rest; 0 =
	                       * none (ended.h) */
	uint32_t current;     /* index of the current page (release) */
	struct fxt_ledger_page pages[2];
};

/* The progress of the segments' records into the archive. */
enum fxt_ledger_join { FXT_LEDGER_SEPARATE, FXT_LEDGER_JOINING, FXT_LEDGER_JOINED };

/* The state of the segments (ended.h). */
struct fxt_ledger_segments {
	uint64_t kept_from; /* earlier generations are dropped (release) */
	uint64_t joined_at; /* offset in the archive of their first record */
	uint32_t join;      /* enum fxt_ledger_join (release: the fields above are valid) */
};

struct fxt_ledger {
	struct fxt_ledger_entry *entries; /* index = id - 1 */
	struct fxt_ledger_segments *segments;
	int to_supervisor, from_manager; /* the two ends of a socket pair */
	struct fxt_common *common;       /* memory that all providers share */
	int common_fd;
};

enum fxt_ledger_kind {
	FXT_LEDGER_CONFIG,   /* with a file that has a controller's settings; with
	                      * --start=idle another recording begins, and everything handed
	                      * over before is closed */
	FXT_LEDGER_ARCHIVE,  /* with the archive, and with the output as well if a controller
	                      * named an output that the archive must be copied to */
	FXT_LEDGER_PROGRAM,  /* number: the process number of the program */
	FXT_LEDGER_LISTENER, /* with the control socket */
	FXT_LEDGER_PROVIDER, /* number: the provider's id; with its trace buffer and its
	                      * control memory */
	FXT_LEDGER_SEGMENT,  /* with the file of a segment */
	FXT_LEDGER_ROTATED,  /* with the next archive of a rotated trace, and its number */
	FXT_LEDGER_FINISHED, /* the trace of the recording is final */
	FXT_LEDGER_DONE,     /* some providers are done: their memories can be closed */
};

struct fxt_ledger_message {
	uint32_t kind, number;
};

/* Call it before the manager is forked. Returns 0, or an errno value. */
int fxt_ledger_open(struct fxt_ledger *ledger);

/* ---- the manager ---- */

/* Hands over up to two descriptors. Does not wait: if the supervisor is stopped and does
 * not take them, they are not handed over, and that data cannot be recovered. */
void fxt_ledger_send(const struct fxt_ledger *ledger, enum fxt_ledger_kind kind, uint32_t number,
        const int *fds, unsigned count);

/* Empties all entries, because another recording begins. */
void fxt_ledger_clear(const struct fxt_ledger *ledger);

/* Makes the entry of a provider, complete except for its progress; NULL: there is no
 * room. */
struct fxt_ledger_entry *fxt_ledger_add(const struct fxt_ledger *ledger,
        const struct fxt_archive_provider *identity, pid_t pid, pid_t own_pid, uint64_t process_koid);

/*
 * Notes a provider's progress: all its records taken so far are in the archive. Does
 * nothing if `entry` is NULL. Fills in the archive's fields of the page; the caller fills
 * in the others.
 *
 * With `is_ahead` the archive also has a part of a buffer, and no note says which part. The
 * page then keeps the offset of the page before it, and the supervisor takes the whole
 * buffer again. If the page before it is of an earlier archive, that archive keeps its
 * part.
 */
void fxt_ledger_note(struct fxt_ledger_entry *entry, struct fxt_archive_writer *archive,
        const struct fxt_archive_provider *identity, struct fxt_ledger_page page, bool is_ahead);

/* Notes that the rest of a provider goes into the segment of that generation. Does nothing
 * if `entry` is NULL. */
void fxt_ledger_note_segment(struct fxt_ledger_entry *entry, uint64_t generation);

/* Returns how many processes have reported in the common memory that they run untraced,
 * since the last call. */
uint32_t fxt_ledger_take_untraced(const struct fxt_ledger *ledger);

/* Notes that the segments of that generation and of earlier ones are dropped. */
void fxt_ledger_drop(const struct fxt_ledger *ledger, uint64_t generation);

/* Notes that the segments' records are about to be appended to the archive, or were
 * appended. */
void fxt_ledger_note_join(const struct fxt_ledger *ledger, enum fxt_ledger_join join, uint64_t archive_bytes);

/* ---- the supervisor ---- */

/* True if the rest of a provider that is done was dropped later. */
bool fxt_ledger_is_dropped(const struct fxt_ledger *ledger, const struct fxt_ledger_entry *entry);

/* Receives a message with up to two descriptors, -1 for a missing one. False: there is no
 * message. */
bool fxt_ledger_receive(const struct fxt_ledger *ledger, struct fxt_ledger_message *message, int fds[2]);

/* The current page. */
const struct fxt_ledger_page *fxt_ledger_page(const struct fxt_ledger_entry *entry);

#endif

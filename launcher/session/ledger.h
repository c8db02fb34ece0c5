/*
 * What fxtrun's job has to know to finish the trace if the recorder is killed: how far each provider's
 * records are in the archive, in memory that both have, and the descriptors of the memories they come from,
 * handed over as they come to be.
 *
 *     provider's thread --notes--> page 0 | page 1 --job, once the recorder is dead--> recovery.h
 *
 * A provider's thread notes its progress behind each step that a second one must not take again: what is in
 * the archive up to the noted length counts, what the provider has behind it is taken once more. It writes
 * the page that is not current and then makes it the current one, so a death leaves one that is whole.
 */
#ifndef FXT_LAUNCHER_SESSION_LEDGER_H
#define FXT_LAUNCHER_SESSION_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "writer/collect/collect.h"

#define FXT_LEDGER_ENTRIES 65536 /* providers; what more there are cannot be recovered */

/* The progress of a provider. */
struct fxt_ledger_page {
	uint64_t archive_bytes; /* all of its records that stand before are in the archive, for good */
	uint64_t bytes_lost;    /* for which the archive had no room by then */
	uint32_t section;       /* of the archive, there */
	uint32_t state;         /* enum fxt_provider_state */
	uint32_t runs;
	bool announced; /* to the archive */
	uint64_t stopped_ticks;
	/* Of the collector. */
	uint64_t durable_saved, events;
	uint32_t next_wrapped, saves;
	struct fxt_losses earlier_losses, losses;
	uint64_t threads;
};

struct fxt_ledger_entry {
	struct fxt_archive_provider identity; /* id 0: there is none */
	pid_t pid, own_pid;
	uint64_t process_koid;
	uint32_t is_replaced; /* another image of its process has come */
	uint64_t segment;     /* the generation of the one that has, or gets, its rest; 0 = none (ended.h) */
	uint32_t current;     /* page (release) */
	struct fxt_ledger_page pages[2];
};

/* Of the segments' records, what the archive has. */
enum fxt_ledger_join { FXT_LEDGER_SEPARATE, FXT_LEDGER_JOINING, FXT_LEDGER_JOINED };

/* What is known of the segments (ended.h). */
struct fxt_ledger_segments {
	uint64_t kept_from; /* generations before it are dropped (release) */
	uint64_t joined_at; /* where in the archive their records begin */
	uint32_t join;      /* enum fxt_ledger_join (release: what stands above holds) */
};

struct fxt_ledger {
	struct fxt_ledger_entry *entries; /* by id - 1 */
	struct fxt_ledger_segments *segments;
	int to_job, from_recorder; /* the ends of a pair of sockets */
	struct fxt_common *common; /* of all providers */
	int common_fd;
};

enum fxt_ledger_kind {
	FXT_LEDGER_CONFIG,  /* with a file that has what a controller asked for; with --start=idle another
	                     * recording begins, and what was handed over before is not wanted any more */
	FXT_LEDGER_ARCHIVE, /* with the archive; where a controller has named the output, with that too if the
	                     * archive is to be copied there */
	FXT_LEDGER_PROGRAM, /* number: its process */
	FXT_LEDGER_LISTENER, /* with the control socket */
	FXT_LEDGER_PROVIDER, /* number: its id; with its trace buffer and its control memory */
	FXT_LEDGER_SEGMENT,  /* with the file of one */
	FXT_LEDGER_FINISHED, /* the trace of the recording is final */
	FXT_LEDGER_DONE,     /* some providers are done: their memories are not wanted any more */
};

struct fxt_ledger_message {
	uint32_t kind, number;
};

/* Before the recorder is forked. Returns 0, or an errno value. */
int fxt_ledger_open(struct fxt_ledger *ledger);

/* ---- the recorder ---- */

/* Hands up to two descriptors over. Does not wait: what a job that is stopped does not take is not handed
 * over, and cannot be recovered. */
void fxt_ledger_send(const struct fxt_ledger *ledger, enum fxt_ledger_kind kind, uint32_t number,
        const int *fds, unsigned count);

/* No provider has an entry: another recording begins. */
void fxt_ledger_clear(const struct fxt_ledger *ledger);

/* The entry of a provider of that id, filled in but for its progress; NULL: there is no room. */
struct fxt_ledger_entry *fxt_ledger_add(const struct fxt_ledger *ledger,
        const struct fxt_archive_provider *identity, pid_t pid, pid_t own_pid, uint64_t process_koid);

/*
 * Notes a provider's progress: all that it has taken so far is in the archive. Nothing if entry is NULL. The
 * caller fills in what is not the archive's.
 *
 * `is_ahead`: the archive has a part of a buffer as well, and no note says which part. Then the page keeps
 * the place up to which the previous one counted, and the job takes the whole buffer again.
 */
void fxt_ledger_note(struct fxt_ledger_entry *entry, struct fxt_archive_writer *archive,
        const struct fxt_archive_provider *identity, struct fxt_ledger_page page, bool is_ahead);

/* The rest of a provider goes into the segment of that generation. Nothing if entry is NULL. */
void fxt_ledger_note_segment(struct fxt_ledger_entry *entry, uint64_t generation);

/* How many processes have said in the common memory that they run untraced, since this was asked last. */
uint32_t fxt_ledger_take_untraced(const struct fxt_ledger *ledger);

/* The segments of that generation and of earlier ones are dropped. */
void fxt_ledger_drop(const struct fxt_ledger *ledger, uint64_t generation);

/* The segments' records are about to be appended to the archive, or have been. */
void fxt_ledger_note_join(const struct fxt_ledger *ledger, enum fxt_ledger_join join, uint64_t archive_bytes);

/* ---- the job ---- */

/* Whether the rest of a provider that is done was dropped since. */
bool fxt_ledger_is_dropped(const struct fxt_ledger *ledger, const struct fxt_ledger_entry *entry);

/* Takes a message and up to two descriptors, -1 where there are none. False: there is none any more. */
bool fxt_ledger_receive(const struct fxt_ledger *ledger, struct fxt_ledger_message *message, int fds[2]);

/* The progress that counts. */
const struct fxt_ledger_page *fxt_ledger_page(const struct fxt_ledger_entry *entry);

#endif

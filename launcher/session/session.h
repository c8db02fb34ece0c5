/*
 * launcher/session/ is the trace manager: it takes in the processes that the agent was loaded into, tells
 * them when to record, and brings what they record into an archive while they run.
 *
 *   a process --hello--> acceptor --> admission      who is recorded
 *                                        |
 *                                        v
 *                                     session        on which terms (this file)
 *                                        |           recording: when (start, stop, terminate)
 *        memory, shared with it          v
 *        packets <------------------> provider       one process; a thread for each (provider_thread.h)
 *        buffers -- collector -->  record_writer     names in place of addresses, from the resolver
 *                                        |
 *                                        v
 *                                     archive --> output     the raw file, and what is made of it at the end
 *                                        +------> snapshots  the same while the program goes on
 *
 * A session is the clock and the terms that hold for all of its providers, the providers, and the archive
 * they write to. Its states are those of recording.h. Everything in this file is the main thread's, unless it
 * says otherwise. How its providers come and go is in providers.h; idle.h has what is special about a
 * session of several recordings.
 *
 * Errors, in this folder: a function that can fail returns an errno value, and leaves nothing behind that
 * would have to be closed. Where errno says too little (acceptor.h, output.h) it returns -1 and writes one
 * line into error[error_bytes], for its caller to say. What happens to a process or to the archive while the
 * session runs has no caller to be returned to: it is said at once, and once of each kind, and the sums of
 * fxt_session_finish() have it.
 */
#ifndef FXT_LAUNCHER_SESSION_SESSION_H
#define FXT_LAUNCHER_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "wakeup.h"
#include "provider.h"
#include "recording.h"
#include "writer/clock.h"

#define FXT_KOID_REUSE_SHIFT 22 /* pids have at most 22 bits */

/* Sums over all providers, once they are joined. */
struct fxt_totals {
	uint64_t events, threads;
	struct fxt_losses losses;
	struct fxt_elided_sum elided;
	uint64_t waited_ticks;    /* that threads waited for the recorder, all together */
	double noise;             /* of the events, those that fxt suggest would have left out, by a sample */
	bool trace_is_lost;       /* nothing that could be read was left of the file */
	uint64_t bytes_unwritten; /* that the archive could not take */
	uint64_t processes_dropped; /* of those below: they had ended, and others needed the room */
	uint32_t processes, refused, still_running;
	bool without_calls;     /* those were not asked for */
	bool has_own_hooks;     /* the program defines the hooks itself; known only if there are no events */
	bool was_not_started;   /* processes waited for the recording to begin, which it never did */
	bool uses_project_file; /* some options were not given by who started the session */
	bool has_kept_old;      /* the trace that was there before is kept */
	bool left_placeholders; /* some functions are without a name in the archive */
	bool incomplete;  /* as said before: a provider was aborted, left bad data, or could not be written */
	char killed[256]; /* how the program itself was, in words; "": it was not */
};

/* What is left of providers that were forgotten. */
struct fxt_session_gone {
	struct fxt_totals totals;
	uint64_t first_ticks; /* of the first of those that have one; 0 = none has */
	uint32_t first_id;
	uint16_t koids[1 << FXT_KOID_REUSE_SHIFT]; /* by pid: how many its processes have had */
};

/* Who is told of what happens to a session. */
struct fxt_session_listener {
	void (*state_changed)(void *context);
	void (*alerted)(void *context, const char *name);
	/* Calls have raised the trigger of that index, so often. */
	void (*triggered)(void *context, uint32_t index, uint64_t times);
	/* A process that was traced has died of a signal, or ended with a status. */
	void (*process_ended)(void *context, bool by_signal, int number);
	/* A change of the filter was made; `late` processes have not carried it out yet. */
	void (*filter_changed)(void *context, uint32_t late);
	void *context;
};

struct fxt_session {
	struct fxt_session_listener listener;
	struct fxt_archive_writer archive;
	struct fxt_ended ended; /* in a circular session */
	struct fxt_recording recording;
	struct fxt_resolver resolver;
	struct fxt_wakeup wakeup;           /* of the main thread, by the threads of the providers */
	struct fxt_sched sched;             /* not open: context switches are not recorded */
	struct fxt_filter_change no_change; /* the list of changes begins behind it */
	struct fxt_filter_change *last_change;
	struct fxt_filter_change *coming_change; /* under way, and in no list; NULL = none is */
	uint64_t change_began_ns;                /* CLOCK_MONOTONIC */
	struct fxt_call_counts counts;           /* where functions are muted; else empty */
	struct fxt_provider_terms terms;         /* the rate is 0 until the first provider comes */
	struct fxt_clock_pair first;             /* as early as possible */
	struct fxt_memory prepared;              /* for the program itself; taken by its first provider */
	const struct fxt_ledger *ledger;         /* of all progress; NULL: nobody wants to know */
	pid_t job;                               /* by which the user knows fxtrun */
	pid_t program; /* our child; 0 before it was started, and once it has ended */
	int epoll;
	struct fxt_provider **providers; /* those that have not ended, and the latest that have */
	uint32_t count;
	uint32_t last_id;              /* of the latest provider there ever was */
	struct fxt_session_gone *gone; /* those that were forgotten; NULL: none was */
	bool program_was_met;          /* our child has been a provider */
	uint32_t capacity;
	uint32_t alive;       /* of these: not joined yet */
	uint32_t refused;     /* processes that run untraced */
	bool refusal_said;    /* why the first of them does */
	bool is_over;         /* what ends now ends with the session, or with its recording */
	bool terminate_sent;  /* the program was sent SIGTERM from here */
	uint64_t start_ticks; /* where viewers are to open the trace; 0 = nowhere */
};

/* Whether the session outlives its recordings. */
static inline bool fxt_session_is_idle_session(const struct fxt_session *session)
{
	return session->terms.options->start == FXT_START_IDLE;
}

/* Adds what was taken of a provider, but for its threads. */
void fxt_totals_add(struct fxt_totals *totals, const struct fxt_collector *collector);

/* Takes away what the archive does not have after all: its events are overwritten. */
void fxt_totals_drop(struct fxt_totals *totals, const struct fxt_ended_sum *dropped);

/* An image of a process that has recorded: each that an exec begins is a provider. */
struct fxt_image {
	uint64_t process_koid, threads;
	bool had_runs, had_threads; /* what earlier images did that are counted already */
};

/* Counts the processes that have those images, whose threads were added up, and takes those away that were
 * counted before: who calls exec goes on as the first thread of the next image. Sorts them. NULL: without
 * memory for them each image counts by itself. */
void fxt_totals_join_images(struct fxt_totals *totals, struct fxt_image *images, uint32_t count);

/* Counts the processes and threads of a session. */
void fxt_session_join_images(const struct fxt_session *session, struct fxt_totals *totals);

/* Adds a provider that has ended: what was taken of it, and what became of it. */
void fxt_totals_add_ended(struct fxt_totals *totals, const struct fxt_provider *provider);

/* Whether the fields of a session agree with each other, with its state and with its providers. A DEBUG=1
 * build asks whenever the state or the number of providers has changed. */
bool fxt_session_is_valid(const struct fxt_session *session);

/*
 * `first` was read when fxtrun began; it is the start of the clock's measurement. Returns 0, or an errno
 * value. options must outlive the session.
 */
int fxt_session_open(struct fxt_session *session, const struct fxt_options *options,
        enum fxt_clock_kind clock, struct fxt_clock_pair first);

/* Measures the rate until it is exact enough for the first provider, which has to be told it. Most of the
 * time that takes has passed already. */
void fxt_session_measure_first_rate(struct fxt_session *session);

/* Prepares the memory of the first provider. Returns 0, or an errno value. */
int fxt_session_prepare(struct fxt_session *session);

/* Shows all providers that the manager lives, gives back those that are done, and looks at the deadline of a
 * start or stop. To be called every 250 ms at least: an agent that misses the heartbeat for a second takes
 * the manager for dead, and does not wait for it any more. */
void fxt_session_beat(struct fxt_session *session);

/* The program has ended with that wait status, in that seccomp mode (enum fxt_seccomp), and its provider with
 * it. */
void fxt_session_program_ended(struct fxt_session *session, int status, uint32_t seccomp);

/* The session is to end: its time is over, or somebody asked for it. The program is told to end by SIGTERM,
 * if it is not to be detached. Once; further calls do nothing. In a lasting session it is the recording that
 * ends, without the program. */
void fxt_session_terminate(struct fxt_session *session);

/* Ends the providers that are left as still running. Waits until all records are in the archive; sums up. */
void fxt_session_finish(struct fxt_session *session, struct fxt_totals *totals);

/* Has viewers open the trace where the program began to be recorded; once it was summed up.
 * ticks_per_second is the final rate, 0 = none came. In any thread. */
void fxt_session_describe_start(struct fxt_session *session, uint64_t ticks_per_second);

/* The rate of the clock, measured over the whole run; 0 if no provider ever came. */
uint64_t fxt_session_final_rate(const struct fxt_session *session);

/* What fxt_session_finish() does behind its waiting, for a lasting session, whose recording has ended. The
 * latter may take long, and is for another thread, while the main one lets processes in. */
void fxt_session_sum_up(struct fxt_session *session, struct fxt_totals *totals);
void fxt_session_finish_archive(struct fxt_session *session, struct fxt_totals *totals);

/* Gives back what a session that came to nothing, or was finished, still holds. */
void fxt_session_close(struct fxt_session *session);

#endif

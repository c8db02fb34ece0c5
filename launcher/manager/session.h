/*
 * launcher/manager/ is the trace manager. It accepts the processes that load the agent,
 * tells them when to record, and writes their records to an archive while they run.
 *
 *   a process --hello--> acceptor --> admission      who is recorded
 *                                        |
 *                                        v
 *                                     session        on which config (this file)
 *                                        |           recording: when (start, stop, terminate)
 *        memory, shared with it          v
 *        packets <------------------> provider       one process; a thread for each (provider_thread.h)
 *        buffers -- collector -->  record_writer     names in place of addresses, from the resolver
 *                                        |
 *                                        v
 *                                     archive --> output     the raw file, and the final trace
 *                                        +------> snapshots  the same while the program goes on
 *
 * A session consists of the clock, the config that hold for all of its providers, the
 * providers, and the archive they write to. Its states are those of recording.h. Everything
 * in this file belongs to the main thread unless stated otherwise. providers.h has how
 * providers come and go; idle.h has the parts that only a session of several recordings
 * needs.
 *
 * Errors, in this folder: a function that can fail returns an errno value and leaves
 * nothing behind that must be closed. If errno says too little (acceptor.h, output.h), it
 * returns -1 and writes one line into error[error_bytes], which the caller prints. Errors
 * of a process or of the archive while the session runs have no caller to return to: each
 * kind is printed at once, and only once, and is included in the sums of
 * fxt_session_finish().
 */
#ifndef FXT_LAUNCHER_MANAGER_SESSION_H
#define FXT_LAUNCHER_MANAGER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "wakeup.h"
#include "program_categories.h"
#include "plans.h"
#include "provider.h"
#include "recording.h"
#include "writer/shared/clock.h"

#define FXT_KOID_REUSE_SHIFT 22 /* pids have at most 22 bits */

/* Sums over all providers, once they are joined. */
struct fxt_totals {
	uint64_t events, threads;
	struct fxt_losses losses;
	struct fxt_elided_sum elided;
	/* time that threads waited for the manager, summed over all threads */
	uint64_t waited_ticks;
	/* share of the events that fxt suggest would have excluded, estimated from a
	 * sample */
	double noise;
	/* as in the control memory, of all processes */
	uint64_t library_calls_matched, thunks_with_arguments;
	bool trace_is_lost;       /* nothing readable was left of the file */
	uint64_t bytes_unwritten; /* that the archive could not take */
	uint64_t max_bytes;       /* the bound of the archive that ended the recording; 0: none
	                           * did */
	/* those of `processes` that had ended and were dropped to make room for others */
	uint64_t processes_dropped;
	uint32_t processes, refused, still_running;
	uint64_t earlier_waits; /* threads that waited since before fxtrun attached */
	bool without_calls;     /* the category of calls was not requested */
	bool wants_heap;        /* the heap of any program was requested */
	bool has_calls;         /* there are calls of functions among the events, or were elided */
	/* The program's file is looked at for these only if there are no calls. */
	bool has_own_hooks;   /* it defines the hooks itself */
	bool is_instrumented; /* its compiler prepared it so that calls are recorded */
	bool was_not_started; /* processes waited for the recording to begin, and it never did */
	/* some options come from the project's file, not from the user who started the
	 * session */
	bool uses_project_file;
	/* A rotated trace: its files that stay, the name of the first of them, and what was
	 * deleted, which is not among `events`. */
	uint32_t files, files_deleted;
	const char *first_file;
	uint64_t events_deleted;
	uint32_t process_files; /* with a file for each process, their number; else 0 */
	bool has_kept_old;      /* the trace that was there before is kept */
	bool left_placeholders; /* some functions have no name in the archive */
	/* as printed before: a provider was aborted, left bad data, or could not be
	 * written */
	bool incomplete;
	char killed[256]; /* how the program itself was killed, in words; "": it was not */
};

/* Sums of the providers that were forgotten. */
struct fxt_session_gone {
	struct fxt_totals totals;
	uint64_t first_ticks; /* of the first forgotten provider that has one; 0 = none has */
	uint32_t first_id;
	/* by pid: number of koids used for its processes */
	uint16_t koids[1 << FXT_KOID_REUSE_SHIFT];
};

/* Receives the events of a session. */
struct fxt_session_listener {
	void (*state_changed)(void *context);
	void (*alerted)(void *context, const char *name);
	/* Calls raised the trigger of that index `times` times. */
	void (*triggered)(void *context, uint32_t index, uint64_t times);
	/* A traced process died of a signal, or exited with a status. */
	void (*process_ended)(void *context, bool by_signal, int number);
	/* A filter change was made; `late` processes have not carried it out yet. */
	void (*filter_changed)(void *context, uint32_t late);
	void *context;
};

struct fxt_session {
	struct fxt_session_listener listener;
	/* the archive that providers write to. It changes with --rotate: each provider's
	 * thread then turns to the new one by itself, and reads this with acquire */
	struct fxt_archive_writer *archive;
	struct fxt_archive_writer archives[2]; /* that one, and the one before it */
	struct fxt_ended ended;                /* in a circular session */
	struct fxt_recording recording;
	struct fxt_resolver resolver;
	/* wakes the main thread; used by the threads of the providers */
	struct fxt_wakeup wakeup;
	struct fxt_sched sched;             /* not open: context switches are not recorded */
	struct fxt_filter_change no_change; /* head of the list of changes; itself no change */
	struct fxt_filter_change *last_change;
	/* in progress, not yet in the list; NULL = none */
	struct fxt_filter_change *coming_change;
	uint64_t change_began_ns; /* CLOCK_MONOTONIC */
	struct fxt_program_categories program_categories;
	struct fxt_plans plans;
	struct fxt_call_counts counts;     /* used if functions are muted; else empty */
	struct fxt_provider_config config; /* the rate is 0 until the first provider comes */
	struct fxt_clock_pair first;       /* read as early as possible */
	/* for the program itself; taken by its first provider */
	struct fxt_memory prepared;
	const struct fxt_ledger *ledger; /* records all progress; NULL: none is kept */
	pid_t supervisor;                /* the process number that the user knows
	                                          * fxtrun by */
	/* our child; 0 before it is started and after it has ended */
	pid_t program;
	int epoll;
	struct fxt_provider **providers; /* those that have not ended, and the latest that have */
	uint32_t count;
	uint32_t last_id;              /* id of the newest provider ever made */
	struct fxt_session_gone *gone; /* the forgotten providers; NULL: none was forgotten */
	bool program_was_met;          /* our child has been a provider */
	uint32_t capacity;
	uint32_t alive;    /* of `providers`: those not joined yet */
	uint32_t refused;  /* processes that run untraced */
	bool refusal_said; /* the reason for the first refusal was printed */
	/* a provider that ends now ends with the session, or with its recording */
	bool is_over;
	bool terminate_sent;  /* the session has sent SIGTERM to the program */
	uint64_t start_ticks; /* time at which viewers open the trace; 0 = not set */
};

/* True if the session makes several recordings. */
static inline bool fxt_session_is_idle_session(const struct fxt_session *session)
{
	return session->config.options->start == FXT_START_IDLE;
}

/* Adds a provider's records to the sums, except for its threads. */
void fxt_totals_add(struct fxt_totals *totals, const struct fxt_collector *collector);

/* Subtracts the events that the archive does not have after all: they were overwritten. */
void fxt_totals_drop(struct fxt_totals *totals, const struct fxt_ended_sum *dropped);

/* Takes the archive's bound and its unwritten bytes. Counts the events that the bound
 * refused as lost. */
void fxt_totals_refuse(struct fxt_totals *totals, const struct fxt_archive_writer *archive);

/* An image of a process that has recorded: each exec begins a new image, and each image is
 * a provider. */
struct fxt_image {
	uint64_t process_koid, threads;
	/* earlier images had runs, or threads, that are counted already */
	bool had_runs, had_threads;
};

/* Counts the processes that the images belong to. The threads of all images were summed
 * before; a thread counted twice is subtracted, because the thread that calls exec goes on
 * as the first thread of the next image. Sorts `images`. NULL (memory was short): each
 * image counts as a process. */
void fxt_totals_join_images(struct fxt_totals *totals, struct fxt_image *images, uint32_t count);

/* Counts the processes and threads of a session. */
void fxt_session_join_images(const struct fxt_session *session, struct fxt_totals *totals);

/* Adds an ended provider to the sums: its records, and how it fared. */
void fxt_totals_add_ended(struct fxt_totals *totals, const struct fxt_provider *provider);

/* True if the fields of a session agree with each other, with its state and with its
 * providers. A DEBUG=1 build checks this after each change of the state or of the number of
 * providers. */
bool fxt_session_is_valid(const struct fxt_session *session);

/*
 * `first` was read when fxtrun began; the measurement of the clock starts there. `options`
 * must outlive the session. Returns 0, or an errno value.
 */
int fxt_session_open(struct fxt_session *session, const struct fxt_options *options,
        enum fxt_clock_kind clock, struct fxt_clock_pair first);

/* Measures the clock rate until it is exact enough for the first provider, which needs it
 * in its welcome. Most of the measuring time has passed already. */
void fxt_session_measure_first_rate(struct fxt_session *session);

/* Prepares the memory of the first provider. Returns 0, or an errno value. */
int fxt_session_prepare(struct fxt_session *session);

/* Moves the heartbeat of all providers, gives back those that are done, and checks the
 * deadline of a start or stop. Must be called at least every 250 ms: an agent that sees no
 * heartbeat for a second takes the manager for dead and no longer waits for it. */
void fxt_session_beat(struct fxt_session *session);

/* The unknown status of a process that is not our child. The process itself may have said
 * how it ends. */
#define FXT_SESSION_STATUS_UNKNOWN (-1)

/* The program has ended with that wait status, in that seccomp mode (enum fxt_seccomp).
 * Ends its provider too. */
void fxt_session_program_ended(struct fxt_session *session, int status, uint32_t seccomp);

/* Ends the session, because its time is over or on request. Sends SIGTERM to the program
 * unless the program is to be detached. Further calls do nothing. In a session of several
 * recordings this ends the recording and leaves the program running. */
void fxt_session_terminate(struct fxt_session *session);

/* Ends the remaining providers as still running, waits until all records are in the
 * archive, and sums up. */
void fxt_session_finish(struct fxt_session *session, struct fxt_totals *totals);

/* True if no thread writes to `archive` any more, which is not the session's now. */
bool fxt_session_has_left(const struct fxt_session *session, const struct fxt_archive_writer *archive);

/* The clock rate, measured over the whole run; 0 if no provider ever came. */
uint64_t fxt_session_final_rate(const struct fxt_session *session);

/* The parts of fxt_session_finish() after its waiting, for a session of several recordings,
 * after a recording has ended. fxt_session_finish_archive() may take long: another thread
 * calls it while the main thread goes on accepting processes. */
void fxt_session_sum_up(struct fxt_session *session, struct fxt_totals *totals);
void fxt_session_finish_archive(struct fxt_session *session, struct fxt_totals *totals);

/* Frees everything the session still holds, whether it was finished or failed early. */
void fxt_session_close(struct fxt_session *session);

#endif

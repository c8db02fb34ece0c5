/*
 * launcher/session/ is the trace manager: it takes in the processes that the agent was loaded into, tells
 * them when to record, and brings what they record into an archive while they run.
 *
 *   a process --hello--> acceptor --> session        who is recorded, on which terms (this file)
 *                                        |           recording: when (start, stop, terminate)
 *        memory, shared with it          v
 *        packets <------------------> provider       one process; a thread for each (provider_thread.h)
 *        buffers -- collector -->  record_writer     names in place of addresses, from the namer
 *                                        |
 *                                        v
 *                                     archive --> output     the raw file, and what is made of it at the end
 *                                        +------> snapshots  the same while the program goes on
 *
 * A session is the clock and the terms that hold for all of its providers, the providers, and the archive
 * they write to. Its states are those of recording.h. Everything in this file is the main thread's, unless it
 * says otherwise.
 *
 * With --start=idle a session has several recordings, each with terms and an archive of its own. What is kept
 * between two of them is the processes: their agents stay connected to their memories, whose pages are given
 * back. Recordings are begun by fxt_session_begin_recording(), and end by fxt_session_terminate().
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

/* Who is told of what happens to a session. */
struct fxt_session_listener {
	void (*state_changed)(void *context);
	void (*alerted)(void *context, const char *name);
	/* A change of the filter was made; `late` processes have not carried it out yet. */
	void (*filter_changed)(void *context, uint32_t late);
	void *context;
};

struct fxt_session {
	struct fxt_session_listener listener;
	struct fxt_archive_writer archive;
	struct fxt_recording recording;
	struct fxt_namer namer;
	struct fxt_wakeup wakeup;           /* of the main thread, by the threads of the providers */
	struct fxt_sched sched;             /* not open: context switches are not recorded */
	struct fxt_filter_change no_change; /* the list of changes begins behind it */
	struct fxt_filter_change *last_change;
	struct fxt_filter_change *coming_change; /* under way, and in no list; NULL = none is */
	uint64_t change_deadline_ns;             /* CLOCK_MONOTONIC */
	struct fxt_provider_terms terms;         /* the rate is 0 until the first provider comes */
	struct fxt_clock_pair first;             /* as early as possible */
	struct fxt_memory prepared;              /* for the program itself; taken by its first provider */
	const struct fxt_ledger *ledger;         /* of all progress; NULL: nobody wants to know */
	pid_t job;                               /* by which the user knows fxtrun */
	pid_t program; /* our child; 0 before it was started, and once it has ended */
	int epoll;
	struct fxt_provider **providers; /* all there ever were */
	uint32_t count;
	uint32_t capacity;
	uint32_t alive;       /* of these: not joined yet */
	uint32_t refused;     /* processes that run untraced */
	bool refusal_said;    /* why the first of them does */
	bool terminate_sent;  /* the program was sent SIGTERM from here */
	uint64_t start_ticks; /* where viewers are to open the trace; 0 = nowhere */
};

/* Whether the session outlives its recordings. */
static inline bool fxt_session_is_lasting(const struct fxt_session *session)
{
	return session->terms.options->start == FXT_START_IDLE;
}

/* Sums over all providers, once they are joined. */
struct fxt_totals {
	uint64_t events, threads;
	struct fxt_losses losses;
	struct fxt_left_out_sum left_out;
	double noise;             /* of the events, those that fxt suggest would have left out, by a sample */
	uint64_t bytes_unwritten; /* that the archive could not take */
	uint32_t processes, refused, still_running;
	bool without_calls;     /* those were not asked for */
	bool was_not_started;   /* processes waited for the recording to begin, which it never did */
	bool uses_project_file; /* some options were not given by who started the session */
	bool has_kept_old;      /* the trace that was there before is kept */
	bool left_placeholders; /* some functions are without a name in the archive */
	bool incomplete;  /* as said before: a provider was aborted, left bad data, or could not be written */
	char killed[256]; /* how the program itself was, in words; "": it was not */
};

/* Adds what was taken of a provider. */
void fxt_totals_add(struct fxt_totals *totals, const struct fxt_collector *collector);

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

/* Prepares the memory of the first provider. Returns 0, or an errno value. */
int fxt_session_prepare(struct fxt_session *session);

/*
 * A process says hello, its pid being that of the peer. Fills in the welcome and, if it is welcome, returns
 * its provider, already waiting for packets, whose two descriptors are to be sent along; NULL if it is
 * refused. A provider that the same process had before its exec is ended.
 */
struct fxt_provider *fxt_session_connect(
        struct fxt_session *session, pid_t pid, const struct fxt_hello *hello, struct fxt_welcome *welcome);

/* A process of another user asked: it runs untraced, and is counted as such, unless the session follows no
 * children anyway. */
void fxt_session_refuse_other_user(struct fxt_session *session, pid_t pid, uid_t user);

/* To be called once the welcome was sent, or could not be (`sent` false): the process then runs untraced, and
 * its provider is ended. */
void fxt_session_welcomed(struct fxt_session *session, struct fxt_provider *provider, bool sent);

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

/* ---- recordings of a lasting session ---- */

/* The options say how to record, and the archive is there: the processes that are registered become
 * providers. Only from READY, which the session then leaves by fxt_recording_initialize(). */
void fxt_session_begin_recording(struct fxt_session *session);

/* Whether a recording that was to end has: no thread writes any more of what its providers left. */
bool fxt_session_recording_has_ended(const struct fxt_session *session);

/* Sums up such a recording, and brings the rest into the archive. The latter may take long, and is for
 * another thread, while the main one lets processes in. */
void fxt_session_sum_up(struct fxt_session *session, struct fxt_totals *totals);
void fxt_session_finish_archive(struct fxt_session *session, struct fxt_totals *totals);

/* Forgets the recording, whose trace is final: READY. */
void fxt_session_renew(struct fxt_session *session);

/*
 * With `put_off` the session does not tell the threads of providers that their processes have ended, so that
 * what these left stays in their memories; without, it tells what it put off. A snapshot asks for it: it has
 * to wait until no provider's rest is being taken, which might never be so while processes come and go.
 */
void fxt_session_put_off_ends(struct fxt_session *session, bool put_off);

/* Ends the providers that are left as still running. Waits until all records are in the archive; sums up. */
void fxt_session_finish(struct fxt_session *session, struct fxt_totals *totals);

/* Has viewers open the trace where the program began to be recorded; once it was summed up.
 * ticks_per_second is the final rate, 0 = none came. In any thread. */
void fxt_session_describe_start(struct fxt_session *session, uint64_t ticks_per_second);

/* The rate of the clock, measured over the whole run; 0 if no provider ever came. */
uint64_t fxt_session_final_rate(const struct fxt_session *session);

/* Gives back what a session that came to nothing, or was finished, still holds. */
void fxt_session_close(struct fxt_session *session);

#endif

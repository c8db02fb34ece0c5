/*
 * One provider: the image of a process that the agent was loaded into, from its welcome to the last record
 * that is taken out of its memory. Nothing that another provider does can hold it up but the archive's lock.
 *
 * Two threads drive its life, and each of them owns one word of it. The provider's own thread
 * (provider_thread.h) owns `state`; STARTED and STOPPED are packets that it takes (packets.h):
 *
 *   WAITING --STARTED--> RECORDING --STOPPED--> STOPPED --STARTED--> RECORDING
 *                            |
 *                            +--STOPPED, results wanted--> SAVING_RESULTS --> SAVED --STARTED--> RECORDING
 *
 *   WAITING, SAVED -------------------------- end TOLD -------------------> DONE
 *   RECORDING, STOPPED ---------------------- end TOLD --> SAVING_REST ---> DONE
 *   WAITING, RECORDING, STOPPED, SAVED --- a rule broken ---> ABORTED ----> DONE
 *
 * In a session of several recordings (session.h) a process is REGISTERED between them, without a thread. With
 * each recording it becomes a provider of it, WAITING, and what is kept of it after the end is REGISTERED.
 *
 * The main thread owns `end`, by which it tells the other one that the provider has ended:
 *
 *   NONE --the process has ended, or the session--> KNOWN --fxt_provider_tell_end()--> TOLD --DONE--> JOINED
 *   NONE, KNOWN --DONE, since it was aborted--> JOINED
 *
 * Errors: what a provider does wrong is said here, with its name before it, once of each kind, and makes it
 * `incomplete`; nothing is returned. What keeps a provider from beginning is returned as an errno value, and
 * said by the caller.
 */
#ifndef FXT_LAUNCHER_SESSION_PROVIDER_H
#define FXT_LAUNCHER_SESSION_PROVIDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "archive.h"
#include "ended.h"
#include "filter_change.h"
#include "ledger.h"
#include "memory.h"
#include "record_writer.h"
#include "wakeup.h"
#include "launcher/options.h"
#include "launcher/sched/sched.h"
#include "launcher/watch.h"
#include "symbolizer/protobuf.h"
#include "writer/atomics.h"
#include "writer/call_cost.h"
#include "writer/collect/collect.h"

enum fxt_provider_state {
	FXT_STATE_WAITING = 0,    /* it was welcomed and has not begun to record */
	FXT_STATE_RECORDING,      /* it has said STARTED, and not yet STOPPED */
	FXT_STATE_SAVING_RESULTS, /* it has said STOPPED; what it recorded goes into the archive */
	FXT_STATE_SAVED,          /* it is stopped; the archive has all that it recorded */
	FXT_STATE_STOPPED,        /* it is stopped; what it recorded is in its buffers */
	FXT_STATE_SAVING_REST,    /* it has ended; what its buffers hold goes into the archive */
	FXT_STATE_ABORTED,    /* it broke a rule: it was told to quit, and nothing more is taken from it */
	FXT_STATE_DONE,       /* its thread does nothing more */
	FXT_STATE_REGISTERED, /* no recording is on: it is known, its agent waits for one, and it has no
	                         thread */
	FXT_STATES
};

enum fxt_provider_end {
	FXT_END_NONE = 0, /* it has not ended, as far as we know */
	FXT_END_KNOWN,  /* it has ended: `ending`, `signal` and `end_ticks` hold; its thread was not told yet
	                 */
	FXT_END_TOLD,   /* its thread was told, and takes the rest */
	FXT_END_JOINED, /* its thread has ended, its memory is given back */
	FXT_ENDS
};

/* What a controller is told of a provider (Fuchsia's ProviderStats). */
struct fxt_provider_statistics {
	uint64_t wrapped; /* how often a rolling buffer was full */
	uint64_t durable_bytes, durable_used;
	uint64_t rolling_bytes; /* written to rolling buffers in all */
	struct fxt_losses losses;
};

struct fxt_provider {
	/* Written by the main thread before the provider's begins; read by both, unless said otherwise. */
	struct fxt_archive_writer *archive;
	struct fxt_wakeup *wakeup;       /* of the main thread, when what that reads here has changed */
	struct fxt_sched *sched;         /* is told of the provider and of its end */
	struct fxt_resolver *resolver;   /* names its functions; NULL: nobody does */
	struct fxt_ledger_entry *ledger; /* of its progress; NULL: nobody wants to know */
	struct fxt_ended *ended;         /* where its rest goes; NULL: into the archive, as everything else */
	struct fxt_call_counts *counts;  /* of its calls, among those of others; NULL: nobody counts them */
	const struct fxt_filter_change *no_change;     /* the list begins behind it; NULL: there is none */
	const struct fxt_filter_change *filter_change; /* those behind it its trace does not tell of yet, as
	                                                  its own thread sees */
	pid_t pid;
	pid_t own_pid; /* what it calls itself: in a PID namespace another number */
	uint64_t process_koid;
	/* Of the same process. Those before `earlier` are forgotten, and these two say what they were. */
	struct fxt_provider *earlier, *later;
	bool had_runs, had_threads;
	struct fxt_call_cost call_cost; /* goes into the archive; 0: not measured */
	enum fxt_clock_kind clock;
	bool is_replaced;               /* another image of its process has come */
	struct fxt_message description; /* of its process (description.h); goes where its rest does. Empty:
	                                 * the archive has it */
	bool had_recordings;      /* its memory has what was recorded in earlier ones, until it begins */
	bool is_kept;             /* it ends with its recording, and its process is registered for the next */
	bool heap_is_recorded;    /* its live sums then go into the archive as counters */
	struct fxt_watch process; /* a pidfd; -1 once the main thread saw the process end */
	struct fxt_memory memory; /* given back, and zeroed, by the main thread at JOINED */
	pthread_t thread;         /* the main thread's */
	struct fxt_archive_provider identity; /* its thread's, for the archive */

	/* Written by the main thread, read by both. Release and acquire of `end`: what describes the end
	 * stands before TOLD. */
	uint32_t end;            /* enum fxt_provider_end */
	uint32_t results_wanted; /* the latest command was to stop, and to save results */
	int signal;              /* that ended the process; 0 = none, or it is not known */
	pid_t sender;            /* who sent that signal; 0 = nobody, or it is not known */
	uint32_t seccomp;        /* enum fxt_seccomp, if a signal ended it */
	uint64_t end_ticks;
	enum fxt_ending ending; /* from TOLD on its thread's: the process may yet end while it falls quiet */

	/* Written by its thread. The main thread reads `state` with acquire; of the rest what a state says,
	 * and all once it is DONE; a snapshot all, while it holds the archive's lock and nothing is being
	 * saved. */
	uint32_t state; /* enum fxt_provider_state; a SAVING state is entered under the archive's lock */
	uint32_t runs;  /* how often it has begun to record */
	struct fxt_collector collector;
	struct fxt_record_writer records;
	uint32_t packets;                      /* dealt with so far; the main thread reads it with acquire */
	uint64_t triggers_taken[FXT_TRIGGERS]; /* how often calls have raised each, as far as was told */
	uint64_t first_ticks;   /* when its first thread began, by its own account; 0 = none did */
	uint64_t stopped_ticks; /* of the latest STOPPED */
	/* What was saved of the buffer that it fills now (ahead.h). */
	bool is_ahead;         /* something was */
	uint64_t ahead_from;   /* no byte of that stands before in the archive */
	uint64_t ahead_events; /* collector.copy.events without that */
	bool incomplete;       /* something of it was no good and is not in the archive; that was said */
	bool misplaced;        /* it sent a packet that its state does not allow; that was said */
	char killed[256];      /* how it was, in words; "": it was not */

	struct fxt_provider_statistics statistics; /* the last ones, once it is JOINED */
};

/* What all providers of a session are told. */
struct fxt_provider_terms {
	const struct fxt_options *options;
	enum fxt_clock_kind clock;
	uint64_t ticks_per_second;
	struct fxt_categories categories;         /* what is recorded now */
	struct fxt_categories session_categories; /* the same without what a start adds until the stop */
	struct fxt_call_cost call_cost;           /* 0: not measured */
	/* What holds now; the options have what held at the beginning. */
	struct fxt_call_limits limits;
	const struct fxt_selection *filter; /* NULL: theirs */
	uint32_t depth_limit;
	struct fxt_trigger triggers[FXT_TRIGGERS]; /* by number less one */
	uint32_t had_calls;  /* a bit for each of these that is raised by calls, or was: providers know what
	                        for */
	bool begins_to_wait; /* with the change that is under way: for a call that starts the recording of
	                        calls */
	uint32_t filter_changes;       /* so often it was changed */
	uint64_t filter_changed_ticks; /* when that began first */
	bool awaits_decisions;         /* since then calls are not taken out later: functions are decided on
	                                  before their first call */
	uint32_t recording;            /* the number of the session's recording (fxt_control.recording) */
	bool begin;                    /* a provider begins to record as soon as it is there */
};

static inline enum fxt_provider_state fxt_provider_state(const struct fxt_provider *provider)
{
	return (enum fxt_provider_state)load_acquire(&provider->state);
}

/* Whether the drawing above has a way from one state to the other, or from one end to the other. */
bool fxt_provider_may_enter(enum fxt_provider_state from, enum fxt_provider_state to);
bool fxt_provider_may_end(enum fxt_provider_end from, enum fxt_provider_end to);

/* Whether its thread has dealt with all packets that it sent. For the main thread, not of one that is JOINED.
 */
bool fxt_provider_is_heard(const struct fxt_provider *provider);

/* Whether it had no room for its memory, and so runs untraced. Once it has ended. */
bool fxt_provider_is_untraced(const struct fxt_provider *provider);

/* Whether its fields agree with its state and its end. From either thread. */
bool fxt_provider_is_valid(const struct fxt_provider *provider);

/* ---- in the main thread ---- */

/* Fills in the control memory and all that has to stand before the thread begins (provider_thread.h). */
void fxt_provider_prepare(struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* Fills in the control memory of a process that is known before there is a recording: REGISTERED. */
void fxt_provider_register(struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* It is not to be recorded any more, and is told so if it lives: DONE, and its memory is given back. Only if
 * it is REGISTERED. */
void fxt_provider_unregister(struct fxt_provider *provider);

/* Whether it can be given commands: it has a thread, which has not been told of its end, and it was not
 * aborted. */
bool fxt_provider_is_live(const struct fxt_provider *provider);

/* Whether a live provider has done what the latest command asks: it says that it records, or that it stopped
 * and its results, if they were wanted, are in the archive. One that carries out no commands any more has. */
bool fxt_provider_follows(const struct fxt_provider *provider, bool recording);

/* Commands a live provider to begin; it follows when it can. One that has not taken an earlier command to
 * stop goes on. */
void fxt_provider_begin(
        struct fxt_provider *provider, const struct fxt_categories *categories, enum fxt_start_mode mode);

/* Commands it to stop. With `write_results` what its buffers hold then is in the archive once it does not
 * record any more; the next run must begin with FXT_START_CLEAR_ENTIRE. */
void fxt_provider_stop(struct fxt_provider *provider, bool write_results);

/* So many bytes at most its rest takes in an archive; an estimate, for names may be of any length. */
uint64_t fxt_provider_rest_bytes(const struct fxt_provider *provider);

/* Up to now, or up to its end. */
struct fxt_provider_statistics fxt_provider_statistics(const struct fxt_provider *provider);

/* Has it leave out calls as the terms say now. */
void fxt_provider_limit(const struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* The filter by which its functions are decided on; NULL: none. */
static inline const struct fxt_selection *fxt_provider_filter(const struct fxt_provider_terms *terms)
{
	const struct fxt_selection *filter = terms->filter ? terms->filter : &terms->options->filter;

	return filter->count || terms->filter_changes ? filter : NULL;
}

/* Prepares a live provider for another filter, before its functions are decided on by that: what it records
 * from the first change on is kept, and functions that it sees first wait for the decision. */
void fxt_provider_expect_filter(const struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* The change was made: what is left to do for a provider whose memory is there. */
void fxt_provider_finish_filter(const struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* Whether it has carried out the latest change of the filter. If not, it is woken for it. */
bool fxt_provider_has_filter(const struct fxt_provider *provider, const struct fxt_provider_terms *terms);

/* Shows the provider that the manager lives, and sees to it that a process ends of which our helper alone is
 * left. At least every 250 ms. */
void fxt_provider_beat(struct fxt_provider *provider);

/* Whether the process is gone. */
bool fxt_provider_is_dead(const struct fxt_provider *provider);

/* How a process ended that is gone and not our child: by a signal, unless it was in exit() or _exit(). */
enum fxt_ending fxt_provider_own_account(const struct fxt_provider *provider);

/* The provider has ended at `ticks`, in that way: KNOWN. Its memory keeps what it left until its thread is
 * told. Only from NONE. */
void fxt_provider_note_end(struct fxt_provider *provider, enum fxt_ending ending, uint64_t ticks);

/* Tells its thread, which takes the rest and is done: TOLD. A process that is still running is told to quit.
 * Does not wait. Only from KNOWN. */
void fxt_provider_tell_end(struct fxt_provider *provider);

/* Waits for the thread, then gives back the memory, or hands it over to *kept if that is not NULL: JOINED.
 * The sums stay. */
void fxt_provider_join(struct fxt_provider *provider, struct fxt_memory *kept);

/* ---- in its thread ---- */

/* Enters a state that may_enter() allows, and wakes the main thread. Release: what was done before stands. */
void fxt_provider_enter(struct fxt_provider *provider, enum fxt_provider_state state);

/* What was taken so far is in the archive, and never to be taken again. */
void fxt_provider_note_progress(struct fxt_provider *provider);

/* Says that some of what it left is not taken, and why; once. */
void fxt_provider_elided(struct fxt_provider *provider, const char *reason);

/* Aborts it: tells it to quit and says why. */
void fxt_provider_abort(struct fxt_provider *provider, const char *reason);

/* ---- in either ---- */

/* Gives a command, in place of one that was not carried out yet. */
void fxt_provider_command(
        struct fxt_provider *provider, enum fxt_session_command command, enum fxt_start_mode mode);

/* Says something of the provider: its name and process stand before it. */
void fxt_provider_say(const struct fxt_provider *provider, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif

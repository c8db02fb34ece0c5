/*
 * One provider: one process image that loaded the agent, from its welcome to the last
 * record taken out of its memory. Another provider can delay it only through the archive's
 * lock.
 *
 * Two threads drive its life, and each of them owns one word of it. The provider's own
 * thread (provider_thread.h) owns `state`; STARTED and STOPPED are packets that it receives
 * (packets.h):
 *
 *   WAITING --STARTED--> RECORDING --STOPPED--> STOPPED --STARTED--> RECORDING
 *                            |
 *                            +--STOPPED, results wanted--> SAVING_RESULTS --> SAVED --STARTED--> RECORDING
 *
 *   WAITING, SAVED -------------------------- end SENT -------------------> DONE
 *   RECORDING, STOPPED ---------------------- end SENT --> SAVING_REST ---> DONE
 *   WAITING, RECORDING, STOPPED, SAVED --- a rule broken ---> ABORTED ----> DONE
 *
 * In a session of several recordings (session.h) a process is REGISTERED between them,
 * without a thread. Each recording makes it a provider again, in WAITING; after the
 * provider's end the process is REGISTERED once more.
 *
 * The main thread owns `end`, which reports the provider's end to the provider's thread:
 *
 *   NONE --the process has ended, or the session--> KNOWN --fxt_provider_send_end()--> SENT --DONE--> JOINED
 *   NONE, KNOWN --DONE, since it was aborted--> JOINED
 *
 * Errors: each kind of fault of a provider is printed here once, with the provider's name,
 * and sets `incomplete`; nothing is returned. An error that keeps a provider from beginning
 * is returned as an errno value, and the caller prints it.
 */
#ifndef FXT_LAUNCHER_MANAGER_PROVIDER_H
#define FXT_LAUNCHER_MANAGER_PROVIDER_H

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
#include "perfetto/protobuf.h"
#include "writer/shared/atomics.h"
#include "writer/format/call_cost.h"
#include "writer/collect/collect.h"

enum fxt_provider_state {
	FXT_STATE_WAITING = 0, /* welcomed; has not begun to record */
	FXT_STATE_RECORDING,   /* has sent STARTED and not yet STOPPED */
	/* has sent STOPPED; its records are being written to the archive */
	FXT_STATE_SAVING_RESULTS,
	FXT_STATE_SAVED,   /* stopped; the archive has all its records */
	FXT_STATE_STOPPED, /* stopped; its records are in its buffers */
	/* ended; the records in its buffers are being written to the archive */
	FXT_STATE_SAVING_REST,
	/* broke a rule: was commanded to quit; no more records are taken from it */
	FXT_STATE_ABORTED,
	FXT_STATE_DONE, /* its thread does nothing more */
	/* no recording is on: the process is known, its agent waits for a recording, and it
	 * has no thread */
	FXT_STATE_REGISTERED,
	FXT_STATES
};

enum fxt_provider_end {
	FXT_END_NONE = 0, /* not ended, as far as is known */
	/* ended: `ending`, `signal` and `end_ticks` hold; its thread does not know yet */
	FXT_END_KNOWN,
	FXT_END_SENT,   /* its thread knows, and takes the rest */
	FXT_END_JOINED, /* its thread has ended; its memory is given back */
	FXT_ENDS
};

/* The statistics of a provider for a controller (Fuchsia's ProviderStats). */
struct fxt_provider_statistics {
	uint64_t wrapped; /* times that a rolling buffer was full */
	uint64_t durable_bytes, durable_used;
	uint64_t rolling_bytes; /* written to rolling buffers, in all */
	struct fxt_losses losses;
};

struct fxt_program_categories;

struct fxt_provider {
	/* Written by the main thread before it starts the provider's thread; read by both,
	 * unless stated otherwise. */
	struct fxt_archive_writer *archive; /* stored with release when it turns */
	/* The session's archive, which it turns to when that changes, and the size at which
	 * it has the main thread change it (0: at none). NULL: it never changes. */
	struct fxt_archive_writer *const *session_archive;
	uint64_t rotate_bytes;
	/* wakes the main thread after a change that it reads here */
	struct fxt_wakeup *wakeup;
	struct fxt_sched *sched;         /* learns of the provider's beginning and end */
	struct fxt_resolver *resolver;   /* names its functions; NULL: no resolver */
	struct fxt_ledger_entry *ledger; /* its progress for the supervisor; NULL: not kept */
	/* receives its rest; NULL: the rest goes into the archive, like everything else */
	struct fxt_ended *ended;
	uint64_t rest_promised_bytes; /* what it announced there, at most */
	/* counts its calls together with those of other providers; NULL: not counted */
	struct fxt_call_counts *counts;
	/* keeps the categories of its own events once it has ended; NULL: they are not kept */
	struct fxt_program_categories *program_categories;
	/* head of the list of changes; NULL: there is no list */
	const struct fxt_filter_change *no_change;
	/* the latest change that is in its trace, as its own thread sees it */
	const struct fxt_filter_change *filter_change;
	pid_t pid;
	pid_t own_pid; /* its own number for itself: a different one in a PID namespace */
	uint64_t process_koid;
	/* Earlier and later images of the same process. Images before `earlier` are
	 * forgotten; the two flags hold what they had. */
	struct fxt_provider *earlier, *later;
	bool had_runs, had_threads;
	struct fxt_call_cost call_cost; /* written to the archive; 0: not measured */
	enum fxt_clock_kind clock;
	bool is_replaced; /* a later image of its process has come */
	/* describes its process (description.h); written to the same place as its rest, or
	 * to each archive it turns to. Empty: already in the archive */
	struct fxt_message description;
	/* until it begins, its memory holds records of earlier recordings */
	bool had_recordings;
	/* it ends with its recording, and its process is registered for the next one */
	bool is_kept;
	/* its live sums are written to the archive as counters */
	bool heap_is_recorded;
	/* a pidfd; -1 after the main thread saw the process end */
	struct fxt_watch process;
	/* zeroed and given back by the main thread at JOINED */
	struct fxt_memory memory;
	pthread_t thread;                     /* belongs to the main thread */
	struct fxt_archive_provider identity; /* belongs to its thread, for the archive */

	/* Written by the main thread, read by both. `end` is stored with release and read
	 * with acquire: the fields that describe the end are written before SENT. */
	uint32_t end;            /* enum fxt_provider_end */
	uint32_t results_wanted; /* the latest command was a stop that saves results */
	int signal;              /* that ended the process; 0 = none, or not known */
	pid_t sender;            /* process that sent the signal; 0 = none, or not known */
	uint32_t seccomp;        /* enum fxt_seccomp, if a signal ended it */
	uint64_t end_ticks;
	/* belongs to its thread from SENT on: the process may still end while the thread
	 * waits for it to fall quiet */
	enum fxt_ending ending;

	/* Written by its thread. The main thread reads `state` with acquire; it may read a
	 * field that the state vouches for, and all of them at DONE. A snapshot may read
	 * all of them while it holds the archive's lock and nothing is being saved. */
	/* enum fxt_provider_state; a SAVING state is entered under the archive's lock */
	uint32_t state;
	uint32_t runs; /* times that it began to record */
	struct fxt_collector collector;
	struct fxt_record_writer records;
	/* handled so far; the main thread reads it with acquire */
	uint32_t packets;
	/* times that calls raised each trigger, as far as reported */
	uint64_t triggers_taken[FXT_TRIGGERS];
	/* time at which its first thread began, as it states itself; 0 = none began */
	uint64_t first_ticks;
	/* as in the control memory, at the end */
	uint64_t library_calls_matched, thunks_with_arguments;
	uint64_t stopped_ticks;  /* time of the latest STOPPED */
	uint64_t events_counted; /* events that its archives count, of a rotated trace */
	/* The records saved ahead from the buffer that it fills now (ahead.h). */
	bool is_ahead;         /* something was saved ahead */
	uint64_t ahead_from;   /* all bytes saved ahead stand behind this place in the archive */
	uint64_t ahead_events; /* collector.copy.events without the records saved ahead */
	/* some of its data was bad and is missing from the archive; this was printed */
	bool incomplete;
	bool misplaced;   /* it sent a packet that its state does not allow; this was printed */
	char killed[256]; /* how it was killed, in words; "": it was not */

	struct fxt_provider_statistics statistics; /* the final ones, from JOINED on */
};

/* The settings that all providers of a session receive. */
struct fxt_provider_config {
	const struct fxt_options *options;
	enum fxt_clock_kind clock;
	uint64_t ticks_per_second;
	struct fxt_categories categories; /* those recorded now */
	/* the same without those that a start added until the stop */
	struct fxt_categories session_categories;
	struct fxt_call_cost call_cost; /* 0: not measured */
	/* The current settings; the options have the initial ones. */
	struct fxt_call_limits limits;
	const struct fxt_record_filter *filter; /* NULL: the options' filter */
	uint32_t depth_limit;
	struct fxt_trigger triggers[FXT_TRIGGERS]; /* index = number - 1 */
	/* a bit for each trigger that is, or was, raised by calls: providers know its
	 * functions */
	uint32_t had_calls;
	/* the change in progress adds a trigger that starts the recording of calls */
	bool begins_to_wait;
	uint32_t filter_changes;       /* number of filter changes so far */
	uint64_t filter_changed_ticks; /* time at which the first change began */
	/* since the first change calls are not removed later: functions are decided on
	 * before their first call */
	bool awaits_decisions;
	/* number of the session's recording (fxt_control.recording) */
	uint32_t recording;
	bool begin; /* a provider begins to record at once */
};

static inline enum fxt_provider_state fxt_provider_state(const struct fxt_provider *provider)
{
	return (enum fxt_provider_state)load_acquire(&provider->state);
}

/* True if the drawing above leads from one state to the other, or from one end to the
 * other. */
bool fxt_provider_may_enter(enum fxt_provider_state from, enum fxt_provider_state to);
bool fxt_provider_may_end(enum fxt_provider_end from, enum fxt_provider_end to);

/* True if its thread has handled all packets that it sent. For the main thread, before
 * JOINED. */
bool fxt_provider_is_heard(const struct fxt_provider *provider);

/* True if it found no room for its memory and therefore runs untraced. Valid after its
 * end. */
bool fxt_provider_is_untraced(const struct fxt_provider *provider);

/* True if its fields agree with its state and its end. From either thread. */
bool fxt_provider_is_valid(const struct fxt_provider *provider);

/* ---- in the main thread ---- */

/* Fills in the control memory and everything the thread needs before it begins
 * (provider_thread.h). */
void fxt_provider_prepare(struct fxt_provider *provider, const struct fxt_provider_config *config);

/* Fills in the control memory of a process that comes while there is no recording:
 * REGISTERED. */
void fxt_provider_register(struct fxt_provider *provider, const struct fxt_provider_config *config);

/* Gives up a REGISTERED process: commands a live one to quit, gives its memory back, and
 * enters DONE. */
void fxt_provider_unregister(struct fxt_provider *provider);

/* True if it can take commands: it has a thread that does not know of an end, and it was
 * not aborted. */
bool fxt_provider_is_live(const struct fxt_provider *provider);

/* True if a live provider has done what the latest command asks: it reports that it
 * records, or that it stopped and any wanted results are in the archive. Also true if it
 * carries out no commands any more. */
bool fxt_provider_follows(const struct fxt_provider *provider, bool recording);

/* Commands a live provider to begin; it follows when it can. If it has not seen an earlier
 * stop command, it just goes on. */
void fxt_provider_begin(
        struct fxt_provider *provider, const struct fxt_categories *categories, enum fxt_start_mode mode);

/* Commands it to stop. With `write_results` the contents of its buffers are written to the
 * archive before it counts as stopped; the next run must then begin with
 * FXT_START_CLEAR_ENTIRE. */
void fxt_provider_stop(struct fxt_provider *provider, bool write_results);

/* An estimate of the most bytes that its rest takes in an archive. It is no bound, because
 * names may have any length. */
uint64_t fxt_provider_rest_bytes(const struct fxt_provider *provider);

/* Until now, or until its end. */
struct fxt_provider_statistics fxt_provider_statistics(const struct fxt_provider *provider);

/* Applies the call limits of the config to it. */
void fxt_provider_limit(const struct fxt_provider *provider, const struct fxt_provider_config *config);

/* The filter for its functions; NULL: none. */
static inline const struct fxt_record_filter *fxt_provider_filter(const struct fxt_provider_config *config)
{
	const struct fxt_record_filter *filter = config->filter ? config->filter : &config->options->filter;

	return filter->count || config->filter_changes ? filter : NULL;
}

/* Prepares a live provider for another filter, before its functions are decided on again:
 * from the first change on all its records are kept, and a new function waits for its
 * decision. */
void fxt_provider_expect_filter(
        const struct fxt_provider *provider, const struct fxt_provider_config *config);

/* Completes a filter change for a provider that still has its memory. */
void fxt_provider_finish_filter(
        const struct fxt_provider *provider, const struct fxt_provider_config *config);

/* True if it has carried out the latest filter change. Wakes it if it has not. */
bool fxt_provider_has_filter(const struct fxt_provider *provider, const struct fxt_provider_config *config);

/* Moves its heartbeat, and ends a process if only our helper is left in it. Call it at
 * least every 250 ms. */
void fxt_provider_beat(struct fxt_provider *provider);

/* True if the process is gone. */
bool fxt_provider_is_dead(const struct fxt_provider *provider);

/* The end of a process that is gone and is not our child: a signal, unless it was in exit()
 * or _exit(). */
enum fxt_ending fxt_provider_own_account(const struct fxt_provider *provider);

/* Notes that the provider ended at `ticks`, in that way: KNOWN. Its memory keeps its rest
 * until its thread knows of the end. Only from NONE. */
void fxt_provider_note_end(struct fxt_provider *provider, enum fxt_ending ending, uint64_t ticks);

/* Reports the end to its thread, which takes the rest and is done: SENT. Commands a process
 * that is still running to quit. Does not wait. Only from KNOWN. */
void fxt_provider_send_end(struct fxt_provider *provider);

/* Waits for the thread, then gives back the memory, or moves it to *kept if that is not
 * NULL: JOINED. The sums stay. */
void fxt_provider_join(struct fxt_provider *provider, struct fxt_memory *kept);

/* ---- in its thread ---- */

/* Enters a state that may_enter() allows, and wakes the main thread. Stores with release:
 * everything done before is visible. */
void fxt_provider_enter(struct fxt_provider *provider, enum fxt_provider_state state);

/* Notes that all records taken so far are in the archive and must never be taken again. */
void fxt_provider_note_progress(struct fxt_provider *provider);

/* Prints, once, that some of its data is not taken, and why. */
void fxt_provider_elided(struct fxt_provider *provider, const char *reason);

/* Aborts it: commands it to quit and prints why. */
void fxt_provider_abort(struct fxt_provider *provider, const char *reason);

/* ---- in either ---- */

/* Gives a command; it replaces a command that was not carried out yet. */
void fxt_provider_command(
        struct fxt_provider *provider, enum fxt_session_command command, enum fxt_start_mode mode);

/* Prints a message that begins with the provider's name and process. */
void fxt_provider_say(const struct fxt_provider *provider, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif

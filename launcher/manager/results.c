/*
 * Saves a provider's buffers at stops and at its end, and writes the events about its end.
 * Runs on the provider's thread. The memories are written by the program, so their contents
 * may be wrong.
 */
#include "results.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include "ahead.h"
#include "death.h"
#include "writer/format/categories.h"
#include "writer/format/encode.h"
#include "writer/engine/elided.h"
#include "writer/format/muted.h"
#include "writer/format/process_end.h"

enum {
	QUIET_STEP_MS = 5,
	QUIET_MAX_MS = 100, /* maximum wait for a running process to fall quiet */
};

/* A sum that changes with every call that the provider records or elides. */
static uint64_t results_progress(struct fxt_provider *p)
{
	uint32_t used = load_acquire(&p->memory.control->slots_used);
	uint64_t sum = fxt_ahead_progress(p);

	for (uint32_t i = 0; p->collector.elides_calls && i < used && i < FXT_ELIDED_THREADS; i++)
		if (fxt_control_reach_slot(&p->memory.map, i))
			sum += load_relaxed(&fxt_elided(p->memory.control, i)->counted_start);
	return sum;
}

/* Waits for a process that was commanded to quit to fall quiet, or to end after all.
 * Returns which of the two. */
static enum fxt_ending results_await_quiet(struct fxt_provider *p)
{
	uint64_t before = results_progress(p), after;

	for (int waited = 0; waited < QUIET_MAX_MS; waited += QUIET_STEP_MS, before = after) {
		struct pollfd process = {.fd = p->process.fd, .events = POLLIN};

		if (poll(&process, 1, QUIET_STEP_MS) > 0)
			return fxt_provider_own_account(p);
		after = results_progress(p);
		if (after == before)
			break;
	}
	return FXT_STILL_RUNNING;
}

/* For a killed process, and for waits at a stop. Calls that a filter removes are counted
 * too: viewers ignore a surplus end. */
struct results_left_open {
	const struct fxt_provider *p;
	uint64_t ticks; /* the end of what is left open */
	uint64_t calls;
};

static void results_note_open_calls(void *context, uint64_t thread_koid, uint64_t calls)
{
	struct results_left_open *left = context;
	const struct fxt_provider *p = left->p;
	struct fxt_open_thread thread = {
	        .process = p->process_koid, .thread = thread_koid, .calls = calls, .ticks = left->ticks};

	left->calls += calls;

	pthread_mutex_lock(&p->archive->lock);
	fxt_open_calls_add(&p->archive->open_calls, &thread);
	pthread_mutex_unlock(&p->archive->lock);
}

/* Enters `saving`. A snapshot waits in that state: it may copy from the archive everything
 * saved here, or nothing. */
static void results_take(
        struct fxt_provider *p, enum fxt_provider_state saving, enum fxt_ending ending, uint64_t ticks)
{
	struct results_left_open left = {p, ticks, 0};
	uint64_t lost = p->collector.losses.lost;
	int error;

	pthread_mutex_lock(&p->archive->lock);
	fxt_provider_enter(p, saving);
	pthread_mutex_unlock(&p->archive->lock);
	p->records.nobody_waits = true;
	p->collector.left_open = results_note_open_calls;
	p->collector.left_open_context = &left;
	error = fxt_collect_rest(&p->collector, ending, ticks);
	p->collector.left_open = NULL; /* the copy of a snapshot has no list, and the
	                                * archive's lock is held */
	fxt_record_writer_flush(&p->records);
	p->records.nobody_waits = false;
	p->is_ahead = false;
	if (error || p->collector.reason)
		fxt_provider_elided(p, p->collector.reason ? p->collector.reason : strerror(error));
	if (p->collector.losses.lost > lost)
		fxt_archive_write_loss(p->archive, &p->identity);
	if (ending == FXT_WAS_STOPPED && left.calls > 0)
		fxt_results_write_moment(p, p->archive, &p->identity, FXT_RECORDING_STOP_EVENT, ticks);
}

/* Writes an instant event on the track of the main thread. */
static void results_write_instant(const struct fxt_provider *p, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, const char *category, const char *name, uint64_t ticks,
        const struct fxt_argument *arguments, size_t count)
{
	uint64_t record[FXT_RECORD_MAX_WORDS];
	size_t words = fxt_put_event(record, FXT_RECORD_MAX_WORDS, FXT_EVENT_INSTANT,
	        fxt_thread_inline(p->process_koid, (uint64_t)p->pid), fxt_string_text(category),
	        fxt_string_text(name), ticks, arguments, count, 0);

	fxt_archive_write(archive, identity, record, words * sizeof(*record));
}

/* A seccomp filter that the agent did not expect also applies to the agent's system calls.
 * In strict mode even reading the processor's counter may be forbidden: the kernel then
 * kills by SIGSEGV, or once that has a handler. */
static void results_say_confined(struct fxt_provider *p, const struct fxt_death *death)
{
	if (death->origin != FXT_DEATH_BY_FAULT || load_relaxed(&p->memory.control->commands_ignored))
		return;
	if (death->signal == SIGSYS)
		fxt_provider_say(p, "was killed for a system call: it set a seccomp filter by an instruction "
		                    "of its own, not by libc's prctl() or syscall(), and such a filter "
		                    "applies to the recording's system calls too");
	else if (p->seccomp == FXT_SECCOMP_STRICT || p->seccomp == FXT_SECCOMP_KILLED)
		fxt_provider_say(p,
		        "was killed in seccomp's strict mode, which it entered by an instruction of its own, "
		        "not by libc's prctl() or syscall(): strict mode does not allow recording a call");
}

/* Writes when the process ended; its open calls end there. */
static void results_write_end(struct fxt_provider *p)
{
	struct fxt_death death;
	bool is_known = fxt_death_of(p, &death);

	if (is_known && fxt_category_is_enabled(p->memory.control, "process"))
		fxt_death_record(&death, p->end_ticks, p->archive, &p->identity);
	else if (p->ending == FXT_ENDED_BY_SIGNAL && p->collector.threads)
		results_write_instant(
		        p, p->archive, &p->identity, "fxt", FXT_PROCESS_END_EVENT, p->end_ticks, NULL, 0);
	if (!is_known)
		return;
	fxt_death_describe(p, &death, p->killed, sizeof(p->killed));
	results_say_confined(p, &death);
}

void fxt_results_write_moment(const struct fxt_provider *p, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, const char *name, uint64_t ticks)
{
	results_write_instant(p, archive, identity, "fxt", name, ticks, NULL, 0);
}

/* Writes the muted functions of a change. A change that was written before, or is older
 * than the provider, is written only for functions with calls not reported yet. */
static void results_write_muted(const struct fxt_provider *p, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, struct fxt_call_counter *counter,
        const struct fxt_filter_change *change, bool is_new)
{
	uint64_t began = load_relaxed(&fxt_control_slot(p->memory.control, 0)->began);

	for (size_t i = 0; i < change->muted_count; i++) {
		uint64_t calls = fxt_call_counter_report(counter, change->muted[i]);
		const struct fxt_argument arguments[] = {fxt_argument_string(fxt_string_text("function"),
		                                                 fxt_string_text(change->muted[i]->name)),
		        fxt_argument_uint64(fxt_string_text("calls"), calls)};

		if (is_new || calls)
			results_write_instant(p, archive, identity, "fxt", FXT_MUTED_EVENT,
			        change->began_ticks > began ? change->began_ticks : began, arguments, 2);
	}
}

const struct fxt_filter_change *fxt_results_write_changes(const struct fxt_provider *p,
        struct fxt_archive_writer *archive, struct fxt_archive_provider *identity,
        struct fxt_call_counter *counter)
{
	const struct fxt_filter_change *change = p->no_change, *later;
	bool is_new = change == p->filter_change;

	/* Acquire: pairs with the main thread's release; the change is complete. */
	while (change && (later = load_acquire(&change->later)) != NULL) {
		struct fxt_argument options =
		        fxt_argument_string(fxt_string_text("options"), fxt_string_text(later->text));

		if (later->muted_count)
			results_write_muted(p, archive, identity, counter, later, is_new);
		else if (is_new)
			results_write_instant(
			        p, archive, identity, "fxt", FXT_FILTER_EVENT, later->ticks, &options, 1);
		change = later;
		is_new |= change == p->filter_change;
	}
	return change;
}

void fxt_results_save(struct fxt_provider *p)
{
	results_take(p, FXT_STATE_SAVING_RESULTS, FXT_WAS_STOPPED, p->stopped_ticks);
	if (p->collector.threads)
		p->filter_change =
		        fxt_results_write_changes(p, p->archive, &p->identity, &p->records.counter);
	fxt_provider_enter(p, FXT_STATE_SAVED);
}

void fxt_results_save_rest(struct fxt_provider *p)
{
	enum fxt_provider_state state = fxt_provider_state(p);

	p->first_ticks = load_relaxed(&fxt_control_slot(p->memory.control, 0)->began);
	p->library_calls_matched = load_relaxed(&p->memory.control->library_calls_matched);
	p->thunks_with_arguments = load_relaxed(&p->memory.control->thunks_with_arguments);
	if (p->ending == FXT_STILL_RUNNING)
		p->ending = results_await_quiet(p);
	if (p->ending == FXT_ENDED_BY_SIGNAL)
		p->end_ticks = fxt_death_ticks(p, p->end_ticks);
	if (load_relaxed(&p->memory.control->modules_unwritten))
		fxt_provider_say(
		        p, p->collector.layout.durable_bytes < FXT_DURABLE_MAX_BYTES
		                   ? "has functions that appear by address: its buffer has no room for the "
		                     "list of "
		                     "its libraries; choose a larger --buffer-size"
		                   : "has functions that appear by address: it has loaded libraries more "
		                     "often than "
		                     "the buffer has room to list; --buffering-mode=oneshot has more");
	if (load_relaxed(&p->memory.control->sites_stuck))
		fxt_provider_say(p,
		        "lacks calls of some functions: hook calls were patched out of its code, and the "
		        "system did not let them be put back; --no-patch leaves them there");
	if (state == FXT_STATE_RECORDING) {
		results_take(p, FXT_STATE_SAVING_REST, p->ending, p->end_ticks);
		results_write_end(p);
		if (p->ending == FXT_STILL_RUNNING && p->collector.threads)
			fxt_results_write_moment(p, p->archive, &p->identity, "recording ends", p->end_ticks);
	} else if (state == FXT_STATE_STOPPED) {
		/* Calls that were open at the stop ended then, as far as is known. */
		results_take(p, FXT_STATE_SAVING_REST, FXT_WAS_STOPPED, p->stopped_ticks);
	}
	if (p->collector.threads && (state == FXT_STATE_RECORDING || state == FXT_STATE_STOPPED))
		fxt_results_write_changes(p, p->archive, &p->identity, &p->records.counter);
}

static struct fxt_argument results_picoseconds(const char *name, uint64_t ps)
{
	return fxt_argument_uint64(fxt_string_text(name), ps);
}

void fxt_results_write_call_cost(const struct fxt_provider *p, struct fxt_archive_writer *archive,
        struct fxt_archive_provider *identity, uint64_t ticks)
{
	struct fxt_argument arguments[] = {results_picoseconds("within_ps", p->call_cost.within_ps),
	        results_picoseconds("around_ps", p->call_cost.around_ps),
	        results_picoseconds("error_ps", p->call_cost.error_ps)};

	if (p->call_cost.within_ps)
		results_write_instant(p, archive, identity, "fxt", FXT_CALL_COST_EVENT, ticks, arguments,
		        sizeof(arguments) / sizeof(*arguments));
}

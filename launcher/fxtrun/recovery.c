/*
 * Finishes the trace in the supervisor after the manager was killed. Runs on the
 * supervisor's only thread. Memory that the program can write to must not be trusted about
 * earlier progress: the ledger has that.
 */
#include "recovery.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "launcher/categories.h"
#include "launcher/control/trace_config.h"
#include "launcher/message.h"
#include "launcher/manager/description.h"
#include "launcher/manager/packets.h"
#include "launcher/manager/provider_thread.h"
#include "launcher/manager/summary.h"
#include "recovery_archive.h"
#include "recovery_wait.h"
#include "process_files.h"
#include "rotated_name.h"

/* ---- what is handed over ---- */

static void recovery_close(struct fxt_heir *heir)
{
	close(heir->buffer_fd);
	close(heir->control_fd);
	if (heir->process_fd >= 0)
		close(heir->process_fd);
	heir->entry = NULL;
}

static void recovery_add(struct fxt_recovery *r, uint32_t id, const int fds[2])
{
	struct fxt_heir heir = {&r->ledger->entries[id - 1], fds[0], fds[1], -1};
	size_t place = 0;

	while (place < r->heir_count && r->heirs[place].entry)
		place++;
	if (place == r->heir_count) {
		struct fxt_heir *heirs = reallocarray(r->heirs, r->heir_count + 1, sizeof(*heirs));

		if (!heirs) {
			recovery_close(&heir);
			return;
		}
		r->heirs = heirs;
		r->heir_count++;
	}
	heir.process_fd = (int)syscall(SYS_pidfd_open, heir.entry->pid, 0);
	r->heirs[place] = heir;
}

static bool recovery_is_done(const struct fxt_heir *heir)
{
	return !heir->entry || fxt_ledger_page(heir->entry)->state == FXT_STATE_DONE;
}

/* Closes everything that was handed over for a recording. */
static void recovery_forget_recording(struct fxt_recovery *r)
{
	for (size_t i = 0; i < r->heir_count; i++)
		if (r->heirs[i].entry)
			recovery_close(&r->heirs[i]);
	if (r->has_archive)
		close(r->output->raw_fd);
	if (r->has_archive && r->output->final_fd >= 0)
		close(r->output->final_fd);
	r->has_archive = false;
	while (r->segment_count)
		close(r->segments[--r->segment_count]);
	if (r->options->filter.rules != r->idle_options.filter.rules)
		fxt_record_filter_free(&r->options->filter);
	*r->options = r->idle_options;
	json_decref(r->config);
	r->config = NULL;
}

/* Takes over a controller's settings. */
static void recovery_configure(struct fxt_recovery *r, int fd)
{
	char wrong[256];

	if (r->options->start == FXT_START_IDLE)
		recovery_forget_recording(r);
	r->config = json_loadfd(fd, 0, NULL);
	if (r->config)
		fxt_trace_config_read(r->config, r->options, wrong, sizeof(wrong));
	close(fd);
}

static void recovery_take_archive(struct fxt_recovery *r, bool has_kept_old, const int fds[2])
{
	struct fxt_trace_output *o = r->output;

	r->has_archive = fds[0] >= 0;
	if (r->options->start < FXT_START_CONTROLLER) {
		close(o->raw_fd);
		o->raw_fd = fds[0];
	} else if (r->config) {
		fxt_trace_output_adopt(o, r->options->output_file, fds[0], fds[1]);
		fxt_trace_output_compress(o, r->options->buffering_mode, r->queue);
	} else {
		r->has_archive = false;
	}
	o->has_kept_old = has_kept_old;
}

/* Takes over the next file of a rotated trace. The manager finishes the one before. */
static void recovery_turn(struct fxt_recovery *r, uint32_t number, int fd)
{
	if (fd < 0 || !fxt_rotated_name(r->name, r->options->output_file, number))
		return;
	close(r->output->raw_fd);
	fxt_trace_output_adopt(r->output, r->name, fd, -1);
	r->number = number;
}

/* A provider that had written nothing to the file yet takes its names again from the
 * beginning. */
static void recovery_turn_pages(const struct fxt_recovery *r)
{
	for (uint32_t i = 0; i < FXT_LEDGER_ENTRIES && r->ledger->entries[i].identity.id; i++) {
		struct fxt_ledger_entry *entry = &r->ledger->entries[i];
		struct fxt_ledger_page *page = &entry->pages[entry->current & 1];

		if (page->archive == r->number || !r->number)
			continue;
		page->may_repeat = true;
		page->archive_bytes = page->bytes_lost = page->durable_saved = 0;
		page->section = 0;
		page->announced = false;
	}
}

void fxt_recovery_receive(struct fxt_recovery *r)
{
	struct fxt_ledger_message message;
	int fds[2];

	while (fxt_ledger_receive(r->ledger, &message, fds))
		switch (message.kind) {
		case FXT_LEDGER_FINISHED:
			recovery_forget_recording(r);
			break;
		case FXT_LEDGER_SEGMENT:
			if (r->segment_count < FXT_ENDED_SEGMENTS && fds[0] >= 0)
				r->segments[r->segment_count++] = fds[0];
			break;
		case FXT_LEDGER_ARCHIVE:
			recovery_take_archive(r, message.number, fds);
			break;
		case FXT_LEDGER_ROTATED:
			recovery_turn(r, message.number, fds[0]);
			break;
		case FXT_LEDGER_CONFIG:
			recovery_configure(r, fds[0]);
			break;
		case FXT_LEDGER_PROGRAM:
			r->program = (pid_t)message.number;
			r->program_fd = (int)syscall(SYS_pidfd_open, r->program, 0);
			break;
		case FXT_LEDGER_LISTENER:
			r->listener_fd = fds[0];
			break;
		case FXT_LEDGER_PROVIDER:
			recovery_add(r, message.number, fds);
			break;
		default:
			break;
		}
	for (size_t i = 0; i < r->heir_count; i++)
		if (r->heirs[i].entry && recovery_is_done(&r->heirs[i]))
			recovery_close(&r->heirs[i]);
}

/* ---- the memories ---- */

/* Restores the provider as its thread left it. The earlier progress comes from the ledger,
 * not from memory that the program can write to. */
static void recovery_begin_provider(
        struct fxt_recovery *r, const struct fxt_heir *heir, struct fxt_provider *p)
{
	const struct fxt_ledger_page *page = fxt_ledger_page(heir->entry);
	struct fxt_collector *c = &p->collector;

	p->archive = &r->archive;
	p->wakeup = &r->wakeup;
	p->sched = &r->sched;
	p->pid = heir->entry->pid;
	p->own_pid = heir->entry->own_pid;
	p->process_koid = heir->entry->process_koid;
	p->clock = r->clock;
	p->call_cost = *r->call_cost;
	p->heap_is_recorded = fxt_options_heap_mode(r->options) != FXT_HEAP_OFF;
	p->process.fd = heir->process_fd;
	p->identity = heir->entry->identity;
	p->identity.announced |= page->announced;
	p->runs = page->runs;
	p->state = page->state;
	p->stopped_ticks = page->stopped_ticks;
	p->end_ticks = fxt_clock_ticks(r->clock);
	fxt_collector_init(c, p->memory.buffer, p->memory.buffer_bytes, p->memory.control, NULL, NULL);
	c->map = &p->memory.map;
	c->earliest_ticks = 1; /* the time of its beginning is not known any more */
	c->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	c->mode = r->options->buffering_mode;
	c->elides_calls = fxt_options_elide_calls(r->options);
	c->layout = p->memory.layout;
	c->process_koid = p->process_koid;
	c->durable_saved = page->durable_saved;
	c->next_wrapped = page->next_wrapped;
	c->saves = page->saves;
	c->copy.events = page->events;
	c->earlier_losses = c->losses = page->earlier_losses;
	fxt_record_writer_begin(&p->records, c, &r->archive, &p->identity, NULL, NULL);
	/* Repeats the effect of packets that the manager took from the ring and did not
	 * note: the beginning is set here, and the buffer itself shows that it was full. */
	if (p->runs == 0 && load_relaxed(&p->memory.control->started_by)) {
		p->runs = 1;
		p->state = FXT_STATE_RECORDING;
	}
	p->packets = load_relaxed(&p->memory.control->to_manager.read);
	fxt_packets_handle(p);
}

static void recovery_add_image(struct fxt_recovery *r, uint64_t process_koid, uint64_t threads)
{
	r->totals.threads += threads;
	if (r->images)
		r->images[r->image_count] =
		        (struct fxt_image){.process_koid = process_koid, .threads = threads};
	r->image_count++;
}

/* The koid of the parent of `pid`; 0: not known. */
static uint64_t recovery_parent_koid(const struct fxt_recovery *r, pid_t pid)
{
	pid_t parent = fxt_description_parent(pid);

	for (size_t i = 0; i < r->heir_count && parent > 0; i++)
		if (r->heirs[i].entry && r->heirs[i].entry->pid == parent)
			return r->heirs[i].entry->process_koid;
	return 0;
}

/* Takes the rest of a provider. */
static void recovery_take(struct fxt_recovery *r, const struct fxt_heir *heir)
{
	struct fxt_heap_counters counters = {0};
	struct fxt_provider p = {0};
	int error =
	        fxt_memory_adopt(&p.memory, heir->buffer_fd, heir->control_fd, r->options->buffering_mode);

	if (error) {
		fxt_say("the last records of process %d are lost: %s", heir->entry->pid, strerror(error));
		r->totals.incomplete = true;
		return;
	}
	recovery_begin_provider(r, heir, &p);
	if (load_relaxed(&p.memory.control->kept_from)) /* the same for all providers */
		r->kept_from = load_relaxed(&p.memory.control->kept_from);
	if (heir->process_fd < 0 || fxt_provider_is_dead(&p)) {
		p.ending = fxt_provider_own_account(&p);
	} else {
		p.ending = FXT_STILL_RUNNING;
		if (r->options->buffering_mode == FXT_CIRCULAR)
			p.description = fxt_describe_process(
			        &p.identity, p.pid, p.process_koid, recovery_parent_koid(r, p.pid));
		fxt_provider_command(&p, FXT_COMMAND_QUIT, 0);
	}
	fxt_provider_finish(&p, &counters);
	if (fxt_ledger_page(heir->entry)->may_repeat)
		fxt_say("process %d: the latest records of the file before %s may be in both files",
		        heir->entry->pid, r->output->name);
	fxt_totals_add_ended(&r->totals, &p);
	if (p.runs > 0)
		recovery_add_image(r, p.process_koid, p.collector.threads);
	r->totals.refused += fxt_provider_is_untraced(&p);
	fxt_collector_free(&p.collector);
	free(p.description.data);
	fxt_memory_free(&p.memory);
}

/* Counts the providers that were not handed over and have records missing from the
 * archive. */
static unsigned recovery_missing(const struct fxt_recovery *r)
{
	unsigned missing = 0;

	for (uint32_t i = 0; i < FXT_LEDGER_ENTRIES && r->ledger->entries[i].identity.id; i++) {
		const struct fxt_ledger_entry *entry = &r->ledger->entries[i];
		bool is_here = fxt_ledger_page(entry)->state == FXT_STATE_DONE;

		for (size_t h = 0; h < r->heir_count && !is_here; h++)
			is_here = r->heirs[h].entry == entry;
		missing += !is_here;
	}
	return missing;
}

/* ---- the trace ---- */

/* Adds the sums of providers that were done before: only their pages are left. */
static void recovery_add_done(struct fxt_recovery *r)
{
	struct fxt_ended_sum dropped = {0};

	for (uint32_t i = 0; i < FXT_LEDGER_ENTRIES && r->ledger->entries[i].identity.id; i++) {
		const struct fxt_ledger_page *page = fxt_ledger_page(&r->ledger->entries[i]);

		if (page->state != FXT_STATE_DONE || page->runs == 0)
			continue;
		recovery_add_image(r, r->ledger->entries[i].process_koid, page->threads);
		r->totals.events += page->events;
		r->totals.has_calls |= page->events > 0; /* as far as it is known */
		r->totals.losses.lost += page->losses.lost;
		r->totals.losses.overwritten += page->losses.overwritten;
		if (!fxt_ledger_is_dropped(r->ledger, &r->ledger->entries[i]))
			continue;
		dropped.processes += !r->ledger->entries[i].is_replaced;
		dropped.events += page->events;
		r->archive.records_dropped += page->events + page->losses.lost + page->losses.overwritten;
	}
	r->archive.processes_dropped = dropped.processes;
	fxt_totals_drop(&r->totals, &dropped);
}

static void recovery_finish(struct fxt_recovery *r, unsigned missing)
{
	char line[2 * PATH_MAX + 256];
	const struct fxt_options *o = r->options;
	struct fxt_rewrite_options options = fxt_trace_output_rewriting(o, r->kept_from,
	        fxt_clock_rate(r->clock, r->first, fxt_clock_read_pair(r->clock)), true,
	        r->output->is_compressed);
	int error = 0;

	if (r->options->follow & FXT_FOLLOW_FORK)
		r->totals.refused += fxt_ledger_take_untraced(r->ledger);
	fxt_totals_join_images(&r->totals, r->images, r->image_count);
	free(r->images);
	if (missing)
		fxt_say("the last records of %u process%s are lost: the memory was not handed over in time",
		        missing, missing == 1 ? "" : "es");
	/* Only the archive has the open calls of processes that had ended. */
	fxt_description_find_open_calls(&r->archive);
	if (options.ticks_per_second)
		fxt_describe_open_calls(&r->archive, options.ticks_per_second);
	fxt_archive_write_anchor(&r->archive, r->clock);
	if (!missing && r->totals.processes)
		error = fxt_archive_finish(&r->archive, FXT_ARCHIVE_RECOVERED);
	if (error)
		fxt_say("%s is complete, but says that it is unfinished: %s", r->output->name,
		        strerror(error));
	if (fxt_trace_output_finish(r->output, &options, &r->bytes, line, sizeof(line)) != 0)
		fxt_say("%s", line);
	else
		fxt_process_files_make(o, r->output, &r->totals, &r->bytes);
	fxt_totals_refuse(&r->totals, &r->archive);
	r->totals.without_calls = !fxt_categories_have(&o->categories, "function");
	r->totals.wants_heap = fxt_options_want_heap(o);
	r->totals.has_kept_old = r->output->has_kept_old;
	fxt_summary(line, sizeof(line), &r->totals, o->program[0], r->output->name, r->bytes);
	fxt_say("recovered: %s", line);
}

static void recovery_never(struct fxt_watch *watch, void *context)
{
	(void)watch, (void)context;
}

void fxt_recovery_run(struct fxt_recovery *r, int signals, int signal)
{
	int error, epoll;

	fxt_recovery_receive(r);
	if (r->options->start == FXT_START_IDLE) {
		fxt_say("the manager was killed by signal %d; the program goes on, and cannot be recorded "
		        "any more%s%s",
		        signal, r->has_archive ? "; what is left of the last recording goes into " : "",
		        r->has_archive ? r->output->name : "");
	}
	if (!r->has_archive)
		return;
	/* A controller's session ends with its connection, which the manager had. */
	if (r->options->start == FXT_START_CONTROLLER) {
		fxt_say("the manager was killed by signal %d; the trace gets what is left", signal);
	} else if (r->options->start != FXT_START_IDLE) {
		fxt_say("the manager was killed by signal %d; the trace gets what is left once "
		        "the program has ended, or by fxtctl recover",
		        signal);
		fxt_recovery_wait(r, signals);
	}
	recovery_turn_pages(r);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	error = epoll < 0 ? errno : fxt_wakeup_open(&r->wakeup, epoll, recovery_never, NULL);
	if (!error)
		error = fxt_recovery_resume_archive(r);
	if (error) {
		fxt_say("%s stays unfinished: %s", r->output->name, strerror(error));
	} else {
		unsigned missing = recovery_missing(r);

		fxt_recovery_take_segments(r);
		r->images = calloc(FXT_LEDGER_ENTRIES, sizeof(*r->images));
		for (size_t i = 0; i < r->heir_count; i++)
			if (!recovery_is_done(&r->heirs[i]))
				recovery_take(r, &r->heirs[i]);
		recovery_add_done(r);
		recovery_finish(r, missing);
	}
	fxt_recovery_reply(r, error == 0);
}

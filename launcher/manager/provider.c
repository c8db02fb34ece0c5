/*
 * The state machine of a provider: its commands, its filter, its beginning and its end. The
 * calls belong to the main thread or to the provider's thread, as provider.h says. The main
 * thread must never wait here for a provider, except in fxt_provider_join().
 */
#include "provider.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher/categories.h"
#include "program_categories.h"
#include "launcher/debug.h"
#include "launcher/message.h"
#include "writer/shared/clock.h"
#include "writer/engine/last_thread.h"
#include "writer/shared/sys.h"

/* ---- states ---- */

#define TO(state) (1u << FXT_STATE_##state)

bool fxt_provider_may_enter(enum fxt_provider_state from, enum fxt_provider_state to)
{
	static const uint32_t ways[FXT_STATES] = {
	        [FXT_STATE_WAITING] = TO(RECORDING) | TO(ABORTED) | TO(DONE),
	        [FXT_STATE_RECORDING] = TO(STOPPED) | TO(SAVING_RESULTS) | TO(SAVING_REST) | TO(ABORTED),
	        [FXT_STATE_SAVING_RESULTS] = TO(SAVED),
	        [FXT_STATE_SAVED] = TO(RECORDING) | TO(ABORTED) | TO(DONE),
	        [FXT_STATE_STOPPED] = TO(RECORDING) | TO(SAVING_REST) | TO(ABORTED),
	        [FXT_STATE_SAVING_REST] = TO(DONE),
	        [FXT_STATE_ABORTED] = TO(DONE),
	        [FXT_STATE_REGISTERED] = TO(WAITING) | TO(DONE),
	};

	return from < FXT_STATES && to < FXT_STATES && ways[from] >> to & 1;
}

bool fxt_provider_may_end(enum fxt_provider_end from, enum fxt_provider_end to)
{
	return to < FXT_ENDS && (to == from + 1 || (from < FXT_END_SENT && to == FXT_END_JOINED));
}

bool fxt_provider_is_valid(const struct fxt_provider *p)
{
	/* The end first: a state that depends on the end was entered after it. */
	enum fxt_provider_end end = (enum fxt_provider_end)load_acquire(&p->end);
	enum fxt_provider_state state = fxt_provider_state(p);
	bool has_memory = p->memory.buffer != NULL;

	if (state >= FXT_STATES || end >= FXT_ENDS)
		return false;
	if (has_memory != (end != FXT_END_JOINED) || (end == FXT_END_JOINED && state != FXT_STATE_DONE))
		return false;
	if ((state == FXT_STATE_WAITING || state == FXT_STATE_REGISTERED) && p->runs != 0)
		return false;
	if (state > FXT_STATE_WAITING && state < FXT_STATE_ABORTED && p->runs == 0)
		return false;
	if (state == FXT_STATE_ABORTED && !p->incomplete)
		return false;
	return true;
}

static void provider_enter_end(struct fxt_provider *p, enum fxt_provider_end end)
{
	fxt_debug_check(fxt_provider_may_end((enum fxt_provider_end)p->end, end));
	/* Release: pairs with the acquire of its thread; the description of the end is
	 * written before. */
	store_release(&p->end, end);
	fxt_debug_check(fxt_provider_is_valid(p));
}

void fxt_provider_enter(struct fxt_provider *p, enum fxt_provider_state state)
{
	fxt_debug_check(fxt_provider_may_enter((enum fxt_provider_state)p->state, state));
	store_release(&p->state, state);
	fxt_debug_check(fxt_provider_is_valid(p));
	fxt_wakeup_send(p->wakeup, NULL);
}

void fxt_provider_note_progress(struct fxt_provider *p)
{
	const struct fxt_collector *c = &p->collector;

	fxt_ledger_note(p->ledger, p->archive, &p->identity,
	        (struct fxt_ledger_page){.state = p->state,
	                .runs = p->runs,
	                .stopped_ticks = p->stopped_ticks,
	                .durable_saved = c->durable_saved,
	                .events = c->copy.events,
	                .next_wrapped = c->next_wrapped,
	                .saves = c->saves,
	                .earlier_losses = c->earlier_losses,
	                .losses = c->losses,
	                .threads = c->threads},
	        p->is_ahead && p->state != FXT_STATE_DONE);
}

/* ---- messages ---- */

void fxt_provider_say(const struct fxt_provider *p, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fxt_say("%.*s[%d] %s", p->identity.name_bytes, p->identity.name, p->pid, text);
}

void fxt_provider_elided(struct fxt_provider *p, const char *reason)
{
	if (!p->incomplete)
		fxt_provider_say(p, "left records that were not taken: %s", reason);
	p->incomplete = true;
}

void fxt_provider_abort(struct fxt_provider *p, const char *reason)
{
	fxt_provider_command(p, FXT_COMMAND_QUIT, 0);
	fxt_provider_say(p, "is no longer traced: %s", reason);
	p->incomplete = true;
	fxt_provider_enter(p, FXT_STATE_ABORTED);
}

/* ---- commands ---- */

void fxt_provider_command(struct fxt_provider *p, enum fxt_session_command command, enum fxt_start_mode mode)
{
	uint32_t *word = &p->memory.control->session_command;

	/* Release: the command's data is written before it. Pairs with the agent's
	 * acquire. */
	store_release(word, fxt_session_command_next(load_relaxed(word), command, mode));
	sys_futex_wake(word, 1);
}

bool fxt_provider_is_live(const struct fxt_provider *p)
{
	return p->end < FXT_END_SENT && fxt_provider_state(p) < FXT_STATE_ABORTED;
}

bool fxt_provider_is_heard(const struct fxt_provider *p)
{
	return load_acquire(&p->packets) == load_acquire(&p->memory.control->to_manager.written);
}

bool fxt_provider_is_untraced(const struct fxt_provider *p)
{
	return !p->is_kept && load_relaxed(&p->memory.control->buffer_address) == 0;
}

bool fxt_provider_follows(const struct fxt_provider *p, bool recording)
{
	const struct fxt_control *control = p->memory.control;
	/* Acquire: pairs with the agent's release; packets that result from the command
	 * were written before. */
	bool is_carried_out = load_acquire(&control->carried_out) == load_relaxed(&control->session_command);
	bool is_heard = fxt_provider_is_heard(p);
	/* Acquire: its results, if they were wanted, are in the archive. Read after the two
	 * above, so that it includes the effect of all those packets. */
	enum fxt_provider_state state = fxt_provider_state(p);
	bool is_recording = state == FXT_STATE_RECORDING || state == FXT_STATE_SAVING_RESULTS;

	if (load_relaxed(&control->commands_ignored))
		return true;
	if (is_recording || recording)
		return is_recording == recording;
	/* A provider that was commanded to begin may have done so, with its packets still
	 * in transit. If it was then commanded to stop, a start before the stop is known
	 * would clear records that must still be saved. A provider born with the begin
	 * command may be about to begin. */
	return is_heard && (state != FXT_STATE_WAITING || is_carried_out);
}

static void provider_fill_categories(struct fxt_control *control, const struct fxt_categories *categories)
{
	store_relaxed(&control->category_bytes, 0);
	memcpy(control->category_names, categories->names, categories->bytes);
	store_release(&control->category_bytes, categories->bytes);
	store_relaxed(&control->categories_off, fxt_categories_off(categories));
}

void fxt_provider_begin(
        struct fxt_provider *p, const struct fxt_categories *categories, enum fxt_start_mode mode)
{
	struct fxt_control *control = p->memory.control;

	provider_fill_categories(control, categories);
	fxt_provider_command(p, FXT_COMMAND_START, mode);
}

void fxt_provider_stop(struct fxt_provider *p, bool write_results)
{
	store_release(&p->results_wanted, write_results);
	fxt_provider_command(p, FXT_COMMAND_STOP, 0);
}

static enum fxt_call_trigger_action provider_trigger_action(const struct fxt_trigger *trigger)
{
	if (!fxt_trigger_is_of_process(trigger))
		return FXT_CALL_TELLS;
	return trigger->action == FXT_TRIGGER_START ? FXT_CALL_STARTS : FXT_CALL_STOPS;
}

/* For triggers that exist already nothing changes. */
static void provider_fill_triggers(struct fxt_control *control, const struct fxt_provider_config *config)
{
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++) {
		const struct fxt_trigger *trigger = &config->triggers[i];
		struct fxt_call_trigger *filled = &control->triggers[i];

		if (!fxt_trigger_is_of_calls(trigger))
			continue;
		store_relaxed(&filled->ticks, fxt_ns_to_ticks(trigger->call_ns, config->ticks_per_second));
		store_relaxed(&filled->once_after, trigger->once_after);
		store_relaxed(&filled->action, provider_trigger_action(trigger));
	}
}

static bool provider_has_trigger(
        const struct fxt_provider_config *config, enum fxt_call_trigger_action action)
{
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (provider_trigger_action(&config->triggers[i]) == action)
			return true;
	return false;
}

void fxt_provider_limit(const struct fxt_provider *p, const struct fxt_provider_config *config)
{
	struct fxt_control *control = p->memory.control;

	store_relaxed(&control->min_duration_ticks,
	        fxt_ns_to_ticks(config->limits.min_duration_ns, config->ticks_per_second));
	store_relaxed(&control->first_counted, config->limits.first_counted);
}

void fxt_provider_expect_filter(const struct fxt_provider *p, const struct fxt_provider_config *config)
{
	struct fxt_control *control = p->memory.control;

	provider_fill_triggers(control, config);
	/* Never fewer: calls may be open that are not recorded, and another hook would not
	 * recognize their exits. */
	store_relaxed(&control->has_triggers, control->has_triggers | config->filter->triggers);
	if (config->begins_to_wait)
		store_relaxed(&control->mutes_calls, 1);
	provider_fill_categories(control, &config->categories);
	store_relaxed(&control->kept_from, config->filter_changed_ticks);
	store_relaxed(&control->has_under, config->filter->under);
	store_relaxed(&control->depth_limit, config->depth_limit);
	if (config->awaits_decisions)
		store_relaxed(&control->awaits_decisions, 1);
	store_relaxed(&control->has_filter, 1);
}

void fxt_provider_finish_filter(const struct fxt_provider *p, const struct fxt_provider_config *config)
{
	fxt_provider_limit(p, config);
	/* Otherwise no trigger would start them again. */
	if (!provider_has_trigger(config, FXT_CALL_STARTS) && !provider_has_trigger(config, FXT_CALL_STOPS))
		store_relaxed(&p->memory.control->mutes_calls, 0);
}

bool fxt_provider_has_filter(const struct fxt_provider *p, const struct fxt_provider_config *config)
{
	struct fxt_control *control = p->memory.control;

	/* Acquire: pairs with the agent's release; calls that begin now are recorded by the
	 * new filter. */
	if (load_acquire(&control->filter_carried_out) == config->filter_changes)
		return true;
	sys_futex_wake(&control->session_command, 1);
	return false;
}

void fxt_provider_beat(struct fxt_provider *p)
{
	struct fxt_control *control = p->memory.control;

	add_relaxed(&control->heartbeat, 1);
	if (fxt_last_thread_look(control, p->pid))
		sys_futex_wake(&control->session_command, 1);
}

/* ---- beginning and end ---- */

static void provider_fill_control(const struct fxt_provider *p, const struct fxt_provider_config *config)
{
	struct fxt_control *control = p->memory.control;
	const struct fxt_options *options = config->options;
	const struct fxt_record_filter *filter = fxt_provider_filter(config);

	control->version = FXT_SHARED_VERSION;
	control->buffering_mode = options->buffering_mode;
	control->on_full = options->on_full;
	control->clock_kind = config->clock;
	control->heap_mode = fxt_options_heap_mode(options);
	control->heap_stacks = options->heap_stacks;
	control->heap_sample_bytes = options->heap_sample_bytes;
	control->populate = options->populate;
	control->has_filter = filter != NULL;
	control->erases = !options->no_patch;
	control->records_library_calls = options->library_calls;
	memcpy(control->library_calls, options->library_patterns.patterns, sizeof(control->library_calls));
	control->patches = !options->patch || options->no_patch ? FXT_PATCH_NOTHING
	                   : *options->patch                    ? FXT_PATCH_ANY
	                                                        : FXT_PATCH_PROGRAM;
	control->records_arguments = options->argument_list_count > 0;
	control->records_probes = options->usdt_count > 0 && !options->no_patch;
	control->logs = options->logs;
	control->notes_connections = options->connections;
	control->has_under = filter ? filter->under : 0;
	control->depth_limit = config->depth_limit;
	control->elides_calls = fxt_options_elide_calls(options);
	fxt_provider_limit(p, config);
	control->has_limits = options->filter.has_limits;
	control->has_triggers = filter ? filter->triggers : 0;
	memset(control->triggers, 0, sizeof(control->triggers));
	provider_fill_triggers(control, config);
	/* Calls are not recorded until a trigger starts their recording. */
	control->mutes_calls = provider_has_trigger(config, FXT_CALL_STARTS);
	/* With such a filter, the effect of a call on the calls around it and inside it
	 * must be known before it ends or begins. Other calls may be removed later, unless
	 * the filter was changed. */
	control->awaits_decisions = control->has_under || control->has_triggers || config->awaits_decisions ||
	                            (control->has_filter && (control->elides_calls || control->depth_limit));
	control->kept_from = config->filter_changed_ticks;
	control->filter_changes = control->filter_carried_out = config->filter_changes;
	control->ticks_per_second = config->ticks_per_second;
	control->process_koid = p->process_koid;
	control->provider_id = p->identity.id;
	provider_fill_categories(control, &config->categories);
	add_relaxed(&control->heartbeat, 1);
	if (config->begin)
		control->session_command = fxt_session_command_next(0, FXT_COMMAND_START, FXT_START_RETAIN);
	/* Release: an agent that has the memory already finds the rest. Pairs with its
	 * acquire. */
	store_release(&control->recording, config->recording);
	/* Last: an agent that finds the magic finds the rest. */
	store_release(&control->magic, FXT_CONTROL_MAGIC);
}

/* Makes the resolver read ahead for the provider. NULL: memory is short, and its functions
 * get their names at the end, when the archive is rewritten. */
static struct fxt_names *provider_begin_names(struct fxt_provider *p,
        const struct fxt_provider_config *config, const struct fxt_record_filter *filter)
{
	const struct fxt_names_owner owner = {
	        .pid = p->pid,
	        .process_koid = p->process_koid,
	        .buffer = p->memory.buffer,
	        .control = p->memory.control,
	        .mode = p->collector.mode,
	        .layout = p->collector.layout,
	        .filter = filter,
	        .ticks_per_second = config->ticks_per_second,
	        .archive = p->archive,
	        .identity = &p->identity,
	};

	return fxt_names_begin(p->resolver, &owner);
}

void fxt_provider_register(struct fxt_provider *p, const struct fxt_provider_config *config)
{
	p->state = FXT_STATE_REGISTERED;
	if (!p->had_recordings)
		provider_fill_control(p, config);
	store_relaxed(&p->memory.control->alerts_are_taken, 0);
	fxt_debug_check(fxt_provider_is_valid(p));
}

void fxt_provider_unregister(struct fxt_provider *p)
{
	fxt_provider_command(p, FXT_COMMAND_QUIT, 0);
	if (p->program_categories)
		fxt_program_categories_take(p->program_categories, p->memory.control);
	fxt_memory_free(&p->memory);
	p->state = FXT_STATE_DONE;
	provider_enter_end(p, FXT_END_JOINED);
}

/* Continues the counts of a process's earlier recordings. */
static void provider_go_on(struct fxt_provider *p, const struct fxt_provider_config *config)
{
	struct fxt_control *control = p->memory.control;

	fxt_memory_renew(&p->memory, config->options->buffering_mode);
	exchange_acquire(&control->triggered, 0);
	store_relaxed(&control->started_by, 0);
	/* Acquire: packets that came since the latest recording are skipped. */
	p->packets = load_acquire(&control->to_manager.written);
	store_release(&control->to_manager.read, p->packets);
}

void fxt_provider_prepare(struct fxt_provider *p, const struct fxt_provider_config *config)
{
	const struct fxt_record_filter *filter = fxt_provider_filter(config);

	p->state = FXT_STATE_WAITING;
	p->is_ahead = false;
	if (p->had_recordings)
		provider_go_on(p, config);
	p->clock = config->clock;
	p->call_cost = config->call_cost;
	p->heap_is_recorded = fxt_options_heap_mode(config->options) != FXT_HEAP_OFF;
	store_relaxed(&p->memory.control->alerts_are_taken, 1);
	memset(p->triggers_taken, 0, sizeof(p->triggers_taken));
	if (config->options->populate) /* the agent allocates them before its program begins */
		p->memory.populated = p->memory.buffer_bytes;
	provider_fill_control(p, config);
	fxt_collector_init(
	        &p->collector, p->memory.buffer, p->memory.buffer_bytes, p->memory.control, NULL, NULL);
	p->collector.map = &p->memory.map;
	/* Sums of a process that was recorded before are older. */
	p->collector.earliest_ticks = p->had_recordings ? 1 : fxt_clock_ticks(p->clock);
	p->collector.cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	/* Each save was answered, and that many packets were sent. */
	p->collector.saves = load_relaxed(&p->memory.control->to_provider.written);
	fxt_record_writer_begin(&p->records, &p->collector, p->archive, &p->identity, p->resolver,
	        p->resolver ? provider_begin_names(p, config, filter) : NULL);
	if (filter && !config->filter_changes)
		fxt_record_writer_exclude(&p->records, filter);
	if (p->counts)
		fxt_call_counter_begin(&p->records.counter, p->counts, p->pid, config->ticks_per_second);
	if (p->had_recordings)
		fxt_provider_note_progress(p);
	fxt_debug_check(fxt_provider_is_valid(p));
}

bool fxt_provider_is_dead(const struct fxt_provider *p)
{
	struct pollfd process = {.fd = p->process.fd, .events = POLLIN};

	return poll(&process, 1, 0) > 0;
}

enum fxt_ending fxt_provider_own_account(const struct fxt_provider *p)
{
	return load_acquire(&p->memory.control->exiting) == 1 ? FXT_ENDED_NORMALLY : FXT_ENDED_BY_SIGNAL;
}

void fxt_provider_note_end(struct fxt_provider *p, enum fxt_ending ending, uint64_t ticks)
{
	p->ending = ending;
	p->end_ticks = ticks;
	provider_enter_end(p, FXT_END_KNOWN);
}

void fxt_provider_send_end(struct fxt_provider *p)
{
	if (p->ending == FXT_STILL_RUNNING)
		fxt_provider_command(p, FXT_COMMAND_QUIT, 0);
	provider_enter_end(p, FXT_END_SENT);
	sys_futex_wake(&p->memory.control->to_manager.written, 1);
}

uint64_t fxt_provider_rest_bytes(const struct fxt_provider *p)
{
	enum {
		NAME_TIMES = 8
	}; /* estimated growth of a placeholder to a name and its
	    * source position */
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	const struct fxt_buffer_layout *layout = &p->collector.layout;
	uint64_t current = load_relaxed(&header->rolling_data_end[load_relaxed(&header->wrapped_count) & 1]);
	uint64_t durable = load_relaxed(&header->durable_data_end);

	if (current > layout->rolling_bytes)
		current = layout->rolling_bytes;
	if (durable > layout->durable_bytes)
		durable = layout->durable_bytes;
	if (load_relaxed(&header->wrapped_count))
		current += layout->rolling_bytes;
	return current + NAME_TIMES * durable + (64 << 10);
}

struct fxt_provider_statistics fxt_provider_statistics(const struct fxt_provider *p)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)p->memory.buffer;
	uint32_t wrapped;

	if (p->end == FXT_END_JOINED)
		return p->statistics;
	wrapped = load_relaxed(&header->wrapped_count);
	return (struct fxt_provider_statistics){
	        .wrapped = wrapped,
	        .durable_bytes = load_relaxed(&header->durable_buffer_size),
	        .durable_used = load_relaxed(&header->durable_data_end),
	        .rolling_bytes = wrapped * load_relaxed(&header->rolling_buffer_size) +
	                         load_relaxed(&header->rolling_data_end[wrapped & 1]),
	        .losses = fxt_losses_of(p->memory.control),
	};
}

void fxt_provider_join(struct fxt_provider *p, struct fxt_memory *kept)
{
	pthread_join(p->thread, NULL);
	p->statistics = fxt_provider_statistics(p);
	fxt_collector_free(&p->collector);
	free(p->description.data);
	p->description = (struct fxt_message){0};
	if (p->program_categories)
		fxt_program_categories_take(p->program_categories, p->memory.control);
	if (kept) {
		*kept = p->memory;
		p->memory = (struct fxt_memory){0};
	}
	fxt_memory_free(&p->memory);
	provider_enter_end(p, FXT_END_JOINED);
}

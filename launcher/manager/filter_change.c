/*
 * Changes the filter, limits, triggers and categories of a running session, and mutes
 * functions. Runs on the main thread and must not wait for a provider: fxt_filter_look()
 * completes a change later.
 */
#include "filter_change.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "description.h"
#include "launcher/categories.h"
#include "reader/trace/utf8.h"
#include "session.h"
#include "writer/shared/atomics.h"

bool fxt_filter_may_limit(const struct fxt_session *s)
{
	return fxt_options_elide_calls(s->config.options);
}

bool fxt_filter_is_changing(const struct fxt_session *s)
{
	return s->coming_change != NULL;
}

/* A text that is cut where its room ends. */
struct filter_text {
	char text[FXT_FILTER_TEXT_BYTES + 1];
	size_t bytes;
};

static void filter_add(struct filter_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void filter_add(struct filter_text *to, const char *format, ...)
{
	size_t room = sizeof(to->text) - to->bytes;
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vsnprintf(to->text + to->bytes, room, format, arguments);
	va_end(arguments);
	to->bytes += bytes < (int)room ? (size_t)bytes : room - 1;
}

static void filter_add_categories(struct filter_text *to, const struct fxt_categories *categories)
{
	const char *name = NULL, *before = " --categories=";

	while ((name = fxt_categories_next(categories, name)) != NULL) {
		filter_add(to, "%s%s", before, name);
		before = ",";
	}
}

static void filter_add_limits(struct filter_text *to, const struct fxt_session *s)
{
	const struct fxt_call_limits *limits = &s->config.limits;

	if (fxt_filter_may_limit(s))
		filter_add(to, " --min-duration=%" PRIu64 "ns", limits->min_duration_ns);
	if (limits->first_counted)
		filter_add(to, " --max-calls=%" PRIu64, limits->first_counted - 1);
	if (s->config.depth_limit)
		filter_add(to, " --depth=%" PRIu32, s->config.depth_limit);
}

/* Writes the present settings to text[FXT_FILTER_TEXT_BYTES]. */
static void filter_describe(const struct fxt_session *s, char *text)
{
	static const char cut[] = " ...";
	const struct fxt_record_filter *filter = fxt_provider_filter(&s->config);
	struct filter_text whole = {.bytes = 0};
	size_t room = sizeof(whole.text) - sizeof(cut);

	filter_add_categories(&whole, &s->config.categories);
	filter_add_limits(&whole, s);
	if (filter)
		whole.bytes += fxt_record_filter_describe(
		        filter, whole.text + whole.bytes, sizeof(whole.text) - whole.bytes);
	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		if (*s->config.triggers[i].text)
			filter_add(&whole, " --trigger=%s", s->config.triggers[i].text);
	if (whole.bytes > room)
		strcpy(whole.text + fxt_utf8_cut(whole.text, whole.bytes, room), cut);
	strcpy(text, whole.bytes ? whole.text + 1 : "all calls");
}

static void filter_free(struct fxt_filter_change *change)
{
	if (!change)
		return;
	fxt_record_filter_free(&change->filter);
	free(change->text);
	free(change->muted);
	free(change);
}

/* NULL: there is no memory. */
static struct fxt_filter_change *filter_new(void)
{
	struct fxt_filter_change *change = calloc(1, sizeof(*change));

	if (change && !(change->text = malloc(FXT_FILTER_TEXT_BYTES))) {
		free(change);
		change = NULL;
	}
	return change;
}

/* Sets the change's text to the present settings, in memory of the exact size: there may be
 * many changes, and most texts are short. */
static void filter_take_text(const struct fxt_session *s, struct fxt_filter_change *change)
{
	char *text;

	filter_describe(s, change->text);
	text = realloc(change->text, strlen(change->text) + 1);
	if (text)
		change->text = text;
}

/* Makes the change's settings the session's config: all providers record by them. */
static void filter_finish(struct fxt_session *s, struct fxt_filter_change *change)
{
	s->config.limits = change->limits;
	for (uint32_t i = 0; i < s->count; i++)
		if (s->providers[i]->end != FXT_END_JOINED)
			fxt_provider_finish_filter(s->providers[i], &s->config);
	s->config.begins_to_wait = false;
	filter_take_text(s, change);
	change->ticks = fxt_clock_ticks(s->config.clock);
	for (size_t i = 0; i < change->muted_count; i++)
		change->muted[i]->muted_ticks = change->began_ticks;
	/* Release: a thread that finds the change finds its contents. Pairs with the
	 * acquire of the providers' threads. */
	store_release(&s->last_change->later, change);
	s->last_change = change;
}

static void filter_begin(struct fxt_session *s, struct fxt_filter_change *change)
{
	struct fxt_provider_config *config = &s->config;

	change->began_ticks = fxt_clock_ticks(config->clock);
	config->filter = &change->filter;
	config->depth_limit = change->depth_limit;
	config->filter_changes++;
	/* Calls of muted functions may be recorded until the decision is known: they are
	 * counted all the same. */
	config->awaits_decisions |=
	        !change->muted_count || fxt_record_filter_chooses(config->filter) || fxt_filter_may_limit(s);
	if (!config->filter_changed_ticks)
		config->filter_changed_ticks = change->began_ticks;
	for (uint32_t i = 0; i < s->count; i++)
		if (fxt_provider_is_live(s->providers[i]))
			fxt_provider_expect_filter(s->providers[i], config);
	s->coming_change = change;
	s->change_began_ns = fxt_monotonic_ns();
	fxt_resolver_change_filter(&s->resolver, config->filter, config->filter_changes);
}

int fxt_filter_change(struct fxt_session *s, const struct fxt_call_limits *limits,
        struct fxt_record_filter *filter, uint32_t depth_limit)
{
	struct fxt_filter_change *change = filter_new();

	if (!change)
		return ENOMEM;
	change->limits = *limits;
	if (!filter) {
		filter_finish(s, change);
		return 0;
	}
	change->depth_limit = depth_limit;
	change->filter = *filter;
	*filter = (struct fxt_record_filter){0};
	filter_begin(s, change);
	fxt_filter_look(s);
	return 0;
}

int fxt_filter_mute(struct fxt_session *s, struct fxt_counted_function **functions, size_t count)
{
	const struct fxt_record_filter *filter = fxt_provider_filter(&s->config);
	struct fxt_filter_change *change = filter_new();
	const char *wrong = change && filter ? fxt_record_filter_add_all(&change->filter, filter, 0) : NULL;

	for (size_t i = 0; change && !wrong && i < count; i++)
		wrong = fxt_record_filter_add_muted(&change->filter, functions[i]->name);
	if (!change || wrong) {
		filter_free(change);
		return ENOMEM;
	}
	change->limits = s->config.limits;
	change->depth_limit = s->config.depth_limit;
	change->muted = functions;
	change->muted_count = count;
	filter_begin(s, change);
	fxt_filter_look(s);
	return 0;
}

int fxt_filter_change_categories(struct fxt_session *s, const struct fxt_categories *categories)
{
	const struct fxt_record_filter *filter = fxt_provider_filter(&s->config);
	struct fxt_categories before = s->config.categories;
	struct fxt_record_filter same = {0};
	int error = filter && fxt_record_filter_add_all(&same, filter, 0) ? ENOMEM : 0;

	/* Before the change begins, since the change passes them to the providers. */
	s->config.categories = *categories;
	if (!error)
		error = fxt_filter_change(s, &s->config.limits, &same, s->config.depth_limit);
	if (error)
		s->config.categories = before;
	else
		s->config.session_categories = *categories;
	fxt_record_filter_free(&same);
	return error;
}

static bool filter_is_start(const struct fxt_trigger *trigger)
{
	return fxt_trigger_is_of_process(trigger) && trigger->action == FXT_TRIGGER_START;
}

/* Copies the present filter, with the present triggers. */
static bool filter_with_triggers(const struct fxt_session *s, struct fxt_record_filter *with)
{
	const struct fxt_record_filter *filter = fxt_provider_filter(&s->config);
	const char *wrong = filter ? fxt_record_filter_add_all(with, filter, FXT_TRIGGER_KINDS) : NULL;

	for (uint32_t i = 0; i < FXT_TRIGGERS && !wrong; i++)
		wrong = fxt_trigger_select(&s->config.triggers[i], i, with);
	return !wrong;
}

int fxt_filter_change_trigger(struct fxt_session *s, uint32_t index, const struct fxt_trigger *trigger)
{
	struct fxt_provider_config *config = &s->config;
	struct fxt_trigger before = config->triggers[index];
	bool is_of_calls = fxt_trigger_is_of_calls(&before) || fxt_trigger_is_of_calls(trigger),
	     waits = false;
	struct fxt_record_filter filter = {0};
	int error = 0;

	for (uint32_t i = 0; i < FXT_TRIGGERS; i++)
		waits |= filter_is_start(&config->triggers[i]);
	config->triggers[index] = *trigger;
	config->begins_to_wait = !waits && filter_is_start(trigger);
	if (is_of_calls && !filter_with_triggers(s, &filter))
		error = ENOMEM;
	if (!error)
		error = fxt_filter_change(
		        s, &config->limits, is_of_calls ? &filter : NULL, config->depth_limit);
	if (error)
		config->triggers[index] = before;
	else
		config->had_calls |= (uint32_t)fxt_trigger_is_of_calls(trigger) << index;
	fxt_record_filter_free(&filter);
	return error;
}

/* True if a provider that has not carried out a change will do so by itself. */
static bool filter_is_coming(const struct fxt_provider *p)
{
	return !load_relaxed(&p->memory.control->commands_ignored) && !fxt_description_is_stopped(p->pid);
}

/* Counts the providers that have not carried it out; *is_any_coming: some of them will. */
static uint32_t filter_count_late(const struct fxt_session *s, bool *is_any_coming)
{
	uint32_t late = 0;

	*is_any_coming = false;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct fxt_provider *p = s->providers[i];

		if (!fxt_provider_is_live(p) || fxt_provider_has_filter(p, &s->config))
			continue;
		late++;
		*is_any_coming |= s->coming_change && filter_is_coming(p);
	}
	return late;
}

void fxt_filter_look(struct fxt_session *s)
{
	struct fxt_filter_change *change = s->coming_change;
	bool is_any_coming = false;
	/* Wakes them, even after the change. */
	uint32_t late = s->config.filter_changes ? filter_count_late(s, &is_any_coming) : 0;
	uint64_t patience = is_any_coming ? FXT_FILTER_RUNNING_PATIENCE_NS : FXT_FILTER_PATIENCE_NS;

	if (!change || (late && fxt_monotonic_ns() - s->change_began_ns < patience))
		return;
	s->coming_change = NULL;
	filter_finish(s, change);
	if (s->listener.filter_changed)
		s->listener.filter_changed(s->listener.context, late);
}

void fxt_filter_changes_free(struct fxt_session *s)
{
	struct fxt_filter_change *later;

	for (struct fxt_filter_change *change = s->no_change.later; change; change = later) {
		later = change->later;
		filter_free(change);
	}
	s->no_change.later = NULL;
	filter_free(s->coming_change);
	s->coming_change = NULL;
}

/*
 * Finds arguments of events by a walk that goes through all records but plain calls. Runs
 * on the main thread, between the scan and the walks that use what it found. Texts are
 * copied: an inline string is gone once its block is.
 */
#include "arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "events.h"
#include "nearest.h"
#include "writer/shared/search.h"

enum operation { EQUAL, UNEQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST, LIKE, THERE };

struct fxt_condition {
	char *name, *text;
	enum operation operation;
	bool is_number;
	long double number;
	struct fxt_patterns pattern;
	bool is_known; /* while records are looked for: some event has the argument */
};

/* ---- conditions ---- */

static const struct {
	const char *text;
	enum operation operation;
} operators[] = {{"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"==", EQUAL}, {"=", EQUAL},
        {"<", BELOW}, {">", ABOVE}, {"~", LIKE}};

/* Copies a part of a text, without the spaces around it. */
static char *conditions_copy(const char *from, const char *to)
{
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	char *copy = fxt_allocate((size_t)(to - from) + 1);

	memcpy(copy, from, (size_t)(to - from));
	return copy;
}

/* NaN is no number here: it has no order, so it is compared as a text. */
static bool conditions_number(const char *text, long double *number)
{
	static const char units[] = "KMG";
	char *end;

	*number = strtold(text, &end);
	if (end == text || *number != *number)
		return false;
	const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;

	for (long i = unit ? unit - units : -1; i >= 0; i--)
		*number *= 1024;
	return end[unit != NULL] == '\0';
}

static void conditions_free_one(struct fxt_condition *c)
{
	free(c->name);
	free(c->text);
	fxt_patterns_free(&c->pattern);
}

/* The end of an argument's name, which may have the "->" of a member in it. */
static const char *conditions_name_end(const char *from, const char *to)
{
	const char *at = from;

	while (at < to && (!strchr("=!<>~", *at) || (*at == '>' && at > from && at[-1] == '-')))
		at++;
	return at;
}

static const char *conditions_add_one(struct fxt_conditions *conditions, const char *from, const char *to)
{
	const char *at = conditions_name_end(from, to), *problem = NULL;
	struct fxt_condition c = {0};
	size_t i = 0;

	while (i < sizeof(operators) / sizeof(*operators) &&
	        strncmp(at, operators[i].text, strlen(operators[i].text)) != 0)
		i++;
	if (at == to || i == sizeof(operators) / sizeof(*operators))
		return "is not NAME=VALUE, or with !=, <, <=, >, >= or ~";
	c.name = conditions_copy(from, at);
	c.text = conditions_copy(at + strlen(operators[i].text), to);
	c.operation = operators[i].operation;
	c.is_number = conditions_number(c.text, &c.number);
	if (!*c.name)
		problem = "names no argument";
	else if (c.operation == LIKE)
		problem = fxt_patterns_add(&c.pattern, c.text);
	else if (c.operation >= BELOW && !c.is_number)
		problem = "compares with something that is no number";
	if (problem) {
		conditions_free_one(&c);
		return problem;
	}
	fxt_make_room(conditions->items, conditions->count, conditions->room);
	conditions->items[conditions->count++] = c;
	return NULL;
}

const char *fxt_conditions_add(struct fxt_conditions *conditions, const char *text)
{
	const char *problem = NULL;

	while (!problem) {
		const char *comma = strchr(text, ','), *both = strstr(text, "&&");
		const char *end = both && (!comma || both < comma) ? both : comma;

		problem = conditions_add_one(conditions, text, end ? end : text + strlen(text));
		if (!end)
			break;
		text = end + (*end == ',' ? 1 : 2);
	}
	return problem;
}

void fxt_conditions_add_name(struct fxt_conditions *conditions, const char *name)
{
	struct fxt_condition c = {.operation = THERE};

	c.name = conditions_copy(name, name + strlen(name));
	fxt_make_room(conditions->items, conditions->count, conditions->room);
	conditions->items[conditions->count++] = c;
}

void fxt_conditions_free(struct fxt_conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		conditions_free_one(&conditions->items[i]);
	free(conditions->items);
	*conditions = (struct fxt_conditions){0};
}

/* ---- values ---- */

struct fxt_span fxt_argument_text(struct fxt_tables *t, const struct fxt_view *view,
        const struct fxt_argument *argument, char buffer[FXT_ARGUMENT_BYTES])
{
	uint32_t thread = fxt_tables_thread(t, view->event.thread);
	struct fxt_span label = fxt_tables_label(t, t->threads[thread].process, argument);
	uint64_t word = argument->value.word;
	double number;

	if (label.bytes > 0)
		return label;
	switch (argument->type) {
	case FXT_ARGUMENT_STRING:
		return fxt_tables_text(t, argument->value.string);
	case FXT_ARGUMENT_INT32:
		snprintf(buffer, FXT_ARGUMENT_BYTES, "%" PRId32, (int32_t)word);
		break;
	case FXT_ARGUMENT_INT64:
		snprintf(buffer, FXT_ARGUMENT_BYTES, "%" PRId64, (int64_t)word);
		break;
	case FXT_ARGUMENT_DOUBLE:
		memcpy(&number, &word, sizeof(number));
		snprintf(buffer, FXT_ARGUMENT_BYTES, "%.15g", number);
		break;
	case FXT_ARGUMENT_POINTER:
		snprintf(buffer, FXT_ARGUMENT_BYTES, "0x%" PRIx64, word);
		break;
	case FXT_ARGUMENT_BOOL:
		return fxt_span(word ? "true" : "false");
	case FXT_ARGUMENT_NULL:
		return fxt_span("null");
	case FXT_ARGUMENT_BLOB:
		snprintf(buffer, FXT_ARGUMENT_BYTES, "blob of %zu bytes", argument->value.blob.bytes);
		break;
	default:
		snprintf(buffer, FXT_ARGUMENT_BYTES, "%" PRIu64, word);
		break;
	}
	return fxt_span(buffer);
}

bool fxt_argument_number(const struct fxt_argument *argument, long double *number)
{
	uint64_t word = argument->value.word;
	double value;

	switch (argument->type) {
	case FXT_ARGUMENT_INT32:
		*number = (int32_t)word;
		return true;
	case FXT_ARGUMENT_INT64:
		*number = (int64_t)word;
		return true;
	case FXT_ARGUMENT_UINT32:
	case FXT_ARGUMENT_UINT64:
	case FXT_ARGUMENT_POINTER:
	case FXT_ARGUMENT_KOID:
		*number = word;
		return true;
	case FXT_ARGUMENT_DOUBLE:
		memcpy(&value, &word, sizeof(value));
		*number = value;
		return true;
	default:
		return false;
	}
}

/* Whether numbers, or texts with an order, are as the operator says. */
static bool conditions_compare(enum operation operation, int order)
{
	switch (operation) {
	case EQUAL:
		return order == 0;
	case UNEQUAL:
		return order != 0;
	case BELOW:
		return order < 0;
	case AT_MOST:
		return order <= 0;
	case ABOVE:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool conditions_hold_for(const struct fxt_condition *c, struct fxt_tables *t,
        const struct fxt_view *view, const struct fxt_argument *argument)
{
	char buffer[FXT_ARGUMENT_BYTES];
	long double number;

	if (c->operation == THERE)
		return true;
	/* no order with a number that is none */
	if (c->operation != LIKE && c->is_number && fxt_argument_number(argument, &number))
		return number == number
		               ? conditions_compare(c->operation, (number > c->number) - (number < c->number))
		               : c->operation == UNEQUAL;
	struct fxt_span text = fxt_argument_text(t, view, argument, buffer);

	if (c->operation == LIKE)
		return fxt_patterns_match(&c->pattern, text);
	return c->operation <= UNEQUAL && conditions_compare(c->operation, !fxt_span_is(text, c->text));
}

/* ---- the walk ---- */

struct search {
	const struct fxt_conditions *conditions;
	uint64_t *records;
	size_t count, room;
	struct fxt_values *values;
	const char *name;
	struct fxt_nearest *nearest;
	bool *seen; /* by id of the string, the names that `nearest` got */
	bool has_arguments;
};

/* Whether a record is an event that is not the tracer's own, with arguments. */
static bool arguments_has(const struct fxt_scan *scan, struct fxt_tables *t, const struct fxt_view *view)
{
	return view->type == FXT_RECORD_EVENT && view->arguments.left > 0 &&
	       fxt_tables_string(t, view->event.category) != scan->tracer_category;
}

static void conditions_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct search *s = state;
	struct fxt_argument argument;
	bool holds = true;

	if (!arguments_has(walker->scan, &walker->tables, view))
		return;
	for (size_t i = 0; i < s->conditions->count; i++) {
		struct fxt_condition *c = &s->conditions->items[i];
		bool is_there = fxt_tables_argument(&walker->tables, view, c->name, &argument);

		c->is_known |= is_there;
		holds = holds && is_there && conditions_hold_for(c, &walker->tables, view, &argument);
	}
	if (!holds)
		return;
	fxt_make_room(s->records, s->count, s->room);
	s->records[s->count++] = offset;
}

static uint32_t values_id(struct fxt_values *values, struct fxt_span text)
{
	uint32_t hash = fxt_hash_bytes(text.data, text.bytes), id;
	char *copy;

	for (struct fxt_probe probe = fxt_probe(&values->index, hash);
	        fxt_probe_next(&values->index, &probe);)
		if (fxt_spans_equal(values->texts[probe.id], text))
			return probe.id;
	copy = fxt_allocate(text.bytes + 1);
	if (text.bytes > 0)
		memcpy(copy, text.data, text.bytes);
	id = (uint32_t)values->text_count++;
	fxt_make_room(values->texts, id, values->text_room);
	values->texts[id] = (struct fxt_span){copy, text.bytes};
	fxt_index_add(&values->index, hash, id);
	return id;
}

static void values_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct search *s = state;
	struct fxt_values *values = s->values;
	struct fxt_argument argument;
	char buffer[FXT_ARGUMENT_BYTES];

	if (!arguments_has(walker->scan, &walker->tables, view) ||
	        !fxt_tables_argument(&walker->tables, view, s->name, &argument))
		return;
	fxt_make_room(values->items, values->count, values->room);
	values->items[values->count++] = (struct fxt_value_of_record){
	        offset, values_id(values, fxt_argument_text(&walker->tables, view, &argument, buffer))};
}

/* Offers all names of arguments as what was meant. */
static void nearest_record(
        void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_arguments arguments = view->arguments;
	struct search *s = state;
	struct fxt_argument argument;

	(void)offset;
	if (!arguments_has(walker->scan, &walker->tables, view))
		return;
	while (fxt_next_argument(&arguments, &argument)) {
		uint32_t name = fxt_tables_string(&walker->tables, argument.name);

		if (!s->seen[name])
			fxt_nearest_consider(s->nearest, walker->scan->tables.strings[name]);
		s->seen[name] = s->has_arguments = true;
	}
}

static void conditions_explain(
        const struct fxt_condition *c, const struct fxt_scan *scan, char *error, size_t error_bytes)
{
	struct fxt_nearest nearest = fxt_nearest(fxt_span(c->name));
	struct search search = {.nearest = &nearest, .seen = fxt_allocate(scan->tables.string_count)};

	fxt_events_read(scan, nearest_record, &search);
	if (nearest.best.bytes > 0)
		snprintf(error, error_bytes, "no event has an argument '%s'; did you mean '%.*s'?", c->name,
		        (int)nearest.best.bytes, nearest.best.data);
	else
		snprintf(error, error_bytes, "no event has an argument '%s'%s", c->name,
		        search.has_arguments ? "" : "; none has any");
	free(search.seen);
}

bool fxt_conditions_find(const struct fxt_conditions *conditions, const struct fxt_scan *scan,
        uint64_t **records, size_t *count, char *error, size_t error_bytes)
{
	struct search search = {
	        .conditions = conditions, .records = fxt_allocate(sizeof(uint64_t)), .room = 1};

	for (size_t i = 0; i < conditions->count; i++)
		conditions->items[i].is_known = false;
	fxt_events_read(scan, conditions_record, &search);
	for (size_t i = 0; i < search.count / 2; i++) {
		uint64_t record = search.records[i];

		search.records[i] = search.records[search.count - 1 - i];
		search.records[search.count - 1 - i] = record;
	}
	*records = search.records;
	*count = search.count;
	for (size_t i = 0; i < conditions->count; i++) {
		if (conditions->items[i].is_known)
			continue;
		conditions_explain(&conditions->items[i], scan, error, error_bytes);
		return false;
	}
	return true;
}

bool fxt_values_read(struct fxt_values *values, const struct fxt_scan *scan, const char *name)
{
	struct search search = {.values = values, .name = name};

	*values = (struct fxt_values){.text_count = FXT_NOTHING + 1, .text_room = 4};
	values->texts = fxt_allocate(values->text_room * sizeof(*values->texts));
	bool is_whole = fxt_events_read(scan, values_record, &search);

	for (size_t i = 0; i < values->count / 2; i++) {
		struct fxt_value_of_record item = values->items[i];

		values->items[i] = values->items[values->count - 1 - i];
		values->items[values->count - 1 - i] = item;
	}
	return is_whole;
}

uint32_t fxt_values_of(const struct fxt_values *values, uint64_t offset)
{
	uint64_t at = partition_point(i, values->count, values->items[i].offset < offset);

	return at < values->count && values->items[at].offset == offset ? values->items[at].value
	                                                                : FXT_NOTHING;
}

void fxt_values_free(struct fxt_values *values)
{
	for (size_t i = FXT_NOTHING + 1; i < values->text_count; i++)
		free((char *)(uintptr_t)values->texts[i].data);
	free(values->texts);
	free(values->items);
	fxt_index_free(&values->index);
	*values = (struct fxt_values){0};
}

/*
 * Converts the constraints of a WHERE clause to constraints of rows: ranges of time, single
 * records, and sets of ids. Runs on the main thread when a query begins. A limit must never
 * exclude a row that satisfies the constraint.
 */
#include "constraints.h"

#include <math.h>
#include <stdlib.h>

/* ---- which ---- */

enum role { NONE, TIME, IDENTITY, LISTED_NUMBER, LISTED_TEXT };

static enum role limit_role(enum fxt_sql_field field)
{
	switch (field) {
	case FXT_SQL_START:
	case FXT_SQL_END:
	case FXT_SQL_DURATION:
		return TIME;
	case FXT_SQL_ID:
	case FXT_SQL_CALLER:
		return IDENTITY;
	case FXT_SQL_TID:
	case FXT_SQL_PID:
	case FXT_SQL_NAME_ID:
		return LISTED_NUMBER;
	case FXT_SQL_NAME:
	case FXT_SQL_CATEGORY:
	case FXT_SQL_THREAD:
	case FXT_SQL_PROCESS:
		return LISTED_TEXT;
	default:
		return NONE;
	}
}

bool fxt_sql_takes_list(enum fxt_sql_field field)
{
	return limit_role(field) >= LISTED_NUMBER;
}

bool fxt_sql_is_limit(enum fxt_sql_field field, int comparison)
{
	switch (comparison) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return limit_role(field) != NONE;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return limit_role(field) == TIME;
	case SQLITE_INDEX_CONSTRAINT_GLOB:
	case SQLITE_INDEX_CONSTRAINT_LIKE:
		return limit_role(field) == LISTED_TEXT;
	default:
		return false;
	}
}

/* ---- times ---- */

static int64_t limit_whole(double number)
{
	return number <= -0x1p62  ? -(INT64_C(1) << 62)
	       : number >= 0x1p62 ? INT64_C(1) << 62
	                          : (int64_t)number;
}

static void limit_raise(uint64_t *from, uint64_t to)
{
	if (to > *from)
		*from = to;
}

static void limit_lower(uint64_t *from, uint64_t to)
{
	if (to < *from)
		*from = to;
}

static void limit_time(struct fxt_sql_constraints *l, const struct fxt_sql_trace *trace,
        enum fxt_sql_field field, int comparison, sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);
	int64_t least = sqlite3_value_int64(value), most = least;
	bool is_least = comparison != SQLITE_INDEX_CONSTRAINT_LT && comparison != SQLITE_INDEX_CONSTRAINT_LE;
	bool is_most = comparison != SQLITE_INDEX_CONSTRAINT_GT && comparison != SQLITE_INDEX_CONSTRAINT_GE;

	if (type == SQLITE_FLOAT) {
		least = limit_whole(floor(sqlite3_value_double(value)));
		most = limit_whole(ceil(sqlite3_value_double(value)));
	} else if (type != SQLITE_INTEGER) {
		return;
	}
	if (field == FXT_SQL_DURATION) {
		if (is_least)
			limit_raise(&l->shortest, fxt_sql_length_below(trace, least));
		if (is_most)
			limit_lower(&l->longest, fxt_sql_length_above(trace, most));
		return;
	}
	if (is_least)
		limit_raise(field == FXT_SQL_START ? &l->start_from : &l->end_from,
		        fxt_sql_time_before(trace, least));
	if (is_most)
		limit_lower(
		        field == FXT_SQL_START ? &l->start_to : &l->end_to, fxt_sql_time_behind(trace, most));
}

/* ---- single records ---- */

static void limit_record(struct fxt_sql_constraints *l, const struct fxt_sql_trace *trace,
        enum fxt_sql_field field, sqlite3_value *value)
{
	uint64_t id = (uint64_t)sqlite3_value_int64(value), start, end;

	if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || id == 0)
		return;
	*(field == FXT_SQL_ID ? &l->id : &l->caller) = id;
	if (!fxt_sql_record_times(trace, id, &start, &end))
		return;
	limit_raise(&l->start_from, start);
	limit_lower(&l->end_to, end);
	if (field == FXT_SQL_ID) {
		limit_lower(&l->start_to, start);
		limit_raise(&l->end_from, end == UINT64_MAX ? start : end);
	}
}

/* ---- what is decided by id, once for all rows ---- */

/* A value to match: a single one, or one of a list. */
struct match {
	const struct fxt_sql_trace *trace;
	enum fxt_sql_field field;
	int comparison;
	int64_t number;
	const char *text; /* NULL: no row has the value */
	size_t bytes;
};

static bool limit_text_matches(const struct match *m, uint32_t name)
{
	struct fxt_span span = m->trace->scan.tables.strings[name];

	if (!m->text)
		return false;
	if (m->comparison == SQLITE_INDEX_CONSTRAINT_EQ)
		return fxt_spans_equal(span, (struct fxt_span){m->text, m->bytes});
	char *copy = fxt_resize(NULL, span.bytes + 1, 1);

	memcpy(copy, span.data, span.bytes);
	copy[span.bytes] = '\0';
	bool matches = m->comparison == SQLITE_INDEX_CONSTRAINT_GLOB ? sqlite3_strglob(m->text, copy) == 0
	                                                             : sqlite3_strlike(m->text, copy, 0) == 0;

	free(copy);
	return matches;
}

static bool limit_matches(const struct match *m, uint32_t id)
{
	const struct fxt_koids *threads = m->trace->scan.tables.threads;

	switch (m->field) {
	case FXT_SQL_TID:
		return (int64_t)threads[id].thread == m->number;
	case FXT_SQL_PID:
		return (int64_t)threads[id].process == m->number;
	case FXT_SQL_THREAD:
		id = m->trace->thread_names[id];
		return id != FXT_NOTHING && limit_text_matches(m, id);
	case FXT_SQL_PROCESS:
		id = m->trace->process_names[id];
		return id != FXT_NOTHING && limit_text_matches(m, id);
	case FXT_SQL_NAME_ID:
		return id == (uint64_t)m->number;
	default:
		return limit_text_matches(m, id);
	}
}

/* Adds the ids that match a value to the wanted ones. Returns false if ids cannot decide
 * it. */
static bool limit_add(struct match *m, unsigned char *wanted, size_t count, sqlite3_value *value)
{
	bool is_text = limit_role(m->field) == LISTED_TEXT;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return true;
	if (is_text ? sqlite3_value_type(value) != SQLITE_TEXT
	            : sqlite3_value_numeric_type(value) != SQLITE_INTEGER)
		return false;
	m->number = sqlite3_value_int64(value);
	m->text = is_text ? (const char *)sqlite3_value_text(value) : NULL;
	m->bytes = (size_t)sqlite3_value_bytes(value);
	for (uint32_t i = 0; i < count; i++)
		wanted[i] |= limit_matches(m, i);
	return true;
}

static void limit_by_id(struct fxt_sql_constraints *l, struct match *m, bool is_list, sqlite3_value *value)
{
	const struct fxt_tables *t = &m->trace->scan.tables;
	bool is_name =
	        m->field == FXT_SQL_NAME || m->field == FXT_SQL_NAME_ID || m->field == FXT_SQL_CATEGORY;
	unsigned char **limit = m->field == FXT_SQL_CATEGORY ? &l->categories
	                        : is_name                    ? &l->names
	                                                     : &l->threads;
	size_t count = is_name ? t->string_count : t->thread_count;
	unsigned char *wanted = fxt_allocate(count);
	bool is_decided = true;

	if (!is_list)
		is_decided = limit_add(m, wanted, count, value);
#if SQLITE_VERSION_NUMBER >= 3038000
	sqlite3_value *item;

	if (is_list)
		for (int status = sqlite3_vtab_in_first(value, &item); is_decided && status == SQLITE_OK;
		        status = sqlite3_vtab_in_next(value, &item))
			is_decided = limit_add(m, wanted, count, item);
#endif
	if (!is_decided) {
		free(wanted);
		return;
	}
	for (size_t i = 0; *limit && i < count; i++)
		wanted[i] &= (*limit)[i];
	free(*limit);
	*limit = wanted;
}

void fxt_sql_constrain(struct fxt_sql_constraints *constraints, const struct fxt_sql_trace *trace,
        enum fxt_sql_field field, int comparison, bool is_list, sqlite3_value *value)
{
	struct match match = {.trace = trace, .field = field, .comparison = comparison};

	switch (limit_role(field)) {
	case TIME:
		limit_time(constraints, trace, field, comparison, value);
		break;
	case IDENTITY:
		limit_record(constraints, trace, field, value);
		break;
	case LISTED_NUMBER:
	case LISTED_TEXT:
		limit_by_id(constraints, &match, is_list, value);
		break;
	case NONE:
		break;
	}
}

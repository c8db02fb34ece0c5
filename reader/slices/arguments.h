/*
 * Arguments of events: what a program says beside a name, and what a call was given. The
 * records that satisfy conditions on arguments, and the values of one argument, each by the
 * offset of its record, as slices have it. A slice of two records has the arguments of its
 * begin.
 *
 * A value is compared as a number if the condition gives one and the argument is a number,
 * a pointer or a koid; else as text. The text of a pointer or koid with a name is its name.
 */
#ifndef FXT_READER_ARGUMENTS_H
#define FXT_READER_ARGUMENTS_H

#include "pattern.h"
#include "scan.h"

/* The number that an argument is, of a pointer or koid too. Returns false if it is none. */
bool fxt_argument_number(const struct fxt_argument *argument, long double *number);

/* The text of an event's argument: in `buffer`, or where it stands. */
enum { FXT_ARGUMENT_BYTES = 48 }; /* of any value but a string or a name */
struct fxt_span fxt_argument_text(struct fxt_tables *t, const struct fxt_view *view,
        const struct fxt_argument *argument, char buffer[FXT_ARGUMENT_BYTES]);

/* All of them must hold. All zeros: none, and every event satisfies them. */
struct fxt_conditions {
	struct fxt_condition *items;
	size_t count, room;
};

/* Adds "NAME OP VALUE" conditions, joined by commas or &&: "status>=500, path~*.c". OP is
 * =, !=, <, <=, >, >= or ~, which is followed by a pattern (pattern.h). A number may end in
 * K, M or G (1024). Returns NULL, or the reason for a refusal as half a sentence. */
const char *fxt_conditions_add(struct fxt_conditions *conditions, const char *text);

/* Adds the condition that an event has this argument. */
void fxt_conditions_add_name(struct fxt_conditions *conditions, const char *name);

/* Finds the records that satisfy the conditions, in ascending order; an event without an
 * argument does not satisfy a condition about it. The caller frees *records, which is never
 * NULL. Returns false with one line in error[error_bytes] if no event has such an
 * argument. */
bool fxt_conditions_find(const struct fxt_conditions *conditions, const struct fxt_scan *scan,
        uint64_t **records, size_t *count, char *error, size_t error_bytes);

void fxt_conditions_free(struct fxt_conditions *conditions);

/* The values that an argument has in all events. Equal texts are one value. */
struct fxt_values {
	struct fxt_value_of_record {
		uint64_t offset;
		uint32_t value;
	} * items; /* by offset, ascending */
	size_t count, room;
	struct fxt_span *texts; /* by value, from 1 */
	size_t text_count, text_room;
	struct fxt_index index; /* of the texts */
};

/* Reads the values of an argument. Returns false if not all of the file could be read
 * again. */
bool fxt_values_read(struct fxt_values *values, const struct fxt_scan *scan, const char *name);

/* The value of a record; FXT_NOTHING: it has no such argument. */
uint32_t fxt_values_of(const struct fxt_values *values, uint64_t offset);

void fxt_values_free(struct fxt_values *values);

#endif

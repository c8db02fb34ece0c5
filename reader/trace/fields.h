/*
 * The fields of the records of the format. One table, in fields.c, has the fields of each
 * kind of record in their order. Decoding follows it, and so does everything that treats
 * all kinds alike: fxt dump, the rules of fxt check, what fxt cut keeps, what fxt merge
 * changes. A new kind of record is a row of that table.
 *
 * A kind is a record type, or a subtype of a type that has several. A record of an unknown
 * kind is skipped by its size. Programs that copy a trace keep it as it stands.
 */
#ifndef FXT_READER_FIELDS_H
#define FXT_READER_FIELDS_H

#include <limits.h>
#include "cursor.h"

enum fxt_field_type {
	FXT_FIELD_NUMBER,
	FXT_FIELD_ID,   /* a number that is written in hexadecimal */
	FXT_FIELD_FLOW, /* the same, given out by the session */
	FXT_FIELD_CPU,
	FXT_FIELD_TICKS,
	FXT_FIELD_PROCESS_KOID,
	FXT_FIELD_THREAD_KOID,
	FXT_FIELD_HEADER,    /* a second header word */
	FXT_FIELD_MAGIC,     /* the record is the magic number as a whole */
	FXT_FIELD_STRING,    /* a reference, and its inline text */
	FXT_FIELD_THREAD,    /* a reference, and its inline koids */
	FXT_FIELD_PROCESS,   /* a reference to a thread, and the inline koid of its process */
	FXT_FIELD_ARGUMENTS, /* their number, and a list */
	FXT_FIELD_TEXT,      /* a length, and UTF-8 */
	FXT_FIELD_DATA,      /* a length, and bytes */
};

enum { FXT_FIELD_ORDERS = 4 };

/* A number, reference or length is in the bits of a header word. With 0 bits it is a word
 * of its own, or a thread that is always inline. */
struct fxt_field_rule {
	enum fxt_field_type type;
	uint8_t word, first_bit, bits;
	const char *name;    /* in a line of fxt dump; NULL: it is not shown */
	uint8_t order;       /* in that line, below FXT_FIELD_ORDERS: lower ones are first */
	uint8_t view_offset; /* its member of struct fxt_view */
	uint8_t view_bytes;  /* 0: it has none */
};

struct fxt_field_value {
	const struct fxt_field_rule *rule;
	const uint64_t *at, *end; /* its own words; none if it stands in a header word */
	union {
		uint64_t number;
		struct fxt_string string;
		struct fxt_thread thread; /* of a process: without a thread */
		struct fxt_span span;     /* text or data */
		struct fxt_arguments arguments;
	};
};

/* One bit for a type of field. */
#define FXT_FIELDS_OF(type) (1u << FXT_FIELD_##type)
#define FXT_FIELDS_ALL      UINT_MAX

typedef void fxt_field_visit(void *context, const struct fxt_field_value *field);

/* Visits the fields of the wanted types of a decoded record, in the order of the table. */
void fxt_visit_fields(const struct fxt_record *r, unsigned wanted, fxt_field_visit *visit, void *context);

/* The kind of a record, below FXT_KINDS_MAX; kinds of one name are one kind here. */
enum { FXT_KINDS_MAX = 64 };
unsigned fxt_kind(uint64_t header);

/* The name of a kind, NULL if there is none of that number. Kinds are listed in their
 * order. */
const char *fxt_kind_name(unsigned kind);

/* The subtype that a header names; 0 if its type has none. */
unsigned fxt_record_subtype(uint64_t header);

/* The bits of a header that hold the record's type, size and subtype. */
uint64_t fxt_header_bits(uint64_t header);

/* True for a kind that the table does not have; the beginning of an event is known even
 * so. */
bool fxt_is_unknown(uint64_t header);

/* True for records that stay in a recovered archive if their provider's records are
 * collected again: no agent writes records of their type again. */
bool fxt_is_kept_in_recovery(uint64_t header);

#endif

/*
 * Builds messages in the protocol-buffers encoding, in memory. Fields appear as they are
 * added. Also reads the fields of such messages.
 */
#ifndef FXT_PERFETTO_PROTOBUF_H
#define FXT_PERFETTO_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "reader/slices/span.h"

/* All zeros is an empty message; the owner frees `data`. */
struct fxt_message {
	char *data;
	size_t bytes, room;
};

/* Adds a bare number, as in packed fields; a negative number is its two's complement. */
void fxt_message_varint(struct fxt_message *m, uint64_t value);

/* Adds bytes unchanged. */
void fxt_message_append(struct fxt_message *m, const void *data, size_t bytes);

/* Adds a number field. */
void fxt_message_number(struct fxt_message *m, unsigned field, uint64_t value);

/* Adds a field of eight bytes: the bits of a double. */
void fxt_message_fixed64(struct fxt_message *m, unsigned field, uint64_t bits);

/* Adds a field of text or bytes. */
void fxt_message_bytes(struct fxt_message *m, unsigned field, const void *data, size_t bytes);

/* Adds a field that is a message or packed numbers; `inner` is then empty again. */
void fxt_message_message(struct fxt_message *m, unsigned field, struct fxt_message *inner);

struct fxt_message_field {
	uint64_t number, value; /* the value of a number */
	bool is_bytes;
	struct fxt_span bytes; /* the value of a text, bytes or a message */
};

/* Reads the next field from the rest of a message. Returns false at the end, and at wire
 * types that our messages do not use. */
bool fxt_message_next(struct fxt_span *rest, struct fxt_message_field *field);

#endif

/*
 * Messages in the encoding of protocol buffers, put together in memory. Fields come in the order in which
 * they are put.
 */
#ifndef FXT_SYMBOLIZER_PROTOBUF_H
#define FXT_SYMBOLIZER_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* All zeros is an empty one; whoever has it frees `data`. */
struct fxt_message {
	char *data;
	size_t bytes, room;
};

/* A number by itself, as in packed fields; a negative one is its two's complement. */
void fxt_message_varint(struct fxt_message *m, uint64_t value);

/* Bytes as they are. */
void fxt_message_append(struct fxt_message *m, const void *data, size_t bytes);

/* A field that is a number. */
void fxt_message_number(struct fxt_message *m, unsigned field, uint64_t value);

/* A field that is a number of eight bytes: the bits of a double. */
void fxt_message_fixed64(struct fxt_message *m, unsigned field, uint64_t bits);

/* A field that is a text, or bytes. */
void fxt_message_bytes(struct fxt_message *m, unsigned field, const void *data, size_t bytes);

/* A field that is a message, or packed numbers; the inner one is empty again. */
void fxt_message_message(struct fxt_message *m, unsigned field, struct fxt_message *inner);

#endif

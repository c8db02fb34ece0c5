/*
 * Names for the pointers and koids among the arguments of events. A userspace object record
 * names a pointer of a process, and a kernel object record names a koid (the format's
 * sections on object records). A later record about the same object replaces the name for
 * the arguments behind it, and is_changed notes that.
 *
 * Two kinds of userspace objects are left out: nodes of call paths, whose pointers have the
 * highest bit set (heap.h), and objects without a name. Blocks of the heap are kept apart
 * from other objects, because a lock may be at the address of the block that it is in.
 */
#ifndef FXT_READER_LABELS_H
#define FXT_READER_LABELS_H

#include <stdbool.h>
#include "index.h"
#include "reader/slices/span.h"

struct fxt_label {
	uint64_t process; /* koid; of a kernel object, FXT_LABEL_KERNEL */
	uint64_t value;   /* the pointer or koid */
	uint64_t offset;  /* of the record */
	uint32_t name;    /* id of a string */
	uint8_t type;     /* of a kernel object: enum fxt_object_type, or another */
	bool is_changed;  /* the object had another name before */
};

#define FXT_LABEL_KERNEL UINT64_MAX

/* Set in `value` for a block of the heap. */
#define FXT_LABEL_BLOCK (UINT64_C(1) << 63)

/* The name of the argument that holds another one's label, such as "self_label". */
struct fxt_label_key {
	char text[128]; /* a longer name is cut */
};

struct fxt_label_key fxt_label_key(struct fxt_span argument);

/* All zeros: no object is known. */
struct fxt_labels {
	struct fxt_label *items;
	size_t count, room;
	struct fxt_index index;
};

void fxt_labels_put(struct fxt_labels *labels, const struct fxt_label *label);

/* NULL if no record described the object. */
const struct fxt_label *fxt_labels_find(const struct fxt_labels *labels, uint64_t process, uint64_t value);

/* The same for a pointer. If it means a block and another object, returns the one that was
 * described later. */
const struct fxt_label *fxt_labels_find_pointer(
        const struct fxt_labels *labels, uint64_t process, uint64_t pointer);

void fxt_labels_free(struct fxt_labels *labels);

#endif

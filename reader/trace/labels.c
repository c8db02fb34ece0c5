#include "labels.h"

#include <stdio.h>
#include <stdlib.h>
#include "utf8.h"
#include "writer/format/format.h"

static uint32_t labels_hash(uint64_t process, uint64_t value)
{
	return fxt_hash_word(value ^ fxt_hash_mix(process));
}

static struct fxt_label *labels_find(const struct fxt_labels *labels, uint64_t process, uint64_t value)
{
	for (struct fxt_probe probe = fxt_probe(&labels->index, labels_hash(process, value));
	        fxt_probe_next(&labels->index, &probe);) {
		struct fxt_label *label = &labels->items[probe.id];

		if (label->process == process && label->value == value)
			return label;
	}
	return NULL;
}

void fxt_labels_put(struct fxt_labels *labels, const struct fxt_label *label)
{
	struct fxt_label *known = labels_find(labels, label->process, label->value);
	bool is_changed = known && (known->is_changed || known->name != label->name);

	/* A process and its first thread may have one koid: the process names it. */
	if (known && known->type == FXT_OBJECT_PROCESS && label->type == FXT_OBJECT_THREAD)
		return;
	if (known && known->type == FXT_OBJECT_THREAD && label->type == FXT_OBJECT_PROCESS)
		is_changed = false;
	if (!known) {
		fxt_index_add(
		        &labels->index, labels_hash(label->process, label->value), (uint32_t)labels->count);
		fxt_make_room(labels->items, labels->count, labels->room);
		known = &labels->items[labels->count++];
	}
	*known = *label;
	known->is_changed = is_changed;
}

const struct fxt_label *fxt_labels_find(const struct fxt_labels *labels, uint64_t process, uint64_t value)
{
	return labels_find(labels, process, value);
}

const struct fxt_label *fxt_labels_find_pointer(
        const struct fxt_labels *labels, uint64_t process, uint64_t pointer)
{
	const struct fxt_label *other = labels_find(labels, process, pointer),
	                       *block = labels_find(labels, process, pointer | FXT_LABEL_BLOCK);

	return block && (!other || block->offset > other->offset) ? block : other;
}

void fxt_labels_free(struct fxt_labels *labels)
{
	free(labels->items);
	fxt_index_free(&labels->index);
	*labels = (struct fxt_labels){0};
}

struct fxt_label_key fxt_label_key(struct fxt_span argument)
{
	static const char suffix[] = "_label";
	struct fxt_label_key key;
	size_t bytes = fxt_utf8_cut(argument.data, argument.bytes, sizeof(key.text) - sizeof(suffix));

	snprintf(key.text, sizeof(key.text), "%.*s%s", (int)bytes, argument.data, suffix);
	return key;
}

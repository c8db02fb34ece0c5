/*
 * The values of an argument plan (writer/shared/argument_plan.h) while it is made. An item
 * is a value and the address of its function. The sorted list of items becomes the plan.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARGUMENT_LIST_H
#define FXT_LAUNCHER_PLANNING_ARGUMENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "writer/shared/argument_plan.h"

/* The source of an item, best first. */
enum fxt_argument_source {
	FXT_ARGUMENT_BY_HAND,
	FXT_ARGUMENT_BY_PROTOTYPE,
	FXT_ARGUMENT_BY_DEBUG_INFORMATION,
};

/* All zeros at first. */
struct fxt_argument_list {
	struct fxt_argument_item *items;
	size_t count, room;
	struct fxt_planned_enumerator *enumerators;
	size_t enumerator_count, enumerator_room;
	char *texts;
	size_t text_bytes, text_room;
	bool is_short; /* of memory */
};

/* Adds a value of the function at that address. */
void fxt_argument_list_add(struct fxt_argument_list *list, uint64_t address, enum fxt_argument_source by,
        struct fxt_planned_value value, const char *name);

/* Adds an enumerator to a value, which is then added to the list before another one gets
 * enumerators. */
void fxt_argument_list_enumerate(
        struct fxt_argument_list *list, struct fxt_planned_value *value, const char *name, int64_t is);

/* Makes the plan of the list's values. Returns NULL, or the reason for no plan as half a
 * sentence. */
const char *fxt_argument_list_store(
        struct fxt_argument_list *list, struct fxt_argument_plan **plan, size_t *bytes);

void fxt_argument_list_free(struct fxt_argument_list *list);

#endif

/* Collects the values of argument plans (argument_list.h), on the manager's thread. */
#include "argument_list.h"
#include <stdlib.h>
#include <string.h>

#define ENUMERATORS 512 /* of a type */

struct fxt_argument_item {
	uint64_t address; /* of the function */
	enum fxt_argument_source by;
	uint32_t number; /* in the order of discovery */
	struct fxt_planned_value value;
};

/* ---- adding ---- */

/* Room for `more` elements behind `count`. */
static bool list_grow(
        struct fxt_argument_list *l, void **list, size_t count, size_t *room, size_t more, size_t bytes)
{
	size_t wanted = *room;
	void *larger;

	while (wanted < count + more)
		wanted = wanted ? 2 * wanted : 256;
	if (wanted == *room)
		return true;
	larger = reallocarray(*list, wanted, bytes);
	if (!larger) {
		l->is_short = true;
		return false;
	}
	*list = larger;
	*room = wanted;
	return true;
}

static uint32_t list_text(struct fxt_argument_list *l, const char *text)
{
	size_t bytes = strnlen(text, 127), at = l->text_bytes;

	if (!list_grow(l, (void **)&l->texts, at, &l->text_room, bytes + 1, 1))
		return 0;
	memcpy(l->texts + at, text, bytes);
	l->texts[at + bytes] = 0;
	l->text_bytes += bytes + 1;
	return (uint32_t)at;
}

void fxt_argument_list_add(struct fxt_argument_list *l, uint64_t address, enum fxt_argument_source by,
        struct fxt_planned_value value, const char *name)
{
	if (!list_grow(l, (void **)&l->items, l->count, &l->room, 1, sizeof(*l->items)))
		return;
	if (value.source == FXT_VALUE_NOWHERE)
		value = (struct fxt_planned_value){.is_result = value.is_result};
	value.name = list_text(l, name);
	l->items[l->count] = (struct fxt_argument_item){address, by, (uint32_t)l->count, value};
	l->count++;
}

void fxt_argument_list_enumerate(
        struct fxt_argument_list *l, struct fxt_planned_value *value, const char *name, int64_t is)
{
	if (value->enumerators == ENUMERATORS || !list_grow(l, (void **)&l->enumerators, l->enumerator_count,
	                                                 &l->enumerator_room, 1, sizeof(*l->enumerators)))
		return;
	if (!value->enumerators)
		value->enumerator = (uint32_t)l->enumerator_count;
	l->enumerators[l->enumerator_count++] = (struct fxt_planned_enumerator){is, list_text(l, name)};
	value->enumerators++;
}

/* ---- the plan ---- */

static int item_compare(const void *a, const void *b)
{
	const struct fxt_argument_item *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->by != right->by)
		return left->by < right->by ? -1 : 1;
	/* Results come behind arguments. */
	if (left->value.is_result != right->value.is_result)
		return left->value.is_result ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* Whether two items of one kind are the same value: several patterns may ask for it. The
 * parameters of a pack in C++ have one name and different places. */
static bool item_is_same(const struct fxt_argument_list *l, const struct fxt_argument_item *a,
        const struct fxt_argument_item *b)
{
	const struct fxt_planned_value *x = &a->value, *y = &b->value;

	return x->is_result == y->is_result && strcmp(l->texts + x->name, l->texts + y->name) == 0 &&
	       x->source == y->source && x->number == y->number && x->offset == y->offset;
}

/* True if the function's earlier items make this one needless. A prototype replaces the C library's debug information: not all systems have
 * that, and so names are the same everywhere. */
static bool item_is_known(const struct fxt_argument_list *l, const struct fxt_argument_item *first,
        size_t count, const struct fxt_argument_item *item)
{
	if (count == FXT_PLANNED_VALUES)
		return true;
	for (size_t i = 0; i < count; i++)
		if ((item->by == FXT_ARGUMENT_BY_DEBUG_INFORMATION &&
		            first[i].by == FXT_ARGUMENT_BY_PROTOTYPE) ||
		        item_is_same(l, &first[i], item))
			return true;
	return false;
}

/* Sorts the items, and drops needless ones. Returns the number of functions with items. */
static uint32_t list_sort(struct fxt_argument_list *l)
{
	size_t kept = 0, first = 0;
	uint32_t calls = 0;

	if (l->count)
		qsort(l->items, l->count, sizeof(*l->items), item_compare);
	for (size_t i = 0; i < l->count; i++) {
		if (!kept || l->items[kept - 1].address != l->items[i].address) {
			first = kept;
			calls++;
		}
		if (!item_is_known(l, l->items + first, kept - first, &l->items[i]))
			l->items[kept++] = l->items[i];
	}
	l->count = kept;
	return calls;
}

static void *list_put(uint8_t **at, const void *data, size_t bytes)
{
	void *to = *at;

	if (bytes)
		memcpy(to, data, bytes);
	*at += bytes;
	return to;
}

const char *fxt_argument_list_store(
        struct fxt_argument_list *l, struct fxt_argument_plan **plan, size_t *bytes)
{
	struct fxt_argument_plan head = {.magic = FXT_ARGUMENT_PLAN_MAGIC};
	struct fxt_planned_call call = {0};
	uint8_t *at;

	list_text(l, "");
	head.calls = list_sort(l);
	head.values = (uint32_t)l->count;
	head.enumerators = (uint32_t)l->enumerator_count;
	head.text_bytes = (uint32_t)l->text_bytes;
	*bytes = sizeof(head) + head.calls * sizeof(call) + l->count * sizeof(l->items->value) +
	         l->enumerator_count * sizeof(*l->enumerators) + l->text_bytes;
	if (l->is_short || !(at = malloc(*bytes)))
		return "there is no memory for it";
	*plan = list_put(&at, &head, sizeof(head));
	for (size_t i = 0; i < l->count; i += call.values) {
		call = (struct fxt_planned_call){.address = l->items[i].address, .value = (uint32_t)i};
		while (i + call.values < l->count && l->items[i + call.values].address == call.address)
			call.values++;
		list_put(&at, &call, sizeof(call));
	}
	for (size_t i = 0; i < l->count; i++)
		list_put(&at, &l->items[i].value, sizeof(l->items[i].value));
	list_put(&at, l->enumerators, l->enumerator_count * sizeof(*l->enumerators));
	list_put(&at, l->texts, l->text_bytes);
	return NULL;
}

void fxt_argument_list_free(struct fxt_argument_list *l)
{
	free(l->items);
	free(l->enumerators);
	free(l->texts);
}

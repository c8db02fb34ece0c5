/*
 * Keeps the categories of the programs' own events (program_categories.h). Runs on the main
 * thread, on memory that programs may write to: each text is copied once, and then checked.
 */
#include "program_categories.h"
#include <stdlib.h>
#include <string.h>
#include "launcher/categories.h"
#include "writer/shared/atomics.h"

#define CATEGORIES_MAX 5000 /* of all programs of a session */

/* Whatever the program wrote there, the text is one line. */
static void category_clean(char text[FXT_CATEGORY_TEXT_BYTES])
{
	text[FXT_CATEGORY_TEXT_BYTES - 1] = 0;
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

static struct fxt_program_category *category_find(const struct fxt_program_categories *all, const char *name)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (strcmp(all->list[i].name, name) == 0)
			return &all->list[i];
	return NULL;
}

static void category_add(struct fxt_program_categories *all, const struct fxt_program_category *category)
{
	struct fxt_program_category *found = category_find(all, category->name), *list;

	if (found && !found->description[0])
		*found = *category;
	if (found || !category->name[0] || all->count == CATEGORIES_MAX)
		return;
	list = reallocarray(all->list, all->count + 1, sizeof(*list));
	if (!list)
		return;
	all->list = list;
	list[all->count++] = *category;
}

void fxt_program_categories_take(struct fxt_program_categories *all, const struct fxt_control *control)
{
	for (uint32_t i = 0; i < FXT_PROGRAM_CATEGORIES; i++) {
		const struct fxt_program_category *shared = fxt_program_category(control, i);
		struct fxt_program_category category;

		/* Acquire: pairs with the release of the agent, which adds one after the
		 * other. */
		if (!load_acquire(&shared->is_there))
			continue;
		memcpy(&category, shared, sizeof(category));
		category_clean(category.name);
		category_clean(category.description);
		category_add(all, &category);
	}
}

bool fxt_program_categories_have(const struct fxt_program_categories *all, const char *name)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (fxt_category_goes_by(name, all->list[i].name))
			return true;
	return false;
}

void fxt_program_categories_free(struct fxt_program_categories *all)
{
	free(all->list);
	*all = (struct fxt_program_categories){0};
}

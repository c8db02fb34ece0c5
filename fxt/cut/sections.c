#include "sections.h"

#include <stdlib.h>
#include "reader/trace/utf8.h"
#include "writer/format/encode.h"

/* The section that keeps what is known of a provider. */
static struct fxt_section *sections_of(struct fxt_sections *s, const struct fxt_provider_tables *p)
{
	fxt_make_zeroed(s->sections, s->count, p->number);
	struct fxt_section *section = &s->sections[p->number];

	if (section->era == 0)
		section->era = ++s->eras;
	return section;
}

struct fxt_section *fxt_sections_own(struct fxt_sections *s)
{
	return sections_of(s, s->tables.provider);
}

void fxt_sections_put_unowned(struct fxt_sections *s, const uint64_t *words, size_t count)
{
	fwrite_unlocked(words, sizeof(*words), count, s->out);
}

static void sections_enter(struct fxt_sections *s, const struct fxt_provider_tables *p)
{
	struct fxt_section *own = sections_of(s, p);
	struct fxt_span name = s->tables.strings[p->name];
	uint64_t record[1 + FXT_PROVIDER_NAME_MAX_BYTES / 8 + 1];
	size_t room = sizeof(record) / sizeof(*record);

	if (s->current == p && own->is_begun && own->rate == p->rate.ticks_per_second)
		return;
	if (!own->is_begun && p->announced)
		fxt_sections_put_unowned(s, record,
		        fxt_put_provider_info(record, room, p->id, name.data,
		                fxt_utf8_cut(name.data, name.bytes, FXT_PROVIDER_NAME_MAX_BYTES)));
	/* The first entry of the tables stands for records without a provider, which
	 * stand before all others. */
	else if (s->current != p && (p->number > 0 || s->current))
		fxt_sections_put_unowned(s, record, fxt_put_provider_section(record, room, p->id));
	s->current = p;
	own->is_begun = true;
	if (p->initialized && own->rate != p->rate.ticks_per_second) {
		own->rate = p->rate.ticks_per_second;
		fxt_sections_put_unowned(s, record, fxt_put_initialization(record, room, own->rate));
	}
}

void fxt_sections_put(
        struct fxt_sections *s, const struct fxt_provider_tables *p, const uint64_t *words, size_t count)
{
	sections_enter(s, p);
	fxt_sections_put_unowned(s, words, count);
}

static void sections_forget(struct fxt_section *section)
{
	fxt_index_table_free(&section->strings);
	fxt_index_table_free(&section->threads);
	fxt_index_table_free(&section->rows);
	*section = (struct fxt_section){0};
}

void fxt_sections_add(struct fxt_sections *s, const struct fxt_view *view)
{
	fxt_tables_apply(&s->tables, view);
	if (view->type != FXT_RECORD_METADATA || view->metadata.type != FXT_METADATA_PROVIDER_INFO)
		return;
	sections_forget(fxt_sections_own(s));
}

void fxt_sections_begin(struct fxt_sections *s, FILE *out)
{
	*s = (struct fxt_sections){.out = out};
	fxt_tables_init(&s->tables);
}

void fxt_sections_end(struct fxt_sections *s)
{
	for (size_t i = 0; i < s->count; i++)
		sections_forget(&s->sections[i]);
	free(s->sections);
	fxt_tables_free(&s->tables);
}

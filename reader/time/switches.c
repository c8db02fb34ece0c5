#include "switches.h"

#include <stdlib.h>
#include "writer/shared/search.h"

void fxt_switches_sum(struct fxt_switches *s, const struct fxt_timeline *timeline)
{
	struct fxt_spill_window window = {0};
	size_t room = 0;

	*s = (struct fxt_switches){0};
	for (uint64_t i = 0; i < timeline->by_thread.count; i++) {
		const struct fxt_stretch stretch =
		        *(const struct fxt_stretch *)fxt_spill_at(&timeline->by_thread, &window, i);

		if (s->count == 0 || s->threads[s->count - 1].koid != stretch.koid) {
			fxt_make_room(s->threads, s->count, room);
			s->threads[s->count++] = (struct fxt_switch_times){.koid = stretch.koid};
		}
		struct fxt_switch_times *times = &s->threads[s->count - 1];
		uint64_t ns = stretch.end - stretch.start;

		*(stretch.activity == FXT_RUNNING          ? &times->running
		        : stretch.activity == FXT_RUNNABLE ? &times->runnable
		                                           : &times->blocked) += ns;
		times->switches += stretch.left_cpu;
	}
}

void fxt_switches_read(
        struct fxt_switches *s, const struct fxt_archive *archive, uint64_t start, uint64_t end)
{
	struct fxt_cursor cursor = fxt_cursor(archive);
	struct fxt_timeline timeline;
	struct fxt_tables tables;
	struct fxt_record r;
	struct fxt_view view;

	fxt_timeline_init(&timeline);
	fxt_tables_init(&tables);
	while (fxt_next(&cursor, &r)) {
		if (fxt_is_plain_call(r.words[0]) || fxt_decode(&r, &view) != NULL)
			continue;
		fxt_tables_apply(&tables, &view);
		fxt_timeline_record(&timeline, &tables, &view);
	}
	fxt_tables_free(&tables);
	fxt_timeline_finish(&timeline, start, end);
	fxt_switches_sum(s, &timeline);
	fxt_timeline_free(&timeline);
}

const struct fxt_switch_times *fxt_switches_of(const struct fxt_switches *s, uint64_t koid)
{
	uint64_t at = partition_point(i, s->count, s->threads[i].koid < koid);

	return at < s->count && s->threads[at].koid == koid ? &s->threads[at] : NULL;
}

void fxt_switches_free(struct fxt_switches *s)
{
	free(s->threads);
	*s = (struct fxt_switches){0};
}

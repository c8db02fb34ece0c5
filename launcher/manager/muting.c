#include "muting.h"
#include <stdlib.h>
#include "filter_change.h"

/* A shorter window would not be representative: a program's first calls differ from its
 * later ones. */
#define WINDOW_NS UINT64_C(100000000)

/* Both are shares of the allowed recording time. AIM: when the allowed time is exceeded,
 * this share of it is the target. Otherwise the least change would mute the next function,
 * and a muted function is not free everywhere. WORTH: a function that takes less is not
 * worth muting, whatever its calls. */
#define AIM   0.5
#define WORTH 0.01

static bool muting_is_noise(const struct fxt_counted_function *f, uint64_t least)
{
	return !f->muted_ticks && f->calls > least && f->brief >= f->calls - f->calls / 10;
}

static int muting_compare(const void *a, const void *b)
{
	const struct fxt_counted_function *f = *(struct fxt_counted_function *const *)a,
	                                  *g = *(struct fxt_counted_function *const *)b;

	return f->calls != g->calls ? (f->calls < g->calls) - (f->calls > g->calls)
	                            : (f->id > g->id) - (f->id < g->id);
}

size_t fxt_muting_choose(const struct fxt_call_counts *counts, double share, double cost_ns,
        struct fxt_counted_function ***chosen)
{
	double time = (double)counts->cpu_ns, recording = 0;
	uint64_t least = (uint64_t)(share * WORTH * time / cost_ns);
	size_t candidates = 0, count = 0;

	for (size_t i = 0; i < counts->count; i++) {
		const struct fxt_counted_function *f = counts->functions[i];

		recording += f->muted_ticks ? 0 : (double)f->calls * cost_ns;
		candidates += muting_is_noise(f, least);
	}
	if (recording <= share * time || candidates == 0)
		return 0;
	*chosen = calloc(candidates, sizeof(**chosen));
	if (!*chosen)
		return 0;
	for (size_t i = 0, at = 0; i < counts->count; i++)
		if (muting_is_noise(counts->functions[i], least))
			(*chosen)[at++] = counts->functions[i];
	qsort(*chosen, candidates, sizeof(**chosen), muting_compare);
	/* A call that is no longer recorded takes no recording time. */
	for (; count < candidates && recording > AIM * share * time; count++) {
		recording -= (double)(*chosen)[count]->calls * cost_ns;
		time -= (double)(*chosen)[count]->calls * cost_ns;
	}
	return count;
}

void fxt_muting_look(struct fxt_session *s)
{
	unsigned percent = s->config.options->muting_percent;
	const struct fxt_call_cost *cost = &s->config.call_cost;
	struct fxt_counted_function **functions = NULL;
	size_t count = 0;

	if (!percent || s->recording.state != FXT_SESSION_STARTED || fxt_filter_is_changing(s))
		return;
	pthread_mutex_lock(&s->counts.lock);
	if (s->counts.cpu_ns >= WINDOW_NS) {
		count = fxt_muting_choose(&s->counts, percent / 100.0,
		        (double)(cost->within_ps + cost->around_ps) / 1000, &functions);
		fxt_call_counts_begin_window(&s->counts);
	}
	pthread_mutex_unlock(&s->counts.lock);
	if (count && fxt_filter_mute(s, functions, count) != 0)
		free(functions);
}

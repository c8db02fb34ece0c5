/*
 * Counts the calls of each function for --auto. A counter runs on its provider's thread;
 * the session's counts are shared, under their lock. Must not hold that lock while it waits
 * for a name.
 */
#include "call_counts.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "call_sample.h"
#include "writer/shared/buffer.h"
#include "writer/format/format.h"
#include "writer/engine/strings.h"

/* ---- of a session ---- */

void fxt_call_counts_open(struct fxt_call_counts *counts)
{
	*counts = (struct fxt_call_counts){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void fxt_call_counts_close(struct fxt_call_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		free(counts->functions[i]);
	free(counts->functions);
	fxt_index_free(&counts->by_name);
	fxt_call_counts_open(counts);
}

void fxt_call_counts_begin_window(struct fxt_call_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		counts->functions[i]->calls = counts->functions[i]->brief = 0;
	counts->cpu_ns = 0;
}

/* With the lock held. */
static struct fxt_counted_function *call_counts_find(
        struct fxt_call_counts *counts, const struct fxt_location *location)
{
	uint32_t hash = fxt_hash_bytes(location->name, location->name_bytes);
	struct fxt_counted_function *f;

	for (struct fxt_probe probe = fxt_probe(&counts->by_name, hash);
	        fxt_probe_next(&counts->by_name, &probe);) {
		f = counts->functions[probe.id];
		if (f->name_bytes == location->name_bytes && !memcmp(f->name, location->name, f->name_bytes))
			return f;
	}
	f = fxt_allocate(sizeof(*f) + location->name_bytes + 1);
	f->id = (uint32_t)counts->count;
	f->name_bytes = location->name_bytes;
	memcpy(f->name, location->name, f->name_bytes);
	fxt_make_room(counts->functions, counts->count, counts->room);
	counts->functions[counts->count++] = f;
	fxt_index_add(&counts->by_name, hash, f->id);
	return f;
}

/* ---- of a provider ---- */

/* CPU time of all threads of a process; for a process that is gone, the last known
 * value. */
static uint64_t call_counter_cpu_ns(const struct fxt_call_counter *c)
{
	struct timespec ran;
	clockid_t clock;

	if (clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &ran) != 0)
		return c->cpu_ns;
	return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

void fxt_call_counter_begin(
        struct fxt_call_counter *c, struct fxt_call_counts *counts, pid_t pid, uint64_t ticks_per_second)
{
	*c = (struct fxt_call_counter){.pid = pid, .brief_ticks = ticks_per_second / FXT_BRIEF_PER_SECOND};
	c->strings = calloc(FXT_STRING_LOCAL_FIRST, sizeof(*c->strings));
	c->counts = c->strings ? counts : NULL;
	c->cpu_ns = call_counter_cpu_ns(c);
}

void fxt_call_counter_name(struct fxt_call_counter *c, uint32_t index, const struct fxt_markup *pc)
{
	if (!c->counts || index >= FXT_STRING_LOCAL_FIRST)
		return;
	c->strings[index].is_function = pc != NULL;
	c->strings[index].function = NULL;
	c->strings[index].address = pc ? pc->address : 0;
	c->strings[index].module = pc ? pc->module : 0;
}

static bool call_counter_is_call(uint64_t header)
{
	uint64_t type = fxt_field(header, 16, 4);

	return fxt_record_type(header) == FXT_RECORD_EVENT &&
	       (type == FXT_EVENT_DURATION_COMPLETE || type == FXT_EVENT_DURATION_BEGIN) &&
	       fxt_field(header, 32, 16) == FXT_KNOWN_FUNCTION && header >> 48 < FXT_STRING_LOCAL_FIRST;
}

void fxt_call_counter_take(struct fxt_call_counter *c, const void *records, uint64_t bytes)
{
	const uint64_t *record = records, *end = record + bytes / 8;

	for (uint64_t words; c->counts && record < end; record += words) {
		uint64_t header = *record;

		words = fxt_record_words(header);
		if (call_counter_is_call(header)) {
			struct fxt_counted_string *s = &c->strings[header >> 48];

			s->calls++;
			/* The last word is the end time. A call without an end is not
			 * brief. */
			s->brief += fxt_field(header, 16, 4) == FXT_EVENT_DURATION_COMPLETE &&
			            record[words - 1] - record[1] < c->brief_ticks;
			if (c->string_count <= header >> 48)
				c->string_count = (uint32_t)(header >> 48) + 1;
		}
	}
}

/* With the lock of the session's counts held. */
static void call_counter_add(struct fxt_call_counter *c, struct fxt_counted_string *s)
{
	struct fxt_counted_function *f = s->function;

	f->calls += s->calls;
	f->brief += s->brief;
	f->recorded += s->calls;
	fxt_make_zeroed(c->recorded, c->recorded_count, f->id);
	c->recorded[f->id] += s->calls;
	s->calls = s->brief = 0;
}

/* Looks the function up, if its name is known. The name is requested without the lock,
 * since this may take a while. */
static void call_counter_find(struct fxt_call_counter *c, struct fxt_counted_string *s,
        struct fxt_resolver *resolver, struct fxt_names *names, uint64_t ns)
{
	const struct fxt_markup pc = {.kind = FXT_MARKUP_PC, .address = s->address, .module = s->module};
	struct fxt_location location;

	if (s->function || !s->is_function || !fxt_names_wait(resolver, names, &pc, ns, &location))
		return;
	pthread_mutex_lock(&c->counts->lock);
	s->function = call_counts_find(c->counts, &location);
	pthread_mutex_unlock(&c->counts->lock);
}

void fxt_call_counter_add_up(
        struct fxt_call_counter *c, struct fxt_resolver *resolver, struct fxt_names *names, uint64_t ns)
{
	uint64_t cpu_ns;

	if (!c->counts || !names)
		return;
	for (uint32_t i = 0; i < c->string_count; i++)
		if (c->strings[i].calls)
			call_counter_find(c, &c->strings[i], resolver, names, ns);
	cpu_ns = call_counter_cpu_ns(c);
	pthread_mutex_lock(&c->counts->lock);
	c->counts->cpu_ns += cpu_ns - c->cpu_ns;
	for (uint32_t i = 0; i < c->string_count; i++)
		if (c->strings[i].calls && c->strings[i].function)
			call_counter_add(c, &c->strings[i]);
	pthread_mutex_unlock(&c->counts->lock);
	c->cpu_ns = cpu_ns;
}

uint64_t fxt_call_counter_report(struct fxt_call_counter *c, const struct fxt_counted_function *function)
{
	uint64_t calls = function->id < c->recorded_count ? c->recorded[function->id] : 0;

	if (calls)
		c->recorded[function->id] = 0;
	return calls;
}

void fxt_call_counter_end(struct fxt_call_counter *c)
{
	free(c->strings);
	free(c->recorded);
	*c = (struct fxt_call_counter){0};
}

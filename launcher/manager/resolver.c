/*
 * The resolver's thread, and the calls that other threads make to it. Must not hold the
 * lock while it reads files or looks names up: record writers wait for it.
 */
#include "resolver.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "names.h"
#include "threads.h"
#include "writer/shared/atomics.h"

enum { STACK_BYTES = 16 << 20 }; /* demangling is recursive */

/* Pauses between looks at the durable buffers: REST_NS after new data, twice as long after
 * each look without any, and at most REST_MAX_NS. */
#define REST_NS     UINT64_C(1000000)
#define REST_MAX_NS UINT64_C(64000000)
/* The same if functions are excluded: their calls are recorded until the decision is
 * known. */
#define REST_MAX_FILTERING_NS UINT64_C(2000000)
/* The same if the program waits for each decision. */
#define REST_AWAITED_NS UINT64_C(100000)

/* ---- the thread ---- */

static bool resolver_answer_questions(struct fxt_resolver *resolver, struct fxt_names *names)
{
	struct fxt_name_question *question, *next;
	bool was_any;

	pthread_mutex_lock(&resolver->lock);
	question = names->questions;
	names->questions = NULL;
	names->last_question = &names->questions;
	pthread_mutex_unlock(&resolver->lock);
	/* The present contents of the durable buffer were registered before the text that
	 * is asked about. */
	was_any = fxt_names_read_ahead(resolver, names) || question;
	was_any |= fxt_names_decide_anew(resolver, names);
	for (; question; question = next) {
		next = question->next;
		fxt_names_learn_text(resolver, names, (struct fxt_span){question->text, question->bytes});
		free(question);
	}
	while (names->is_awaited && fxt_names_write_object(resolver, names))
		was_any = true;
	return was_any;
}

static void resolver_free_names(struct fxt_names *names)
{
	tdestroy(names->names, free);
	for (size_t i = 0; i < FXT_DECISIONS; i++)
		free(names->texts[i]);
	fxt_modules_free(&names->modules);
	free(names);
}

/* Returns the provider after `names` (NULL: the first). Frees `names` if it has ended and
 * has nothing left to do. Other threads add providers at the head of the list, and only
 * this thread removes any. */
static struct fxt_names *resolver_next_names(struct fxt_resolver *resolver, struct fxt_names *names)
{
	struct fxt_names **at = &resolver->providers, *next;

	pthread_mutex_lock(&resolver->lock);
	if (!names) {
		next = resolver->providers;
	} else {
		next = names->next;
		while (*at != names)
			at = &(*at)->next;
		if (names->has_ended && !names->questions && !names->due) {
			*at = next;
			resolver_free_names(names);
		}
	}
	pthread_mutex_unlock(&resolver->lock);
	return next;
}

/* Serves every provider once: names all new functions; if there were none, finds one source
 * position per provider. Returns true if there was anything to do. */
static bool resolver_serve_providers(struct fxt_resolver *resolver)
{
	bool was_any = false;

	for (struct fxt_names *n = NULL; (n = resolver_next_names(resolver, n)) != NULL;)
		was_any |= resolver_answer_questions(resolver, n);
	for (struct fxt_names *n = NULL; !was_any && (n = resolver_next_names(resolver, n)) != NULL;)
		was_any |= fxt_names_write_object(resolver, n);
	return was_any;
}

static struct timespec resolver_time_after(uint64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(ns / 1000000000u);
	at.tv_nsec = (long)(ns % 1000000000u);
	return at;
}

/* With the lock held. */
static uint64_t resolver_longest_rest(const struct fxt_resolver *resolver)
{
	if (!resolver->filter)
		return REST_MAX_NS;
	return resolver->is_awaited || resolver->filter_changes ? REST_AWAITED_NS : REST_MAX_FILTERING_NS;
}

static void *resolver_run(void *argument)
{
	struct fxt_resolver *resolver = argument;
	uint64_t rest = REST_NS, rest_max;
	bool is_over = false;

	while (!is_over) {
		bool was_any = resolver_serve_providers(resolver);
		struct timespec until = resolver_time_after(rest);

		pthread_mutex_lock(&resolver->lock);
		rest = was_any ? REST_NS : 2 * rest;
		rest_max = resolver_longest_rest(resolver);
		rest = rest < rest_max ? rest : rest_max;
		is_over = resolver->is_ending && !resolver->providers;
		if (!was_any && !is_over && !resolver->has_work)
			pthread_cond_timedwait(&resolver->work, &resolver->lock, &until);
		resolver->has_work = false;
		pthread_mutex_unlock(&resolver->lock);
	}
	return NULL;
}

/* ---- for the others ---- */

void fxt_resolver_open(struct fxt_resolver *resolver)
{
	*resolver = (struct fxt_resolver){.lock = PTHREAD_MUTEX_INITIALIZER};
	fxt_condition_begin(&resolver->work);
	fxt_condition_begin(&resolver->answered);
}

static bool resolver_start_thread(struct fxt_resolver *resolver)
{
	if (!resolver->has_thread)
		resolver->has_thread =
		        fxt_thread_start(&resolver->thread, STACK_BYTES, resolver_run, resolver) == 0;
	return resolver->has_thread;
}

void fxt_resolver_close(struct fxt_resolver *resolver)
{
	if (resolver->is_ending)
		return;
	pthread_mutex_lock(&resolver->lock);
	resolver->is_ending = resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	pthread_mutex_unlock(&resolver->lock);
	if (resolver->has_thread)
		pthread_join(resolver->thread, NULL);
	fxt_images_free(&resolver->images);
}

struct fxt_names *fxt_names_begin(struct fxt_resolver *resolver, const struct fxt_names_owner *owner)
{
	struct fxt_names *names = resolver_start_thread(resolver) ? calloc(1, sizeof(*names)) : NULL;

	if (!names)
		return NULL;
	names->owner = *owner;
	names->strings = 1;
	names->last_question = &names->questions;
	pthread_mutex_lock(&resolver->lock);
	if (!resolver->filter_changes)
		resolver->filter = owner->filter;
	resolver->is_awaited |= load_relaxed(&owner->control->awaits_decisions);
	names->filter_changes = resolver->filter_changes;
	names->earlier_filter = owner->filter;
	names->next = resolver->providers;
	resolver->providers = names;
	resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	pthread_mutex_unlock(&resolver->lock);
	return names;
}

void fxt_names_restart(struct fxt_resolver *resolver, struct fxt_names *names)
{
	pthread_mutex_lock(&resolver->lock);
	names->read = names->chunk = 0;
	names->strings = 1;
	pthread_mutex_unlock(&resolver->lock);
}

void fxt_resolver_change_filter(
        struct fxt_resolver *resolver, const struct fxt_record_filter *filter, uint32_t change)
{
	pthread_mutex_lock(&resolver->lock);
	resolver->filter = filter;
	resolver->filter_changes = change;
	resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	pthread_mutex_unlock(&resolver->lock);
}

/* Waits until no position is being written, and with `positions` until none is due. With
 * the lock held. */
static void resolver_await_positions(struct fxt_resolver *resolver, struct fxt_names *names, bool positions)
{
	names->is_awaited = positions;
	resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	while (names->is_writing || (positions && names->due))
		pthread_cond_wait(&resolver->answered, &resolver->lock);
	names->is_awaited = false;
}

void fxt_names_move(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_archive_writer *archive)
{
	pthread_mutex_lock(&resolver->lock);
	resolver_await_positions(resolver, names, true);
	names->owner.archive = archive;
	pthread_mutex_unlock(&resolver->lock);
}

static void names_forget_position(const void *node, VISIT visit, int level)
{
	struct fxt_name *name = *(struct fxt_name *const *)node;

	(void)level;
	if (visit == preorder || visit == leaf)
		name->was_due = false;
}

bool fxt_names_turn(
        struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_archive_writer *archive)
{
	bool are_due;

	pthread_mutex_lock(&resolver->lock);
	resolver_await_positions(resolver, names, false);
	are_due = names->due != NULL;
	twalk(names->names, names_forget_position);
	for (struct fxt_name *name = names->due; name; name = name->next_due)
		name->was_due = true;
	names->owner.archive = archive;
	names->owner.identity->announced = false; /* before the thread writes the next one */
	pthread_mutex_unlock(&resolver->lock);
	return are_due;
}

void fxt_names_end(struct fxt_resolver *resolver, struct fxt_names *names, bool positions)
{
	pthread_mutex_lock(&resolver->lock);
	names->owner.buffer = NULL;
	resolver_await_positions(resolver, names, positions);
	names->identity = *names->owner.identity;
	names->owner.identity = &names->identity;
	names->has_ended = true;
	resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	pthread_mutex_unlock(&resolver->lock);
}

void fxt_names_ask(struct fxt_resolver *resolver, struct fxt_names *names, struct fxt_span text)
{
	struct fxt_name_question *question = malloc(sizeof(*question) + text.bytes);

	pthread_mutex_lock(&resolver->lock);
	if (question) {
		question->next = NULL;
		question->bytes = text.bytes;
		memcpy(question->text, text.data, text.bytes);
		*names->last_question = question;
		names->last_question = &question->next;
	} else {
		names->has_failed = true;
	}
	resolver->has_work = true;
	pthread_cond_signal(&resolver->work);
	pthread_mutex_unlock(&resolver->lock);
}

/* Finds the name of a placeholder, if known. With the lock held. A placeholder without a
 * module was looked up in the mappings at that time, so its name is no longer known after
 * another mapping was announced. */
static bool resolver_look(struct fxt_names *names, const struct fxt_markup *pc, struct fxt_location *function)
{
	const struct fxt_name *name = fxt_names_find(names, pc->address, pc->module);

	if (!name || (pc->module == 0 && name->mappings != names->mappings))
		return false;
	*function = name->function;
	return true;
}

bool fxt_names_have_failed(struct fxt_resolver *resolver, struct fxt_names *names)
{
	bool has_failed;

	pthread_mutex_lock(&resolver->lock);
	has_failed = names->has_failed;
	pthread_mutex_unlock(&resolver->lock);
	return has_failed;
}

bool fxt_names_wait(struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc,
        uint64_t ns, struct fxt_location *function)
{
	struct timespec until = resolver_time_after(ns);
	bool is_there;

	pthread_mutex_lock(&resolver->lock);
	while (!(is_there = resolver_look(names, pc, function)) && ns && !names->has_failed)
		if (pthread_cond_timedwait(&resolver->answered, &resolver->lock, &until) == ETIMEDOUT)
			ns = 0;
	pthread_mutex_unlock(&resolver->lock);
	return is_there;
}

void fxt_names_are_written(
        struct fxt_resolver *resolver, struct fxt_names *names, const struct fxt_markup *pc)
{
	struct fxt_name *name;

	pthread_mutex_lock(&resolver->lock);
	name = fxt_names_find(names, pc->address, pc->module);
	if (name && !name->was_due) {
		name->was_due = true;
		name->next_due = names->due;
		names->due = name;
		resolver->has_work = true;
		pthread_cond_signal(&resolver->work);
	}
	pthread_mutex_unlock(&resolver->lock);
}

#include "namer.h"
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "reader/cursor.h"
#include "reader/utf8.h"
#include "symbolizer/modules.h"
#include "symbolizer/naming.h"
#include "writer/atomics.h"
#include "writer/decisions.h"
#include "writer/encode.h"
#include "writer/function_table.h"

enum {
	STACK_BYTES = 16 << 20, /* demangling recurses */
	READ_BYTES = 64 << 10,  /* more than the largest record */
};

/* How long the thread waits before it looks at the durable buffers again: REST_NS after it found something
 * new, twice as long after each look that found nothing, REST_MAX_NS at most. */
#define REST_NS     UINT64_C(1000000)
#define REST_MAX_NS UINT64_C(64000000)
/* The same where functions are left out: until that is known their calls are recorded. */
#define REST_MAX_FILTERING_NS UINT64_C(2000000)
/* Where the program waits for each decision. */
#define REST_UNDER_NS UINT64_C(100000)

/* A function, by its address in the process and the module it was registered with. */
struct name {
	uint64_t address, module;
	struct fxt_location function;
	char text[24];     /* of an address that is in no module */
	uint64_t mappings; /* announced when it was looked up */
	bool was_due; /* it is, or was, in the list of functions whose source positions are to be written */
	struct name *next_due;
};

/* A text somebody asks about. */
struct question {
	struct question *next;
	size_t bytes;
	char text[];
};

struct fxt_names {
	struct fxt_names *next;
	struct fxt_names_owner owner; /* buffer NULL: not to be touched any more */
	uint64_t read;                /* bytes of the durable buffer, or of the chunk below */
	uint64_t chunk;               /* where it begins in the rolling buffer */
	void *names;                  /* tree of struct name */
	struct question *questions, **last_question;
	struct name *due; /* functions whose source positions are to be written */
	bool has_ended;
	uint64_t mappings; /* announced so far */
	bool has_failed;   /* for want of memory some names will never be known */
	/* The thread's alone. */
	struct fxt_modules modules;
};

/* ---- names ---- */

static int namer_compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

/* With the lock held. */
static struct name *namer_find_name(const struct fxt_names *names, uint64_t address, uint64_t module)
{
	struct name key = {.address = address, .module = module};
	struct name **found = tfind(&key, &names->names, namer_compare_names);

	return found ? *found : NULL;
}

static void namer_set_location(struct name *name, const struct fxt_location *function, uint64_t mappings)
{
	name->mappings = mappings;
	name->function = *function;
	if (function->module)
		return;
	/* That text holds until the next look-up only. It is the same each time: others may be reading it. */
	if (!name->text[0])
		memcpy(name->text, function->name, function->name_bytes);
	name->function.name = name->text;
}

/* Looks a function up and notes its name. Returns the decision on it. In the thread, without the lock. */
static uint64_t namer_learn_name(
        struct fxt_namer *namer, struct fxt_names *names, const struct fxt_markup *pc)
{
	const struct fxt_selection *filter = names->owner.filter;
	const struct fxt_location *function = filter && filter->needs_source
	                                              ? fxt_modules_function(&names->modules, pc)
	                                              : fxt_modules_name(&names->modules, pc);
	bool leave_out = filter && function && fxt_selection_leaves_out(filter, function);
	unsigned under = filter && function ? fxt_selection_under(filter, function) : 0;
	struct name *name, *made = calloc(1, sizeof(*made));

	pthread_mutex_lock(&namer->lock);
	name = namer_find_name(names, pc->address, pc->module);
	if (!name && made && function) {
		made->address = pc->address;
		made->module = pc->module;
		if (tsearch(made, &names->names, namer_compare_names)) {
			name = made;
			made = NULL;
		}
	}
	if (name && function)
		namer_set_location(name, function, names->mappings);
	else
		names->has_failed = true;
	pthread_cond_broadcast(&namer->answered);
	pthread_mutex_unlock(&namer->lock);
	free(made);
	return fxt_function_key(pc->address) | FXT_DECIDED | (leave_out ? FXT_DECIDED_LEAVE_OUT : 0) |
	       (under & FXT_UNDER_ONLY ? FXT_DECIDED_ONLY_UNDER : 0) |
	       (under & FXT_UNDER_NOT ? FXT_DECIDED_NOT_UNDER : 0);
}

/* ---- modules ---- */

/* Opens a module's file through the process that has it. */
static void namer_open_image(const struct fxt_names *names, const struct fxt_markup *module)
{
	struct fxt_image *image = fxt_modules_image(&names->modules, module->module);
	char link[32], path[PATH_MAX], executable[PATH_MAX];
	ssize_t bytes;

	if (!image)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", names->owner.pid);
	bytes = readlink(link, executable, sizeof(executable));
	if (bytes > 0 && fxt_spans_equal(module->path, (struct fxt_span){executable, (size_t)bytes}))
		fxt_image_open_by(image, link);
	else if (snprintf(path, sizeof(path), "/proc/%d/root%.*s", names->owner.pid, (int)module->path.bytes,
	                 module->path.data) < (int)sizeof(path))
		fxt_image_open_by(image, path);
}

static void namer_learn_module(
        struct fxt_namer *namer, struct fxt_names *names, const struct fxt_markup *markup)
{
	int failed = fxt_modules_announce(&names->modules, &namer->images, markup);

	if (!failed && markup->kind == FXT_MARKUP_MODULE)
		namer_open_image(names, markup);
	pthread_mutex_lock(&namer->lock);
	names->has_failed |= failed != 0;
	names->mappings++;
	pthread_mutex_unlock(&namer->lock);
}

/* Learns from a text that is a placeholder or announces a module; there is nothing to learn from others.
 * Returns the decision on it. */
static uint64_t namer_learn_text(struct fxt_namer *namer, struct fxt_names *names, struct fxt_span text)
{
	struct fxt_markup markup;

	if (!fxt_markup_parse(text, &markup))
		return FXT_DECIDED;
	if (markup.kind == FXT_MARKUP_PC)
		return namer_learn_name(namer, names, &markup);
	namer_learn_module(namer, names, &markup);
	return FXT_DECIDED;
}

/* ---- reading ahead ---- */

static uint64_t namer_copy_part(uint8_t block[READ_BYTES], const uint8_t *from, uint64_t bytes)
{
	if (bytes > READ_BYTES)
		bytes = READ_BYTES;
	memcpy(block, from, bytes);
	return bytes;
}

/* How many bytes of records an open durable chunk has, which begins at `offset` of the buffer. */
static uint64_t namer_open_chunk_bytes(const struct fxt_names *names, uint64_t offset)
{
	const struct fxt_control *control = names->owner.control;
	uint64_t committed = load_acquire(&control->durable_committed);

	return committed ? committed - load_relaxed(&control->buffer_address) - offset -
	                           sizeof(struct fxt_chunk_header)
	                 : 0;
}

/* The same for a oneshot buffer. What a chunk says of itself is checked as a collector does. */
static uint64_t namer_copy_durable_chunk(struct fxt_names *names, uint8_t block[READ_BYTES])
{
	const struct fxt_buffer_header *header = names->owner.buffer;
	const struct fxt_buffer_layout *layout = &names->owner.layout;
	uint64_t end = load_acquire(&header->rolling_data_end[0]);

	while (end <= layout->rolling_bytes && end - names->chunk >= sizeof(struct fxt_chunk_header)) {
		uint64_t offset = layout->rolling_offset[0] + names->chunk;
		const struct fxt_chunk_header *chunk =
		        (const struct fxt_chunk_header *)((const uint8_t *)header + offset);
		/* Acquire: the state is stored last. */
		bool is_open = load_acquire(&chunk->state) == FXT_CHUNK_OPEN;
		uint32_t size = load_relaxed(&chunk->size);
		bool is_durable = load_relaxed(&chunk->slot) == FXT_SLOT_DURABLE;

		if (size < sizeof(*chunk) || size % 8 != 0 || size > end - names->chunk)
			return 0;
		if (is_durable) {
			uint64_t bytes = is_open ? namer_open_chunk_bytes(names, offset)
			                         : load_relaxed(&chunk->committed);

			if (bytes > size - sizeof(*chunk))
				return 0;
			if (bytes > names->read)
				return namer_copy_part(block, (const uint8_t *)(chunk + 1) + names->read,
				        bytes - names->read);
			if (is_open)
				return 0;
		}
		names->chunk += size;
		names->read = 0;
	}
	return 0;
}

/* Copies what is new in the durable buffer; 0 bytes: nothing. With the lock held, so that the buffer stays.
 */
static uint64_t namer_copy_durable(struct fxt_names *names, uint8_t block[READ_BYTES])
{
	const struct fxt_buffer_header *header = names->owner.buffer;
	uint64_t end;

	if (!header)
		return 0;
	if (names->owner.mode == FXT_ONESHOT)
		return namer_copy_durable_chunk(names, block);
	/* Acquire: pairs with the agent's release, records stand before the end that covers them. */
	end = load_acquire(&header->durable_data_end);
	if (end > names->owner.layout.durable_bytes || end <= names->read)
		return 0;
	return namer_copy_part(block, (const uint8_t *)(header + 1) + names->read, end - names->read);
}

/* Tells the agent what was decided on a string. */
static void namer_publish_decision(
        struct fxt_namer *namer, const struct fxt_names *names, uint32_t index, uint64_t decision)
{
	pthread_mutex_lock(&namer->lock);
	/* Release: pairs with the agent's acquire. */
	if (names->owner.buffer && index < FXT_DECISIONS)
		store_release(fxt_decision(names->owner.control, index), decision);
	pthread_mutex_unlock(&namer->lock);
}

static void namer_learn_record(
        struct fxt_namer *namer, struct fxt_names *names, const struct fxt_record *record)
{
	struct fxt_view view;

	if (fxt_decode(record, &view) != NULL)
		return;
	if (view.type == FXT_RECORD_STRING) {
		uint64_t decision = namer_learn_text(namer, names, view.string.text);

		if (names->owner.filter)
			namer_publish_decision(namer, names, view.string.index, decision);
	} else if (view.type == FXT_RECORD_LOG) {
		namer_learn_text(namer, names, view.log.text);
	}
}

/* Learns from the whole records in a block. Returns their bytes; all of a block that is not well framed. */
static uint64_t namer_learn_block(
        struct fxt_namer *namer, struct fxt_names *names, const uint8_t *block, uint64_t bytes)
{
	uint64_t at = 0;

	while (at + 8 <= bytes) {
		struct fxt_record record = {.words = (const uint64_t *)(block + at)};

		record.size = fxt_record_words(record.words[0]);
		if (record.size == 0 || fxt_record_type(record.words[0]) == FXT_RECORD_LARGE)
			return bytes;
		if (record.size * 8 > bytes - at)
			break;
		namer_learn_record(namer, names, &record);
		at += record.size * 8;
	}
	return at;
}

/* Reads what is new of a provider's registrations. Returns whether there was any. */
static bool namer_read_ahead(struct fxt_namer *namer, struct fxt_names *names)
{
	static uint64_t block[READ_BYTES / 8];
	bool was_any = false;

	for (;;) {
		uint64_t from, bytes, learned;

		pthread_mutex_lock(&namer->lock);
		bytes = namer_copy_durable(names, (uint8_t *)block);
		from = names->read;
		pthread_mutex_unlock(&namer->lock);
		learned = bytes ? namer_learn_block(namer, names, (const uint8_t *)block, bytes) : 0;
		if (learned == 0)
			return was_any;
		was_any = true;
		pthread_mutex_lock(&namer->lock);
		if (names->read == from) /* else it began anew meanwhile */
			names->read += learned;
		pthread_mutex_unlock(&namer->lock);
	}
}

/* ---- the thread ---- */

static bool namer_answer_questions(struct fxt_namer *namer, struct fxt_names *names)
{
	struct question *question, *next;
	bool was_any;

	pthread_mutex_lock(&namer->lock);
	question = names->questions;
	names->questions = NULL;
	names->last_question = &names->questions;
	pthread_mutex_unlock(&namer->lock);
	/* What stands in the durable buffer was registered before whatever is asked. */
	was_any = namer_read_ahead(namer, names) || question;
	for (; question; question = next) {
		next = question->next;
		namer_learn_text(namer, names, (struct fxt_span){question->text, question->bytes});
		free(question);
	}
	return was_any;
}

/* Writes the source position of one function, if any is due. Returns whether it was. */
static bool namer_write_object(struct fxt_namer *namer, struct fxt_names *names)
{
	static uint64_t record[FXT_RECORD_MAX_WORDS];
	const struct fxt_location *function;
	struct fxt_markup pc = {.kind = FXT_MARKUP_PC};
	struct name *name;
	size_t bytes;

	pthread_mutex_lock(&namer->lock);
	name = names->due;
	if (name) {
		names->due = name->next_due;
		pc.address = name->address;
		pc.module = name->module;
	}
	pthread_mutex_unlock(&namer->lock);
	if (!name)
		return false;
	function = fxt_modules_function(&names->modules, &pc);
	if (!function)
		return true;
	bytes = fxt_utf8_cut(function->name, function->name_bytes, FXT_RECORD_MAX_WORDS);
	fxt_archive_write(names->owner.archive, names->owner.identity, record,
	        8 * fxt_naming_object(record, names->owner.process_koid, name->address,
	                    fxt_string_inline(function->name, bytes), function));
	return true;
}

static void namer_free_names(struct fxt_names *names)
{
	tdestroy(names->names, free);
	fxt_modules_free(&names->modules);
	free(names);
}

/* The provider after this one (NULL: the first); gives this one back if it has ended and nothing is left to
 * do for it. Others add providers at the head of the list, and only this thread takes any out. */
static struct fxt_names *namer_next_names(struct fxt_namer *namer, struct fxt_names *names)
{
	struct fxt_names **at = &namer->providers, *next;

	pthread_mutex_lock(&namer->lock);
	if (!names) {
		next = namer->providers;
	} else {
		next = names->next;
		while (*at != names)
			at = &(*at)->next;
		if (names->has_ended && !names->questions && !names->due) {
			*at = next;
			namer_free_names(names);
		}
	}
	pthread_mutex_unlock(&namer->lock);
	return next;
}

/* Looks at every provider once: names what is new, of all of them; if nothing was, finds one source position
 * for each. Returns whether there was anything to do. */
static bool namer_serve_providers(struct fxt_namer *namer)
{
	bool was_any = false;

	for (struct fxt_names *n = NULL; (n = namer_next_names(namer, n)) != NULL;)
		was_any |= namer_answer_questions(namer, n);
	for (struct fxt_names *n = NULL; !was_any && (n = namer_next_names(namer, n)) != NULL;)
		was_any |= namer_write_object(namer, n);
	return was_any;
}

static struct timespec namer_time_after(uint64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(ns / 1000000000u);
	at.tv_nsec = (long)(ns % 1000000000u);
	return at;
}

/* With the lock held. All providers of a session have one filter. */
static uint64_t namer_longest_rest(const struct fxt_namer *namer)
{
	const struct fxt_selection *filter = namer->providers ? namer->providers->owner.filter : NULL;

	return !filter ? REST_MAX_NS : filter->under ? REST_UNDER_NS : REST_MAX_FILTERING_NS;
}

static void *namer_run(void *argument)
{
	struct fxt_namer *namer = argument;
	uint64_t rest = REST_NS, rest_max;
	bool is_over = false;

	while (!is_over) {
		bool was_any = namer_serve_providers(namer);
		struct timespec until = namer_time_after(rest);

		pthread_mutex_lock(&namer->lock);
		rest = was_any ? REST_NS : 2 * rest;
		rest_max = namer_longest_rest(namer);
		rest = rest < rest_max ? rest : rest_max;
		is_over = namer->is_ending && !namer->providers;
		if (!was_any && !is_over && !namer->has_work)
			pthread_cond_timedwait(&namer->work, &namer->lock, &until);
		namer->has_work = false;
		pthread_mutex_unlock(&namer->lock);
	}
	return NULL;
}

/* ---- for the others ---- */

void fxt_namer_open(struct fxt_namer *namer)
{
	pthread_condattr_t condition;

	*namer = (struct fxt_namer){.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_condattr_init(&condition);
	pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
	pthread_cond_init(&namer->work, &condition);
	pthread_cond_init(&namer->answered, &condition);
	pthread_condattr_destroy(&condition);
}

static bool namer_start_thread(struct fxt_namer *namer)
{
	pthread_attr_t attributes;

	if (namer->has_thread)
		return true;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	namer->has_thread = pthread_create(&namer->thread, &attributes, namer_run, namer) == 0;
	pthread_attr_destroy(&attributes);
	return namer->has_thread;
}

void fxt_namer_close(struct fxt_namer *namer)
{
	if (namer->is_ending)
		return;
	pthread_mutex_lock(&namer->lock);
	namer->is_ending = namer->has_work = true;
	pthread_cond_signal(&namer->work);
	pthread_mutex_unlock(&namer->lock);
	if (namer->has_thread)
		pthread_join(namer->thread, NULL);
	fxt_images_free(&namer->images);
}

struct fxt_names *fxt_names_begin(struct fxt_namer *namer, const struct fxt_names_owner *owner)
{
	struct fxt_names *names = namer_start_thread(namer) ? calloc(1, sizeof(*names)) : NULL;

	if (!names)
		return NULL;
	names->owner = *owner;
	names->last_question = &names->questions;
	pthread_mutex_lock(&namer->lock);
	names->next = namer->providers;
	namer->providers = names;
	namer->has_work = true;
	pthread_cond_signal(&namer->work);
	pthread_mutex_unlock(&namer->lock);
	return names;
}

void fxt_names_restart(struct fxt_namer *namer, struct fxt_names *names)
{
	pthread_mutex_lock(&namer->lock);
	names->read = names->chunk = 0;
	pthread_mutex_unlock(&namer->lock);
}

void fxt_names_end(struct fxt_namer *namer, struct fxt_names *names)
{
	pthread_mutex_lock(&namer->lock);
	names->owner.buffer = NULL;
	names->has_ended = true;
	namer->has_work = true;
	pthread_cond_signal(&namer->work);
	pthread_mutex_unlock(&namer->lock);
}

void fxt_names_ask(struct fxt_namer *namer, struct fxt_names *names, struct fxt_span text)
{
	struct question *question = malloc(sizeof(*question) + text.bytes);

	pthread_mutex_lock(&namer->lock);
	if (question) {
		question->next = NULL;
		question->bytes = text.bytes;
		memcpy(question->text, text.data, text.bytes);
		*names->last_question = question;
		names->last_question = &question->next;
	} else {
		names->has_failed = true;
	}
	namer->has_work = true;
	pthread_cond_signal(&namer->work);
	pthread_mutex_unlock(&namer->lock);
}

/* With the lock held: the name of a placeholder, if it is known. One that states no module was looked up in
 * what was mapped then, so it is not known any more once another mapping was announced. */
static bool namer_look(struct fxt_names *names, const struct fxt_markup *pc, struct fxt_location *function)
{
	const struct name *name = namer_find_name(names, pc->address, pc->module);

	if (!name || (pc->module == 0 && name->mappings != names->mappings))
		return false;
	*function = name->function;
	return true;
}

bool fxt_names_wait(struct fxt_namer *namer, struct fxt_names *names, const struct fxt_markup *pc,
        uint64_t ns, struct fxt_location *function)
{
	struct timespec until = namer_time_after(ns);
	bool is_there;

	pthread_mutex_lock(&namer->lock);
	while (!(is_there = namer_look(names, pc, function)) && ns && !names->has_failed)
		if (pthread_cond_timedwait(&namer->answered, &namer->lock, &until) == ETIMEDOUT)
			ns = 0;
	pthread_mutex_unlock(&namer->lock);
	return is_there;
}

void fxt_names_are_written(struct fxt_namer *namer, struct fxt_names *names, const struct fxt_markup *pc)
{
	struct name *name;

	pthread_mutex_lock(&namer->lock);
	name = namer_find_name(names, pc->address, pc->module);
	if (name && !name->was_due) {
		name->was_due = true;
		name->next_due = names->due;
		names->due = name;
		namer->has_work = true;
		pthread_cond_signal(&namer->work);
	}
	pthread_mutex_unlock(&namer->lock);
}

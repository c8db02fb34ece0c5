#include "death.h"

#include <inttypes.h>
#include <string.h>
#include "reader/stats/groups.h"

/* ---- reading ---- */

/* Gets the text of an argument, cut to the size of our longest; "" if there is none. */
static void death_take_text(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, char *text, size_t bytes)
{
	struct fxt_argument argument;
	struct fxt_span found = {0};

	if (fxt_tables_argument(t, view, name, &argument) && argument.type == FXT_ARGUMENT_STRING)
		found = fxt_tables_text(t, argument.value.string);
	if (found.bytes >= bytes)
		found.bytes = bytes - 1;
	if (found.bytes > 0)
		memcpy(text, found.data, found.bytes);
	text[found.bytes] = 0;
}

static uint64_t death_number(
        struct fxt_tables *t, const struct fxt_view *view, const char *name, enum fxt_argument_type type)
{
	struct fxt_argument argument;

	return fxt_tables_argument(t, view, name, &argument) && argument.type == type ? argument.value.word
	                                                                              : 0;
}

static bool death_is(const struct fxt_tables *t, uint32_t string, const char *text)
{
	return fxt_span_is(t->strings[string], text);
}

bool fxt_death_read(struct fxt_tables *t, const struct fxt_view *view, struct fxt_death *death)
{
	struct fxt_argument signal, address;
	uint32_t thread;
	char origin[16];

	if (view->type != FXT_RECORD_EVENT || view->event.type != FXT_EVENT_INSTANT ||
	        !death_is(t, fxt_tables_string(t, view->event.category), "process") ||
	        !death_is(t, fxt_tables_string(t, view->event.name), "killed") ||
	        !fxt_tables_argument(t, view, "signal", &signal) || signal.type != FXT_ARGUMENT_INT32)
		return false;
	thread = fxt_tables_thread(t, view->event.thread); /* may make the table larger */
	*death = (struct fxt_death){.koids = t->threads[thread],
	        .signal = (int32_t)signal.value.word,
	        .sender = death_number(t, view, "sender", FXT_ARGUMENT_KOID)};
	death_take_text(t, view, "code", death->code, sizeof(death->code));
	death_take_text(t, view, "origin", origin, sizeof(origin));
	death->origin = strcmp(origin, FXT_DEATH_ITSELF) == 0    ? FXT_DEATH_BY_ITSELF
	                : strcmp(origin, FXT_DEATH_OUTSIDE) == 0 ? FXT_DEATH_FROM_OUTSIDE
	                                                         : FXT_DEATH_BY_FAULT;
	if (fxt_tables_argument(t, view, "address", &address) && address.type == FXT_ARGUMENT_POINTER) {
		death->has_address = true;
		death->address = address.value.word;
	}
	/* An event that knows the thread also knows the code. */
	if (death->code[0] == 0)
		death->koids.thread = 0;
	return true;
}

/* ---- telling ---- */

void fxt_death_write(FILE *out, const struct fxt_death *death)
{
	const char *signal = sigabbrev_np(death->signal);

	fprintf(out, "killed by SIG%s (%d)", signal ? signal : "?", death->signal);
	if (death->origin == FXT_DEATH_BY_ITSELF) {
		fputs(", sent by itself", out);
	} else if (death->origin == FXT_DEATH_FROM_OUTSIDE && death->sender) {
		fprintf(out, ", sent by process %" PRIu64, death->sender);
	} else if (death->origin == FXT_DEATH_FROM_OUTSIDE) {
		fputs(", from outside", out);
	} else if (death->code[0]) {
		fprintf(out, ", %s", death->code);
	}
	if (death->has_address)
		fprintf(out, " at address 0x%" PRIx64, death->address);
}

/* The only thread of a process; 0: it has several. */
static uint64_t death_only_thread(const struct fxt_tables *t, uint64_t process)
{
	uint64_t only = 0;

	for (size_t i = 1; i < t->thread_count; i++) {
		if (t->threads[i].process != process)
			continue;
		if (only)
			return 0;
		only = t->threads[i].thread;
	}
	return only;
}

void fxt_death_write_who(FILE *out, const struct fxt_tables *t, const struct fxt_death *death)
{
	struct fxt_koids koids = death->koids;

	if (koids.thread == 0)
		koids.thread = death_only_thread(t, koids.process);
	if (koids.thread == 0)
		fxt_groups_write_object(out, t, FXT_OBJECT_PROCESS, koids.process);
	else
		fxt_groups_write_thread(out, t, koids);
}

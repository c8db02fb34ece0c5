/*
 * Reads triggers from their texts, and adds the functions of their patterns to a filter.
 * Errors are returned, and must not be printed here.
 */
#include "triggers.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/values.h"
#include "reader/trace/duration.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- what happens ---- */

static const char *trigger_read_pattern(struct fxt_trigger *t, const char *text, size_t bytes)
{
	(void)text;
	t->pattern_bytes = bytes;
	return bytes ? NULL : "must name a function, or a pattern of functions";
}

static const char *trigger_read_signal(struct fxt_trigger *t, const char *text, size_t bytes)
{
	if (bytes > 3 && strncmp(text, "SIG", 3) == 0) {
		text += 3;
		bytes -= 3;
	}
	for (t->number = 1; t->number < NSIG; t->number++) {
		const char *name = sigabbrev_np(t->number);

		if (name && strlen(name) == bytes && memcmp(name, text, bytes) == 0)
			return NULL;
	}
	return "must name a signal, such as signal=SEGV";
}

static const char *trigger_read_status(struct fxt_trigger *t, const char *text, size_t bytes)
{
	t->number = atoi(text);
	return bytes > 0 && bytes <= 3 && strspn(text, "0123456789") == bytes && t->number <= 255
	               ? NULL
	               : "must have an exit status, such as exit!=0";
}

/* Events given by a word before or behind the rest; anything else is a call with its time,
 * or an alert. */
static const struct trigger_form {
	const char *word;
	bool is_behind;
	enum fxt_trigger_event event;
	const char *(*read)(struct fxt_trigger *, const char *text, size_t bytes);
} trigger_forms[] = {
        {"=begin", true, FXT_TRIGGER_ON_BEGIN, trigger_read_pattern},
        {"=end", true, FXT_TRIGGER_ON_END, trigger_read_pattern},
        {"signal=", false, FXT_TRIGGER_ON_SIGNAL, trigger_read_signal},
        {"exit!=", false, FXT_TRIGGER_ON_OTHER_EXIT, trigger_read_status},
        {"exit=", false, FXT_TRIGGER_ON_EXIT, trigger_read_status},
};

/* Reads FUNC>TIME; false: the text has another form. */
static bool trigger_is_long_call(struct fxt_trigger *t, size_t bytes)
{
	const char *than = memrchr(t->text, '>', bytes); /* the last one: a name may contain '>' */
	char time[32] = "";

	if (!than || than == t->text || (size_t)(t->text + bytes - than) > sizeof(time))
		return false;
	memcpy(time, than + 1, (size_t)(t->text + bytes - than) - 1);
	t->pattern_bytes = (size_t)(than - t->text);
	t->event = FXT_TRIGGER_ON_LONG_CALL;
	return fxt_duration_parse(time, &t->call_ns);
}

static const char *trigger_read_event(struct fxt_trigger *t, size_t bytes)
{
	for (const struct trigger_form *form = trigger_forms; form < trigger_forms + COUNT(trigger_forms);
	        form++) {
		size_t word = strlen(form->word);
		const char *at = form->is_behind && bytes >= word ? t->text + bytes - word : t->text;

		if (bytes < word || memcmp(at, form->word, word) != 0)
			continue;
		t->event = form->event;
		return form->read(t, form->is_behind ? t->text : t->text + word, bytes - word);
	}
	if (trigger_is_long_call(t, bytes))
		return t->call_ns > FXT_TIME_MAX_NS ? "has a time that is too long" : NULL;
	t->event = FXT_TRIGGER_ON_ALERT;
	if (bytes == 0 || bytes >= sizeof(t->alert))
		return "must be an alert of 1 to 14 bytes, or a function and a time, and then an action, "
		       "such as slow:snapshot or 'serve>5ms:snapshot'";
	memcpy(t->alert, t->text, bytes);
	return NULL;
}

/* ---- under which conditions ---- */

/* A snapshot is taken by default at most once in this time: each costs a file and a
 * fork. */
#define SNAPSHOT_EVERY_NS UINT64_C(1000000000)

static const char *trigger_read_after(struct fxt_trigger *t, const char *text)
{
	return fxt_duration_parse(text, &t->after_ns) && t->after_ns <= FXT_TIME_MAX_NS
	               ? NULL
	               : "after= must have a time with a unit, such as after=100ms";
}

static const char *trigger_read_once_after(struct fxt_trigger *t, const char *text)
{
	return fxt_value_max_calls(text, &t->once_after) == NULL && t->once_after >= 1
	               ? NULL
	               : "once-after= must have a number of times, such as once-after=3";
}

static const char *trigger_read_every(struct fxt_trigger *t, const char *text)
{
	t->is_limited = false;
	return fxt_duration_parse(text, &t->every_ns)
	               ? NULL
	               : "the condition must be a time with a unit, such as snapshot/10s";
}

static const char *trigger_read_condition(struct fxt_trigger *t, const char *text, size_t bytes)
{
	static const struct {
		const char *word;
		const char *(*read)(struct fxt_trigger *, const char *);
	} conditions[] = {
	        {"after=", trigger_read_after},
	        {"once-after=", trigger_read_once_after},
	        {"", trigger_read_every},
	};
	char value[FXT_TRIGGER_TEXT_BYTES] = "";

	memcpy(value, text, bytes);
	for (size_t i = 0;; i++) {
		size_t word = strlen(conditions[i].word);

		if (strncmp(value, conditions[i].word, word) == 0)
			return conditions[i].read(t, value + word);
	}
}

static const char *trigger_read_conditions(struct fxt_trigger *t, const char *text)
{
	const char *wrong = NULL;

	while (!wrong && *text) {
		size_t bytes = strcspn(++text, "/");

		wrong = trigger_read_condition(t, text, bytes);
		text += bytes;
	}
	return wrong;
}

/* ---- all of it ---- */

/* Refuses combinations that make no sense together. */
static const char *trigger_check(const struct fxt_trigger *t)
{
	if (t->event == FXT_TRIGGER_ON_LONG_CALL && t->action == FXT_TRIGGER_START)
		return "calls are not seen before recording starts; the beginning of a call can start it, as "
		       "in 'serve=begin:start'";
	if (fxt_trigger_is_of_process(t) && (t->every_ns || t->after_ns))
		return "a call that begins or ends starts or stops recording at once: the only condition is "
		       "once-after=N";
	return NULL;
}

const char *fxt_trigger_read(struct fxt_trigger *t, const char *text)
{
	static const char *const actions[FXT_TRIGGER_ACTIONS] = {[FXT_TRIGGER_START] = "start",
	        [FXT_TRIGGER_STOP] = "stop",
	        [FXT_TRIGGER_SNAPSHOT] = "snapshot",
	        [FXT_TRIGGER_TERMINATE] = "terminate"};
	/* the last one: a name may contain colons */
	const char *colon = strrchr(text, ':'), *wrong;
	size_t action_bytes;

	*t = (struct fxt_trigger){0};
	if (strlen(text) >= sizeof(t->text))
		return "is too long: at most 255 bytes";
	strcpy(t->text, text);
	wrong = trigger_read_event(t, colon ? (size_t)(colon - text) : 0);
	if (wrong)
		return wrong;
	action_bytes = strcspn(colon + 1, "/");
	if (!fxt_value_word(colon + 1, action_bytes, actions, COUNT(actions), &t->action))
		return "the action must be start, stop, snapshot or terminate";
	t->is_limited = t->action == FXT_TRIGGER_SNAPSHOT;
	t->every_ns = t->is_limited ? SNAPSHOT_EVERY_NS : 0;
	wrong = trigger_read_conditions(t, colon + 1 + action_bytes);
	return wrong ? wrong : trigger_check(t);
}

const char *fxt_trigger_select(
        const struct fxt_trigger *t, unsigned index, struct fxt_record_filter *selection)
{
	return fxt_trigger_is_of_calls(t)
	               ? fxt_record_filter_add_limit(selection,
	                         t->event == FXT_TRIGGER_ON_BEGIN ? FXT_RECORD_FILTER_BEGIN_TRIGGER
	                                                          : FXT_RECORD_FILTER_TRIGGER,
	                         t->text, t->pattern_bytes, index + 1)
	               : NULL;
}

void fxt_trigger_name(char name[FXT_ALERT_NAME_BYTES], unsigned index)
{
	memset(name, 0, FXT_ALERT_NAME_BYTES);
	snprintf(name, FXT_ALERT_NAME_BYTES, "trigger %u", index + 1);
}

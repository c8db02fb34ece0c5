/*
 * Triggers: the actions of a session on events in the recorded processes (fxtrun
 * --trigger).
 *
 *   EVENT:ACTION[/CONDITION]...
 *
 *   ALERT          an alert of that name, of 1 to 14 bytes, is raised
 *   FUNC>TIME      a call of a function of the pattern takes at least that time, when it ends
 *   FUNC=begin     such a call begins
 *   FUNC=end       it ends
 *   signal=NAME    a process dies of that signal
 *   exit!=N        a process exits with another status than that
 *   exit=N         it exits with that one
 *
 * The session's filter selects the functions, by the number of the trigger
 * (FXT_RECORD_FILTER_TRIGGER). For a begin or end of a call, the actions start and stop are
 * carried out at once by its process, for its own calls (agent/hook/triggers.h). The
 * manager carries out everything else, for the session (control/trigger_calls.h).
 */
#ifndef FXT_LAUNCHER_TRIGGERS_H
#define FXT_LAUNCHER_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbolizer/record_filter.h"
#include "writer/shared/shared.h"

#define FXT_TRIGGER_TEXT_BYTES 256

enum fxt_trigger_event {
	FXT_TRIGGER_ON_ALERT,
	FXT_TRIGGER_ON_LONG_CALL,
	FXT_TRIGGER_ON_BEGIN,
	FXT_TRIGGER_ON_END,
	FXT_TRIGGER_ON_SIGNAL,
	FXT_TRIGGER_ON_EXIT,
	FXT_TRIGGER_ON_OTHER_EXIT,
};

enum fxt_trigger_action {
	FXT_TRIGGER_START,
	FXT_TRIGGER_STOP,
	FXT_TRIGGER_SNAPSHOT,
	FXT_TRIGGER_TERMINATE,
	FXT_TRIGGER_ACTIONS
};

/* All zeros is no trigger: no event raises it. */
struct fxt_trigger {
	char text[FXT_TRIGGER_TEXT_BYTES]; /* as the user gave it */
	enum fxt_trigger_event event;
	char alert[FXT_ALERT_NAME_BYTES];
	size_t pattern_bytes; /* for calls: the length of the functions' pattern in the text */
	uint64_t call_ns;     /* minimum duration of the call */
	int number;           /* the signal, or the status */
	enum fxt_trigger_action action;
	uint64_t every_ns;   /* minimum time between two actions */
	bool is_limited;     /* by default: the user gave no frequency */
	uint64_t after_ns;   /* delay of the action after the event */
	uint64_t once_after; /* act once, after so many events; 0 = at each event */
};

/* Reads a trigger. Returns NULL, or the error as half a sentence. */
const char *fxt_trigger_read(struct fxt_trigger *trigger, const char *text);

/* Adds the functions of the trigger with that index to the filter, if calls raise it.
 * Returns NULL, or the error in its pattern as half a sentence. */
const char *fxt_trigger_select(
        const struct fxt_trigger *trigger, unsigned index, struct fxt_record_filter *selection);

/* The kinds of patterns that fxt_trigger_select() adds: a sum of 1 << kind. */
#define FXT_TRIGGER_KINDS (1u << FXT_RECORD_FILTER_TRIGGER | 1u << FXT_RECORD_FILTER_BEGIN_TRIGGER)

/* True if calls raise the trigger. */
static inline bool fxt_trigger_is_of_calls(const struct fxt_trigger *trigger)
{
	return trigger->event >= FXT_TRIGGER_ON_LONG_CALL && trigger->event <= FXT_TRIGGER_ON_END;
}

/* True if the process that makes the call carries out the action. */
static inline bool fxt_trigger_is_of_process(const struct fxt_trigger *trigger)
{
	return (trigger->event == FXT_TRIGGER_ON_BEGIN || trigger->event == FXT_TRIGGER_ON_END) &&
	       trigger->action <= FXT_TRIGGER_STOP;
}

/* The name of the alert that reports a trigger without an alert of its own, from the
 * trigger's index. */
void fxt_trigger_name(char name[FXT_ALERT_NAME_BYTES], unsigned index);

#endif

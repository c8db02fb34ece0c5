/*
 * Triggers: what a session does when something happens in what it records (fxtrun --trigger).
 *
 *   EVENT:ACTION[/CONDITION]...
 *
 *   ALERT          an alert of that name, of 1 to 14 bytes, is raised
 *   FUNC>TIME      a call of a function of the pattern takes so long, when it ends
 *   FUNC=begin     such a call begins
 *   FUNC=end       it ends
 *   signal=NAME    a process dies of that signal
 *   exit!=N        a process exits with another status than that
 *   exit=N         it exits with that one
 *
 * Which functions those are says the session's filter, by the number of the trigger (FXT_SELECTION_TRIGGER).
 * Start and stop by the begin and the end of a call are done by its process at once, for its own calls
 * (agent/hook/triggers.h); everything else is done by the manager, for the session (control/trigger_calls.h).
 */
#ifndef FXT_LAUNCHER_TRIGGERS_H
#define FXT_LAUNCHER_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbolizer/selection.h"
#include "writer/shared.h"

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

/* All zeros is none: nothing happens that raises it. */
struct fxt_trigger {
	char text[FXT_TRIGGER_TEXT_BYTES]; /* as it was given */
	enum fxt_trigger_event event;
	char alert[FXT_ALERT_NAME_BYTES];
	size_t pattern_bytes; /* of calls: the functions' pattern is so much of the text */
	uint64_t call_ns;     /* how long such a call takes, at least */
	int number;           /* the signal, or the status */
	enum fxt_trigger_action action;
	uint64_t every_ns;   /* it does it at most once in so long */
	bool is_limited;     /* by default: nothing was said of how often */
	uint64_t after_ns;   /* so long after what happened */
	uint64_t once_after; /* once, when it has happened so often; 0 = each time */
};

/* Reads one. Returns NULL, or what is wrong with it as half a sentence. */
const char *fxt_trigger_read(struct fxt_trigger *trigger, const char *text);

/* Has the calls that raise the trigger of that index decided on. Nothing if it is raised by something else.
 * Returns NULL, or what is wrong with its pattern as half a sentence. */
const char *fxt_trigger_select(
        const struct fxt_trigger *trigger, unsigned index, struct fxt_selection *selection);

/* Those of the filter that fxt_trigger_select() adds: a sum of 1 << kind. */
#define FXT_TRIGGER_KINDS (1u << FXT_SELECTION_TRIGGER | 1u << FXT_SELECTION_BEGIN_TRIGGER)

/* Whether a call is what happens. */
static inline bool fxt_trigger_is_of_calls(const struct fxt_trigger *trigger)
{
	return trigger->event >= FXT_TRIGGER_ON_LONG_CALL && trigger->event <= FXT_TRIGGER_ON_END;
}

/* Whether it is carried out by the process that the call is made in. */
static inline bool fxt_trigger_is_of_process(const struct fxt_trigger *trigger)
{
	return (trigger->event == FXT_TRIGGER_ON_BEGIN || trigger->event == FXT_TRIGGER_ON_END) &&
	       trigger->action <= FXT_TRIGGER_STOP;
}

/* What raises one that is of no alert is told as the alert of this name, by the index of the trigger. */
void fxt_trigger_name(char name[FXT_ALERT_NAME_BYTES], unsigned index);

#endif

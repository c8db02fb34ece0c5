/*
 * Carries out the actions of triggers (launcher/triggers.h). Each trigger is also reported
 * to clients that wait for alerts, under the name of its alert or, without one, of its
 * number (fxt_trigger_name).
 */
#ifndef FXT_LAUNCHER_CONTROL_TRIGGER_CALLS_H
#define FXT_LAUNCHER_CONTROL_TRIGGER_CALLS_H

#include "controller.h"

void fxt_call_raise_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* An alert of that name was raised; also passes it to a client that waits for one. */
void fxt_triggers_on_alert(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES]);

/* Calls have raised the trigger of that index `times` times since the last call. */
void fxt_triggers_on_calls(struct fxt_controller *controller, uint32_t index, uint64_t times);

/* A process has died of a signal, or exited with a status. */
void fxt_triggers_on_end(struct fxt_controller *controller, bool by_signal, int number);

/* Prepares for `trigger` to become the trigger of that index. */
void fxt_triggers_begin(struct fxt_controller *controller, uint32_t index, const struct fxt_trigger *trigger);

/* The present triggers: an array of {"number", "trigger", "raised"}. Actions that a process
 * carries out itself are not counted here. */
json_t *fxt_triggers_list(const struct fxt_controller *controller);

/* A recording has ended: prints how many requested snapshots were not taken. */
void fxt_triggers_end(struct fxt_controller *controller);

/* A recording begins, with its own triggers: none has been raised. */
void fxt_triggers_renew(struct fxt_controller *controller);

/* Sets up, and gives back, the timer for actions that are due some time after the event.
 * Without a timer such actions are carried out at once. */
void fxt_triggers_open(struct fxt_controller *controller);
void fxt_triggers_close(struct fxt_controller *controller);

#endif

/*
 * What triggers (launcher/triggers.h) have a session do. Each is told to whoever waits for alerts, too: by
 * its alert's name, or by that of its number (fxt_trigger_name).
 */
#ifndef FXT_LAUNCHER_CONTROL_TRIGGER_CALLS_H
#define FXT_LAUNCHER_CONTROL_TRIGGER_CALLS_H

#include "controller.h"

void fxt_call_raise_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* An alert of that name was raised; whoever waits for one gets it. */
void fxt_triggers_on_alert(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES]);

/* Calls have raised the trigger of that index, so many times since the last call. */
void fxt_triggers_on_calls(struct fxt_controller *controller, uint32_t index, uint64_t times);

/* A process has died of a signal, or ended with a status. */
void fxt_triggers_on_end(struct fxt_controller *controller, bool by_signal, int number);

/* The trigger is to be the one of that index. */
void fxt_triggers_begin(struct fxt_controller *controller, uint32_t index, const struct fxt_trigger *trigger);

/* Those there are: an array of {"number", "trigger", "raised"}. What a process does itself is not told here.
 */
json_t *fxt_triggers_list(const struct fxt_controller *controller);

/* A recording has ended: says how often snapshots were asked for that were not taken. */
void fxt_triggers_end(struct fxt_controller *controller);

/* A recording begins, with triggers of its own: nothing has been raised. */
void fxt_triggers_renew(struct fxt_controller *controller);

/* Begins, and ends, to wait for what is to be done some time after it was raised. Without a timer that is
 * done at once. */
void fxt_triggers_open(struct fxt_controller *controller);
void fxt_triggers_close(struct fxt_controller *controller);

#endif

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

/* Begins, and ends, to wait for what is to be done some time after it was raised. Without a timer that is
 * done at once. */
void fxt_triggers_open(struct fxt_controller *controller);
void fxt_triggers_close(struct fxt_controller *controller);

#endif

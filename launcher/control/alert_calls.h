/*
 * Alerts: a program or a client raises one by name, and each goes to one client that waits for it, the oldest
 * alert to the one that has waited longest. What triggers have for it is done besides (trigger_calls.h).
 */
#ifndef FXT_LAUNCHER_CONTROL_ALERT_CALLS_H
#define FXT_LAUNCHER_CONTROL_ALERT_CALLS_H

#include "controller.h"

void fxt_call_watch_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* An alert of that name was raised. Where nobody waits it is kept (session/wakeup.h). */
void fxt_alert_raised(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES]);

/* The trigger of that index was, which may be without end: where nobody waits that is kept once. */
void fxt_alert_tell_trigger(struct fxt_controller *controller, uint32_t index);

/* The connection is being closed: it waits for no alerts any more. */
void fxt_alert_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif

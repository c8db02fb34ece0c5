/*
 * Alerts. A program or a client raises an alert by name, and each alert goes to one waiting
 * client: the oldest alert to the client that has waited longest. The actions of triggers
 * are carried out in addition (trigger_calls.h).
 */
#ifndef FXT_LAUNCHER_CONTROL_ALERT_CALLS_H
#define FXT_LAUNCHER_CONTROL_ALERT_CALLS_H

#include "controller.h"

void fxt_call_watch_alert(
        struct fxt_controller *controller, const struct fxt_request *request, json_t *params);

/* An alert of that name was raised. If no client waits, it is kept
 * (launcher/manager/wakeup.h). */
void fxt_alert_raised(struct fxt_controller *controller, const char name[FXT_ALERT_NAME_BYTES]);

/* The trigger of that index was raised. This may happen without end: if no client waits, it
 * is kept only once. */
void fxt_alert_report_trigger(struct fxt_controller *controller, uint32_t index);

/* The connection is being closed: it no longer waits for alerts. */
void fxt_alert_calls_closed(struct fxt_controller *controller, const struct fxt_connection *connection);

#endif

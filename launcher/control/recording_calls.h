/*
 * What a client of the control socket can do to the session's recording: start it, stop it, raise alerts and
 * wait for them (control.h lists the calls). Replies come once it is done.
 */
#ifndef FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H
#define FXT_LAUNCHER_CONTROL_RECORDING_CALLS_H

#include "rpc.h"

void fxt_steering_start(struct fxt_client *client, json_t *id, json_t *params);
void fxt_steering_stop(struct fxt_client *client, json_t *id, json_t *params);
void fxt_steering_watch_alert(struct fxt_client *client, json_t *id, json_t *params);
void fxt_steering_raise_alert(struct fxt_client *client, json_t *id, json_t *params);

/* Reads an array of names; those there is no room for are left out. NULL = none. Returns NULL, or what is
 * wrong. */
const char *fxt_steering_read_categories(json_t *value, struct fxt_categories *categories);

/* An alert was raised: what --trigger has for it is done, and it is delivered, now or to the next who asks.
 */
void fxt_steering_alert(struct fxt_control_socket *control, const char *name);

/* The session's state has changed. */
void fxt_steering_state_changed(struct fxt_control_socket *control);

/* Whether a reply is owed to the client. */
bool fxt_steering_is_awaited(const struct fxt_client *client);

/* The client is gone. */
void fxt_steering_forget(struct fxt_client *client);

/* The statistics of a provider, with the names of the controller's ProviderStats. What its buffer's header
 * says is the provider's and not believed: wrong numbers there are wrong numbers here. */
json_t *fxt_steering_statistics(const struct fxt_session *session);

#endif

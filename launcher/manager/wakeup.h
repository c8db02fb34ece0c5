/*
 * Lets the threads of the providers wake the main thread, which waits in epoll, after a
 * change of a provider or for an alert that a provider raised. The main thread takes alerts
 * when it gets to them. Up to then the latest FXT_ALERTS_KEPT are kept, and the others are
 * counted. Triggers raised by calls may come without end. They take no room from alerts:
 * only their number is kept, per trigger.
 */
#ifndef FXT_LAUNCHER_MANAGER_WAKEUP_H
#define FXT_LAUNCHER_MANAGER_WAKEUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "launcher/watch.h"
#include "writer/shared/shared.h"

#define FXT_ALERTS_KEPT 1024

/* A queue of the latest FXT_ALERTS_KEPT names. */
struct fxt_alerts {
	char name[FXT_ALERTS_KEPT][FXT_ALERT_NAME_BYTES];
	uint32_t first, count;
	uint32_t lost;                    /* dropped to make room */
	uint64_t triggered[FXT_TRIGGERS]; /* times that calls raised each of the session's
	                                   * triggers */
};

/* Adds a name; if the queue is full, the oldest name is dropped. */
void fxt_alerts_add(struct fxt_alerts *alerts, const char name[FXT_ALERT_NAME_BYTES]);

/* Takes the oldest alert. If there is none, takes a raised trigger by its name, once for
 * all times it was raised. False: there is neither. */
bool fxt_alerts_take(struct fxt_alerts *alerts, char name[FXT_ALERT_NAME_BYTES]);

struct fxt_wakeup {
	struct fxt_watch event; /* an eventfd in the epoll of the main thread */
	pthread_mutex_t lock;   /* for the alerts */
	struct fxt_alerts alerts;
};

/* Returns 0, or an errno value: nothing is left open then. After a wakeup the main thread
 * calls `woken` with `context`; one call may stand for several wakeups. */
int fxt_wakeup_open(struct fxt_wakeup *wakeup, int epoll, void (*woken)(struct fxt_watch *, void *context),
        void *context);

/* Wakes the main thread, from any thread; with the name of an alert, or NULL for none. Does
 * not wait. */
void fxt_wakeup_send(struct fxt_wakeup *wakeup, const char alert[FXT_ALERT_NAME_BYTES]);

/* The same for a trigger, given by its index, which calls have raised `times` times. */
void fxt_wakeup_trigger(struct fxt_wakeup *wakeup, uint32_t index, uint64_t times);

/* Takes the alerts that came since the last call; `woken` calls it. */
void fxt_wakeup_receive(struct fxt_wakeup *wakeup, struct fxt_alerts *alerts);

void fxt_wakeup_close(struct fxt_wakeup *wakeup);

#endif

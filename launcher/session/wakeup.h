/*
 * How the threads of the providers wake the main thread, which waits in epoll: that something has happened to
 * one of them, and the alerts that they raise. The main thread takes alerts when it gets to them; of those
 * that it has not taken yet the latest FXT_ALERTS_KEPT are kept, and the others counted. Triggers that calls
 * raise may come without end, and take no room from them: of each it is kept how often it was.
 */
#ifndef FXT_LAUNCHER_SESSION_WAKEUP_H
#define FXT_LAUNCHER_SESSION_WAKEUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "launcher/watch.h"
#include "writer/shared.h"

#define FXT_ALERTS_KEPT 1024

/* A queue of the latest FXT_ALERTS_KEPT names. */
struct fxt_alerts {
	char name[FXT_ALERTS_KEPT][FXT_ALERT_NAME_BYTES];
	uint32_t first, count;
	uint32_t lost;                    /* made room for others */
	uint64_t triggered[FXT_TRIGGERS]; /* how often calls have raised each of the session's triggers */
};

/* Adds a name; the oldest makes room for it. */
void fxt_alerts_add(struct fxt_alerts *alerts, const char name[FXT_ALERT_NAME_BYTES]);

/* Takes the oldest, or else a trigger by its name, however often it was raised; false: there is none. */
bool fxt_alerts_take(struct fxt_alerts *alerts, char name[FXT_ALERT_NAME_BYTES]);

struct fxt_wakeup {
	struct fxt_watch event; /* an eventfd in the epoll of the main thread */
	pthread_mutex_t lock;   /* of the alerts */
	struct fxt_alerts alerts;
};

/* Returns 0, or an errno value: nothing is left open then. After each wakeup the main thread calls `woken`
 * with `context`; several wakeups may be told by one call. */
int fxt_wakeup_open(struct fxt_wakeup *wakeup, int epoll, void (*woken)(struct fxt_watch *, void *context),
        void *context);

/* Wakes the main thread, from any thread; with the name of an alert, or NULL for none. Does not wait. */
void fxt_wakeup_send(struct fxt_wakeup *wakeup, const char alert[FXT_ALERT_NAME_BYTES]);

/* The same, with a trigger, by its index, which calls have raised so many times. */
void fxt_wakeup_trigger(struct fxt_wakeup *wakeup, uint32_t index, uint64_t times);

/* Called by `woken`: takes the alerts that came since the last call. */
void fxt_wakeup_receive(struct fxt_wakeup *wakeup, struct fxt_alerts *alerts);

void fxt_wakeup_close(struct fxt_wakeup *wakeup);

#endif

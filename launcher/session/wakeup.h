/*
 * What the threads of the providers tell the main thread: that something has happened to one of them, and the
 * alerts they raise. Of alerts the main thread has not come to yet the latest are kept.
 */
#ifndef FXT_LAUNCHER_SESSION_WAKEUP_H
#define FXT_LAUNCHER_SESSION_WAKEUP_H

#include <pthread.h>
#include <stdint.h>
#include "launcher/watch.h"
#include "writer/shared.h"

#define FXT_ALERTS_KEPT 16

/* A queue of the latest FXT_ALERTS_KEPT names. */
struct fxt_alerts {
	char name[FXT_ALERTS_KEPT][FXT_ALERT_NAME_BYTES];
	uint32_t first, count;
};

/* Adds a name; the oldest makes room for it. */
void fxt_alerts_add(struct fxt_alerts *alerts, const char name[FXT_ALERT_NAME_BYTES]);

/* Takes the oldest, which is there. */
void fxt_alerts_take(struct fxt_alerts *alerts, char name[FXT_ALERT_NAME_BYTES]);

struct fxt_bell {
	struct fxt_watch rung; /* an eventfd */
	pthread_mutex_t lock;  /* of the alerts */
	struct fxt_alerts alerts;
};

/* Returns 0, or an errno value. `rung` is called, with `context`, in the main thread after each ring. */
int fxt_bell_hang(
        struct fxt_bell *bell, int epoll, void (*rung)(struct fxt_watch *, void *context), void *context);

/* From any thread; `alert` NULL: only look. */
void fxt_bell_ring(struct fxt_bell *bell, const char alert[FXT_ALERT_NAME_BYTES]);

/* In `rung`: takes the alerts that came. */
void fxt_bell_answer(struct fxt_bell *bell, struct fxt_alerts *alerts);

void fxt_bell_remove(struct fxt_bell *bell);

#endif

#include "wakeup.h"
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "launcher/options.h"

void fxt_alerts_add(struct fxt_alerts *alerts, const char name[FXT_ALERT_NAME_BYTES])
{
	uint32_t at = (alerts->first + alerts->count) % FXT_ALERTS_KEPT;

	memcpy(alerts->name[at], name, FXT_ALERT_NAME_BYTES);
	if (alerts->count < FXT_ALERTS_KEPT) {
		alerts->count++;
	} else {
		alerts->first = (alerts->first + 1) % FXT_ALERTS_KEPT;
		alerts->lost++;
	}
}

bool fxt_alerts_take(struct fxt_alerts *alerts, char name[FXT_ALERT_NAME_BYTES])
{
	unsigned trigger = 0;

	while (alerts->count == 0 && trigger < FXT_TRIGGERS && alerts->triggered[trigger] == 0)
		trigger++;
	if (trigger == FXT_TRIGGERS)
		return false;
	if (alerts->count == 0) {
		fxt_trigger_name(name, trigger);
		alerts->triggered[trigger] = 0;
		return true;
	}
	memcpy(name, alerts->name[alerts->first], FXT_ALERT_NAME_BYTES);
	alerts->first = (alerts->first + 1) % FXT_ALERTS_KEPT;
	alerts->count--;
	return true;
}

int fxt_wakeup_open(
        struct fxt_wakeup *wakeup, int epoll, void (*woken)(struct fxt_watch *, void *context), void *context)
{
	int error;

	*wakeup = (struct fxt_wakeup){.event = {eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), woken, context}};
	if (wakeup->event.fd < 0)
		return errno;
	pthread_mutex_init(&wakeup->lock, NULL);
	if (fxt_watch_add(epoll, &wakeup->event) == 0)
		return 0;
	error = errno;
	close(wakeup->event.fd);
	return error;
}

static void wakeup_signal(const struct fxt_wakeup *wakeup)
{
	const uint64_t one = 1;

	/* Fails only after 2^64 - 2 wakeups that were not received: a wakeup is pending
	 * then anyway. */
	(void)!write(wakeup->event.fd, &one, sizeof(one));
}

void fxt_wakeup_send(struct fxt_wakeup *wakeup, const char alert[FXT_ALERT_NAME_BYTES])
{
	if (alert) {
		pthread_mutex_lock(&wakeup->lock);
		fxt_alerts_add(&wakeup->alerts, alert);
		pthread_mutex_unlock(&wakeup->lock);
	}
	wakeup_signal(wakeup);
}

void fxt_wakeup_trigger(struct fxt_wakeup *wakeup, uint32_t index, uint64_t times)
{
	pthread_mutex_lock(&wakeup->lock);
	wakeup->alerts.triggered[index] += times;
	pthread_mutex_unlock(&wakeup->lock);
	wakeup_signal(wakeup);
}

void fxt_wakeup_receive(struct fxt_wakeup *wakeup, struct fxt_alerts *alerts)
{
	uint64_t wakeups;

	/* The event is reset before the alerts are taken: an alert that comes in between
	 * sets it again. */
	(void)!read(wakeup->event.fd, &wakeups, sizeof(wakeups));
	pthread_mutex_lock(&wakeup->lock);
	*alerts = wakeup->alerts;
	wakeup->alerts.count = wakeup->alerts.lost = 0;
	memset(wakeup->alerts.triggered, 0, sizeof(wakeup->alerts.triggered));
	pthread_mutex_unlock(&wakeup->lock);
}

void fxt_wakeup_close(struct fxt_wakeup *wakeup)
{
	close(wakeup->event.fd);
}

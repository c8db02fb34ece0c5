#include "wakeup.h"
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void fxt_alerts_add(struct fxt_alerts *alerts, const char name[FXT_ALERT_NAME_BYTES])
{
	uint32_t at = (alerts->first + alerts->count) % FXT_ALERTS_KEPT;

	memcpy(alerts->name[at], name, FXT_ALERT_NAME_BYTES);
	if (alerts->count < FXT_ALERTS_KEPT)
		alerts->count++;
	else
		alerts->first = (alerts->first + 1) % FXT_ALERTS_KEPT;
}

void fxt_alerts_take(struct fxt_alerts *alerts, char name[FXT_ALERT_NAME_BYTES])
{
	memcpy(name, alerts->name[alerts->first], FXT_ALERT_NAME_BYTES);
	alerts->first = (alerts->first + 1) % FXT_ALERTS_KEPT;
	alerts->count--;
}

int fxt_bell_hang(
        struct fxt_bell *bell, int epoll, void (*rung)(struct fxt_watch *, void *context), void *context)
{
	int error;

	*bell = (struct fxt_bell){.rung = {eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), rung, context}};
	if (bell->rung.fd < 0)
		return errno;
	pthread_mutex_init(&bell->lock, NULL);
	if (fxt_watch_add(epoll, &bell->rung) == 0)
		return 0;
	error = errno;
	close(bell->rung.fd);
	return error;
}

void fxt_bell_ring(struct fxt_bell *bell, const char alert[FXT_ALERT_NAME_BYTES])
{
	const uint64_t one = 1;

	if (alert) {
		pthread_mutex_lock(&bell->lock);
		fxt_alerts_add(&bell->alerts, alert);
		pthread_mutex_unlock(&bell->lock);
	}
	/* Fails only where it was rung 2^64 times without an answer. */
	(void)!write(bell->rung.fd, &one, sizeof(one));
}

void fxt_bell_answer(struct fxt_bell *bell, struct fxt_alerts *alerts)
{
	uint64_t rings;

	/* Before the alerts are taken: one that comes later rings anew. */
	(void)!read(bell->rung.fd, &rings, sizeof(rings));
	pthread_mutex_lock(&bell->lock);
	*alerts = bell->alerts;
	bell->alerts.count = 0;
	pthread_mutex_unlock(&bell->lock);
}

void fxt_bell_remove(struct fxt_bell *bell)
{
	close(bell->rung.fd);
}

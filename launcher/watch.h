/*
 * The descriptors that the main thread waits for, in one epoll instance, and the handlers
 * for readable ones. Events are taken one at a time, so a handler may remove and free any
 * watch, including its own.
 */
#ifndef FXT_LAUNCHER_WATCH_H
#define FXT_LAUNCHER_WATCH_H

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

struct fxt_watch {
	int fd;
	void (*ready)(struct fxt_watch *watch, void *context);
	void *context;
};

/* The structure that a watch is a member of. */
#define fxt_watch_owner(watch, type, member) ((type *)((char *)(watch)-offsetof(type, member)))

/* Makes fxt_watch_wait() call *ready whenever the descriptor is readable. The caller has
 * filled in the watch and keeps it at its address; the descriptor stays the caller's.
 * Returns 0, or an errno value. */
static inline int fxt_watch_add(int epoll, struct fxt_watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? 0 : errno;
}

/* Removes the watch. It must be called before the descriptor is closed: a copy in another
 * process would keep the descriptor in the epoll instance. A watch that was not added is no
 * error. */
static inline void fxt_watch_remove(int epoll, const struct fxt_watch *watch)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, watch->fd, NULL);
}

/* Waits at most so many milliseconds (-1: forever) for one event and handles it. A signal
 * ends the wait. */
static inline void fxt_watch_wait(int epoll, int milliseconds)
{
	struct epoll_event event;

	if (epoll_wait(epoll, &event, 1, milliseconds) == 1) {
		struct fxt_watch *watch = event.data.ptr;

		watch->ready(watch, watch->context);
	}
}

#endif

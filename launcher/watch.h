/*
 * The descriptors the main thread waits for, in one epoll instance, and what is to be done once one is
 * readable. Events are taken one at a time, so a handler may remove and free any watch, its own too.
 */
#ifndef FXT_LAUNCHER_WATCH_H
#define FXT_LAUNCHER_WATCH_H

#include <stddef.h>
#include <sys/epoll.h>

struct fxt_watch {
	int fd;
	void (*ready)(struct fxt_watch *watch, void *context);
	void *context;
};

/* The structure that a watch is a member of. */
#define fxt_watch_owner(watch, type, member) ((type *)((char *)(watch)-offsetof(type, member)))

/* Returns 0, or -1 and errno. The caller has filled in the watch; the descriptor stays the caller's. */
static inline int fxt_watch_add(int epoll, struct fxt_watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, watch->fd, &event);
}

/* Before the descriptor is closed. One that is not watched is no error. */
static inline void fxt_watch_remove(int epoll, const struct fxt_watch *watch)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, watch->fd, NULL);
}

/* Waits at most so many milliseconds for one event and handles it. */
static inline void fxt_watch_wait(int epoll, int milliseconds)
{
	struct epoll_event event;

	if (epoll_wait(epoll, &event, 1, milliseconds) == 1) {
		struct fxt_watch *watch = event.data.ptr;

		watch->ready(watch, watch->context);
	}
}

#endif

/* Waits for several descriptors at once. Prints for each wait its function, its call and what
 * it waits for: the first three descriptors with their files, or with both addresses of a
 * connection. */
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include "ends.h"

#define HOOKED __attribute__((noinline))
enum { WAIT_US = 200000, PIPES = 20, FAR = 900, MANY = 300 };

static int pipes[PIPES][2], tcp[2], epoll;
static struct pollfd polled[MANY];

static void name(void (*print)(int fd), int fd, const char *next)
{
	printf("fd %d (", fd);
	print(fd);
	printf(")%s", next);
}

/* A child writes a byte into the first pipe later, and the wait takes it. */
static void during(int (*wait)(void))
{
	char byte;

	puts("");
	fflush(stdout);
	if (fork() == 0) {
		usleep(WAIT_US);
		_exit(write(pipes[0][1], "", 1) != 1);
	}
	if (wait() < 1 || read(pipes[0][0], &byte, 1) != 1)
		exit(1);
}

HOOKED static int poll_one(void)
{
	return poll(polled, 1, -1);
}

HOOKED static int poll_two(void)
{
	return poll(polled, 2, -1);
}

HOOKED static int poll_twenty(void)
{
	return poll(polled, PIPES, -1);
}

HOOKED static int poll_many(void)
{
	return ppoll(polled, MANY, NULL, NULL);
}

HOOKED static int select_three(void)
{
	fd_set reads, others;

	FD_ZERO(&reads);
	FD_ZERO(&others);
	FD_SET(pipes[0][0], &reads);
	FD_SET(tcp[0], &reads);
	FD_SET(tcp[0], &others);
	FD_SET(FAR, &others);
	return select(FAR + 1, &reads, NULL, &others, NULL);
}

HOOKED static int pselect_one(void)
{
	fd_set reads;

	FD_ZERO(&reads);
	FD_SET(pipes[0][0], &reads);
	return pselect(FD_SETSIZE, &reads, NULL, NULL, NULL, NULL);
}

HOOKED static int epoll_one(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, -1);
}

int main(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int first;

	for (int i = 0; i < PIPES; i++)
		if (pipe(pipes[i]))
			return 1;
	if (connect_ends(tcp) || dup2(tcp[1], FAR) != FAR)
		return 1;
	for (int i = 0; i < MANY; i++)
		polled[i] = (struct pollfd){.fd = pipes[i % PIPES][0], .events = POLLIN};
	first = polled[0].fd;
	polled[1].fd = tcp[0];
	polled[2].fd = -1; /* none: the kernel skips it */

	printf("poll_one\tpoll\t");
	name(print_link, first, "");
	during(poll_one);
	printf("poll_two\tpoll\t");
	name(print_link, first, " and ");
	name(print_tcp, tcp[0], "");
	during(poll_two);
	printf("poll_twenty\tpoll\t");
	name(print_link, first, ", ");
	name(print_tcp, tcp[0], ", ");
	name(print_link, polled[3].fd, " and 16 more");
	during(poll_twenty);
	printf("poll_many\tppoll\t");
	name(print_link, first, ", ");
	name(print_tcp, tcp[0], ", ");
	name(print_link, polled[3].fd, " and 252 or more others");
	during(poll_many);
	printf("select_three\tselect\t");
	name(print_link, first, ", ");
	name(print_tcp, tcp[0], " and ");
	name(print_tcp, FAR, "");
	during(select_three);
	printf("pselect_one\tpselect\t");
	name(print_link, first, "");
	during(pselect_one);
	epoll = epoll_create1(0);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, first, &event))
		return 1;
	printf("epoll_one\tepoll_wait\t");
	name(print_link, epoll, "");
	during(epoll_one);
	while (wait(NULL) > 0)
		;
	return 0;
}

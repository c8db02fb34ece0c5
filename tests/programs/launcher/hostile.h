/*
 * The handshake and the packets of a provider, written by hand, for programs that
 * misbehave. The functions print what they received, a line each: "closed" (the manager
 * hung up), "welcome STATUS", "quit" (it shall fall quiet). Link it statically, so that no
 * agent gets into it.
 */
#ifndef FXT_TESTS_HOSTILE_H
#define FXT_TESTS_HOSTILE_H

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "writer/shared/atomics.h"
#include "writer/shared/buffer.h"
#include "writer/shared/shared.h"

static uint8_t *buffer;
static uint64_t buffer_bytes;
static struct fxt_control *control;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_connection(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv(FXT_SOCKET_ENVIRONMENT));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail("connect");
	return fd;
}

static struct fxt_hello good_hello(void)
{
	return (struct fxt_hello){.magic = FXT_HELLO_MAGIC,
	        .version = FXT_SHARED_VERSION,
	        .pid = (uint32_t)getpid(),
	        .tid = (uint32_t)getpid(),
	        .name_bytes = 7,
	        .name = "hostile"};
}

/* Sends anything as a hello and prints what comes back; maps what a welcome brings. */
static void greet(const void *hello, size_t bytes)
{
	struct fxt_welcome welcome;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} rights;
	struct iovec data = {&welcome, sizeof(welcome)};
	struct msghdr message = {
	        &(struct sockaddr_un){0}, 0, &data, 1, rights.bytes, sizeof(rights.bytes), 0};
	int fds[2], connection = open_connection();
	ssize_t received;

	/* One of another user is hung up on before it has said anything. */
	if (send(connection, hello, bytes, MSG_NOSIGNAL) != (ssize_t)bytes && errno != EPIPE)
		fail("send");
	received = recvmsg(connection, &message, 0);
	if (received <= 0) {
		puts("closed");
	} else {
		printf("welcome %u\n", welcome.status);
		if (welcome.status != FXT_WELCOME_OK)
			return;
		memcpy(fds, CMSG_DATA(&rights.header), sizeof(fds));
		buffer_bytes = welcome.buffer_bytes;
		buffer = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
		control = mmap(NULL, welcome.control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
		if (buffer == MAP_FAILED || control == MAP_FAILED)
			fail("mmap");
	}
	close(connection);
}

static void enter(void)
{
	struct fxt_hello hello = good_hello();

	greet(&hello, sizeof(hello));
	control->buffer_address = (uint64_t)buffer;
	control->control_address = (uint64_t)control;
	fxt_buffer_clear((struct fxt_buffer_header *)buffer, control->buffering_mode, buffer_bytes);
}

static void put(struct fxt_packet packet)
{
	struct fxt_ring *ring = &control->to_manager;

	ring->packet[ring->written % FXT_FIFO_DEPTH] = packet;
	store_release(&ring->written, ring->written + 1);
	syscall(SYS_futex, &ring->written, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool is_told_to_quit(void)
{
	return FXT_SESSION_COMMAND(load_acquire(&control->session_command)) == FXT_COMMAND_QUIT;
}

/* Waits to be aborted. The manager looks at the ring by itself, sooner or later. */
static void await_quit(void)
{
	const struct timespec millisecond = {0, 1000000};

	for (int i = 0; i < 20000 && !is_told_to_quit(); i++)
		nanosleep(&millisecond, NULL);
	puts(is_told_to_quit() ? "quit" : "never told to quit");
}

#endif

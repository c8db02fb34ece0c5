/*
 * Two programs that talk over TCP: talk serve PORT_FILE, talk ask PORT_FILE. Each message has
 * its number in 8 bytes, and is sent and received in one of many ways. The function sends() is
 * called before a message is sent, and receives() after it was received. For each of these
 * calls the program prints its name, the message's number, and CLOCK_REALTIME before and
 * after the call; that clock is the same in all time namespaces.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN    __attribute__((no_instrument_function))
#define CHECK(x) ((x) ? (void)0 : (perror(#x), exit(3)))

enum { WAYS = 9, ROUNDS = 20, BULK = 4 << 20 };

static volatile uint64_t at;

__attribute__((noinline)) static void sends(void)
{
	at++;
}

__attribute__((noinline)) static void receives(void)
{
	at++;
}

PLAIN static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

PLAIN static void moment(void (*call)(void), const char *name, uint64_t number)
{
	uint64_t before = now();

	call();
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, number, before, now());
}

/* ---- ways to send and to receive 8 bytes ---- */

PLAIN static void by_child(int fd, uint64_t word)
{
	pid_t child = fork();

	if (child == 0)
		_exit(send(fd, &word, 8, 0) != 8);
	int status;

	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

PLAIN static void by_duplicate(int fd, uint64_t word)
{
	int other = dup(fd);

	CHECK(write(other, &word, 8) == 8 && close(other) == 0);
}

PLAIN static void by_file(int fd, uint64_t word)
{
	int file = memfd_create("word", 0);
	off_t from = 0;

	CHECK(write(file, &word, 8) == 8 && sendfile(fd, file, &from, 8) == 8 && close(file) == 0);
}

PLAIN static void by_pipe(int fd, uint64_t word)
{
	int ends[2];

	CHECK(pipe(ends) == 0 && write(ends[1], &word, 8) == 8);
	CHECK(splice(ends[0], NULL, fd, NULL, 8, 0) == 8 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

/* The C library's streams write by calls that nothing interposes. */
PLAIN static void by_stream(int fd, uint64_t word)
{
	FILE *stream = fdopen(dup(fd), "w");

	CHECK(stream && fwrite(&word, 8, 1, stream) == 1 && fclose(stream) == 0);
}

PLAIN static void give(int fd, uint64_t word)
{
	struct iovec parts[2] = {{&word, 3}, {(char *)&word + 3, 5}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	moment(sends, "sends", word);
	switch (word % WAYS) {
	case 0:
		CHECK(send(fd, &word, 8, 0) == 8);
		break;
	case 1:
		CHECK(write(fd, &word, 8) == 8);
		break;
	case 2:
		CHECK(writev(fd, parts, 2) == 8);
		break;
	case 3:
		CHECK(sendmsg(fd, &message, 0) == 8);
		break;
	case 4:
		by_child(fd, word);
		break;
	case 5:
		by_duplicate(fd, word);
		break;
	case 6:
		by_file(fd, word);
		break;
	case 7:
		by_pipe(fd, word);
		break;
	case 8:
		by_stream(fd, word);
		break;
	}
}

PLAIN static ssize_t take_some(int fd, char *to, size_t bytes, uint64_t way)
{
	struct iovec part = {to, bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	switch (way % 4) {
	case 0:
		return recv(fd, to, bytes, 0);
	case 1:
		return read(fd, to, bytes);
	case 2:
		return readv(fd, &part, 1);
	default:
		return recvmsg(fd, &message, 0);
	}
}

PLAIN static void take(int fd, uint64_t word)
{
	uint64_t got;

	for (size_t bytes = 0; bytes < 8;) {
		ssize_t some = take_some(fd, (char *)&got + bytes, 8 - bytes, word);

		CHECK(some > 0);
		bytes += (size_t)some;
	}
	CHECK(got == word);
	moment(receives, "receives", word);
}

/* ---- more than the socket has room for ---- */

PLAIN static void give_bulk(int fd)
{
	char *bulk = calloc(1, BULK);
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

	CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	for (size_t bytes = 0; bytes < BULK;) {
		ssize_t some = write(fd, bulk + bytes, BULK - bytes);

		CHECK(some > 0 || errno == EAGAIN);
		bytes += some > 0 ? (size_t)some : 0;
		CHECK(poll(&poll_fd, 1, -1) == 1);
	}
	CHECK(fcntl(fd, F_SETFL, 0) == 0);
	free(bulk);
}

PLAIN static void take_bulk(int fd)
{
	char *bulk = calloc(1, BULK);

	for (size_t bytes = 0; bytes < BULK;) {
		ssize_t some = recv(fd, bulk, BULK - bytes, 0);

		CHECK(some > 0);
		bytes += (size_t)some;
	}
	free(bulk);
}

PLAIN static void talk(int fd, bool is_first, uint64_t number)
{
	int one = 1;

	CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
	for (uint64_t end = number + WAYS * ROUNDS; number < end; number += 2)
		for (uint64_t turn = 0; turn < 2; turn++)
			(turn == is_first ? take : give)(fd, number + turn);
	(is_first ? give_bulk : take_bulk)(fd);
	(is_first ? take_bulk : give_bulk)(fd);
	CHECK(close(fd) == 0);
}

PLAIN int main(int argc, char **argv)
{
	struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bool is_server = argc > 1 && !strcmp(argv[1], "serve");
	socklen_t bytes = sizeof(own);
	FILE *file;

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	CHECK(argc == 3);
	/* The peer has an address of IPv4, which the server sees as one of IPv6. Both
	 * connections have the same descriptor. */
	if (is_server) {
		int fd = socket(AF_INET6, SOCK_STREAM, 0);

		CHECK(bind(fd, (struct sockaddr *)&own, bytes) == 0 && listen(fd, 2) == 0);
		CHECK(getsockname(fd, (struct sockaddr *)&own, &bytes) == 0);
		file = fopen(argv[2], "w");
		CHECK(file && fprintf(file, "%d\n", ntohs(own.sin6_port)) > 0 && fclose(file) == 0);
		for (uint64_t i = 0; i < 2; i++)
			talk(accept(fd, NULL, NULL), false, 1000 * i);
		return 0;
	}
	int port;

	file = fopen(argv[2], "r"); /* a pipe: opens once the server has a port */
	CHECK(file && fscanf(file, "%d", &port) == 1 && fclose(file) == 0);
	peer.sin_port = htons((uint16_t)port);
	for (uint64_t i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		CHECK(connect(fd, (struct sockaddr *)&peer, sizeof(peer)) == 0);
		talk(fd, true, 1000 * i);
	}
	return 0;
}

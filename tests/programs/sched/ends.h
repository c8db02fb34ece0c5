/* Ends of connections, and what descriptors are as /proc and the sockets themselves say. */
#ifndef FXT_TEST_ENDS_H
#define FXT_TEST_ENDS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Prints the file as /proc names it. */
static inline void print_link(int fd)
{
	char path[32], target[4096];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bytes = readlink(path, target, sizeof(target));
	printf("%.*s", (int)bytes, target);
}

/* Prints both addresses of a connection. */
static inline void print_tcp(int fd)
{
	struct sockaddr_in own, peer;
	socklen_t bytes = sizeof(own);

	getsockname(fd, (struct sockaddr *)&own, &bytes);
	bytes = sizeof(peer);
	getpeername(fd, (struct sockaddr *)&peer, &bytes);
	printf("tcp 127.0.0.1:%d to 127.0.0.1:%d", ntohs(own.sin_port), ntohs(peer.sin_port));
}

/* Makes both ends of a connection. */
static inline int connect_ends(int ends[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 1) ||
	        getsockname(listener, (struct sockaddr *)&address, &bytes) ||
	        connect(ends[0], (struct sockaddr *)&address, bytes))
		return -1;
	ends[1] = accept(listener, NULL, NULL);
	return ends[1] < 0 ? -1 : 0;
}

#endif

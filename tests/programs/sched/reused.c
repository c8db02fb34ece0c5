/* Waits for the same descriptor as that of a pipe, of sockets and of a fifo, and prints of each
 * wait its function, its call and the file as /proc names it, or both addresses as the socket
 * says. Its argument is the fifo. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOOKED __attribute__((noinline))
enum { DESCRIPTOR = 99, WAIT_US = 200000 };

static void name(const char *function, const char *call)
{
	char path[32], target[4096];
	ssize_t bytes;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", DESCRIPTOR);
	bytes = readlink(path, target, sizeof(target));
	printf("%s\t%s\t%.*s\n", function, call, (int)bytes, target);
}

static void name_tcp(const char *function, const char *call)
{
	struct sockaddr_in own, peer;
	socklen_t bytes = sizeof(own);

	getsockname(DESCRIPTOR, (struct sockaddr *)&own, &bytes);
	bytes = sizeof(peer);
	getpeername(DESCRIPTOR, (struct sockaddr *)&peer, &bytes);
	printf("%s\t%s\ttcp 127.0.0.1:%d to 127.0.0.1:%d\n", function, call, ntohs(own.sin_port),
	        ntohs(peer.sin_port));
}

/* Both ends of a connection. */
static int connect_ends(int ends[2])
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

/* A child writes a byte later. */
static void answer(int from, int to)
{
	if (fork() == 0) {
		close(from);
		usleep(WAIT_US);
		_exit(write(to, "", 1) != 1);
	}
	dup2(from, DESCRIPTOR);
}

static char byte;

HOOKED static ssize_t from_pipe(void)
{
	return read(DESCRIPTOR, &byte, 1);
}

HOOKED static ssize_t from_socket(void)
{
	return recv(DESCRIPTOR, &byte, 1, 0);
}

HOOKED static ssize_t from_tcp(void)
{
	return recv(DESCRIPTOR, &byte, 1, 0);
}

HOOKED static ssize_t from_fifo(void)
{
	return read(DESCRIPTOR, &byte, 1);
}

int main(int count, char **arguments)
{
	int pipes[2], sockets[2], tcp[2];

	if (count < 2 || pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || connect_ends(tcp))
		return 1;
	answer(pipes[0], pipes[1]);
	name("from_pipe", "read");
	from_pipe();
	answer(sockets[0], sockets[1]);
	name("from_socket", "recv");
	from_socket();
	answer(tcp[0], tcp[1]);
	name_tcp("from_tcp", "recv");
	from_tcp();
	int fifo = open(arguments[1], O_RDWR | O_CLOEXEC);
	answer(fifo, dup(fifo));
	name("from_fifo", "read");
	from_fifo();
	while (wait(NULL) > 0)
		;
	return 0;
}

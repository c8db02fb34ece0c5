/* Waits for one descriptor that is first of a pipe, then of sockets, then of a fifo. Prints for
 * each wait its function, its call and the descriptor, with the file as /proc names it or with
 * both addresses as the socket says. Its argument is the fifo. */
#include <fcntl.h>
#include <sys/wait.h>
#include "ends.h"

#define HOOKED __attribute__((noinline))
enum { DESCRIPTOR = 99, WAIT_US = 200000 };

static void name(const char *function, const char *call, void (*print)(int fd))
{
	printf("%s\t%s\tfd %d (", function, call, DESCRIPTOR);
	print(DESCRIPTOR);
	puts(")");
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

HOOKED static ssize_t from_fifo_again(void)
{
	return read(DESCRIPTOR, &byte, 1);
}

int main(int count, char **arguments)
{
	int pipes[2], sockets[2], tcp[2];

	if (count < 2 || pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || connect_ends(tcp))
		return 1;
	answer(pipes[0], pipes[1]);
	name("from_pipe", "read", print_link);
	from_pipe();
	answer(sockets[0], sockets[1]);
	name("from_socket", "recv", print_link);
	from_socket();
	answer(tcp[0], tcp[1]);
	name("from_tcp", "recv", print_tcp);
	from_tcp();
	int fifo = open(arguments[1], O_RDWR | O_CLOEXEC);
	answer(fifo, dup(fifo));
	name("from_fifo", "read", print_link);
	from_fifo();
	answer(fifo, dup(fifo));
	name("from_fifo_again", "read", print_link);
	from_fifo_again();
	while (wait(NULL) > 0)
		;
	return 0;
}

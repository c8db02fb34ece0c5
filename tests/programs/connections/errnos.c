/* Prints the result and errno of calls that send and receive, on descriptors of many kinds. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SAY(call) (errno = 77, result = (long)(call), printf("%s = %ld, errno %d\n", #call, result, errno))

int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int ends[2], pair[2], server = socket(AF_INET, SOCK_STREAM, 0),
	                      client = socket(AF_INET, SOCK_STREAM, 0),
	                      packets = socket(AF_INET, SOCK_DGRAM, 0), peer;
	char word[8] = "message";
	long result;

	if (bind(server, (struct sockaddr *)&address, bytes) != 0 || listen(server, 1) != 0 ||
	        getsockname(server, (struct sockaddr *)&address, &bytes) != 0 || pipe(ends) != 0 ||
	        socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 3;
	SAY(send(client, word, 8, MSG_NOSIGNAL));
	SAY(connect(client, (struct sockaddr *)&address, bytes));
	peer = accept(server, NULL, NULL);
	SAY(connect(client, (struct sockaddr *)&address, bytes));
	SAY(send(client, word, 8, 0));
	SAY(recv(peer, word, 8, MSG_WAITALL));
	SAY(recv(peer, word, 8, MSG_DONTWAIT));
	SAY(write(ends[1], word, 8));
	SAY(read(ends[0], word, 8));
	SAY(send(ends[1], word, 8, 0));
	SAY(write(pair[0], word, 8));
	SAY(sendto(packets, word, 8, 0, (struct sockaddr *)&address, bytes));
	SAY(write(-1, word, 8));
	shutdown(client, SHUT_WR);
	SAY(send(client, word, 8, MSG_NOSIGNAL));
	SAY(read(peer, word, 8));
	return 0;
}

/*
 * Functions that wait for time or for a descriptor, each in one call. Another thread lets it go on some time
 * after the kernel has said that it sleeps. For each prints: the function, the call, its descriptor or -, how
 * long it took by the clock around it, and how long it waited at least. Then reads much that is there already
 * and prints how many of those reads took as long as a wait, by the clocks around them. With an argument the
 * last wait is never let go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { READS = 100000, WHILE_NS = 3000000, SHORTEST_NS = 10000 };

static int tid, ends[2], pair[2], listening, polling;
static volatile int turn;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes = sizeof(address);

UNTRACED static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- the waits ---- */

static const struct timespec a_while = {.tv_nsec = WHILE_NS};

static void naps(void)
{
	nanosleep(&a_while, NULL);
}

static void naps_by_clock(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &a_while, NULL);
}

static void naps_long(void)
{
	usleep(WHILE_NS / 1000);
}

static void naps_as_c11(void)
{
	thrd_sleep(&a_while, NULL);
}

static void polls(void)
{
	struct pollfd fds[2] = {{ends[0], POLLIN, 0}, {pair[0], POLLIN, 0}};

	poll(fds, 2, -1);
}

static void polls_masked(void)
{
	struct pollfd fd = {ends[0], POLLIN, 0};

	ppoll(&fd, 1, NULL, NULL);
}

static void selects(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void selects_masked(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	pselect(ends[0] + 1, &set, NULL, NULL, NULL, NULL);
}

static void awaits_events(void)
{
	struct epoll_event event;

	epoll_wait(polling, &event, 1, -1);
}

static void awaits_events_masked(void)
{
	struct epoll_event event;

	epoll_pwait(polling, &event, 1, -1, NULL);
}

static char byte[8];
static struct iovec part = {byte, 1};
static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

static void reads(void)
{
	if (read(ends[0], byte, 1) != 1)
		abort();
}

static void reads_parts(void)
{
	if (readv(ends[0], &part, 1) != 1)
		abort();
}

static void receives(void)
{
	recv(pair[0], byte, 1, 0);
}

static void receives_from(void)
{
	recvfrom(pair[0], byte, 1, 0, NULL, NULL);
}

static void receives_message(void)
{
	recvmsg(pair[0], &message, 0);
}

static void accepts(void)
{
	close(accept(listening, NULL, NULL));
}

static void accepts_with_flags(void)
{
	close(accept4(listening, NULL, NULL, SOCK_CLOEXEC));
}

/* All that the pipe takes. */
static void writes(void)
{
	static char much[1 << 17];

	if (write(ends[1], much, sizeof(much)) != sizeof(much))
		abort();
}

/* ---- what lets them go on ---- */

UNTRACED static void let_pipe(void)
{
	if (write(ends[1], byte, 1) != 1)
		abort();
}

UNTRACED static void let_socket(void)
{
	send(pair[1], byte, 1, 0);
}

UNTRACED static void let_in(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	connect(fd, (struct sockaddr *)&address, address_bytes);
	close(fd);
}

UNTRACED static void empty_pipe(void)
{
	char some[4096];

	for (int left = 1 << 17; left > 0;)
		left -= (int)read(ends[0], some, sizeof(some));
}

static const struct wait {
	const char *function, *call;
	void (*wait)(void);
	const int *fd;
	void (*let_go)(void);
} waits[] = {
        {"naps", "nanosleep", naps, NULL, NULL},
        {"naps_by_clock", "clock_nanosleep", naps_by_clock, NULL, NULL},
        {"naps_long", "usleep", naps_long, NULL, NULL},
        {"naps_as_c11", "thrd_sleep", naps_as_c11, NULL, NULL},
        {"polls", "poll", polls, NULL, let_pipe},
        {"polls_masked", "ppoll", polls_masked, NULL, let_pipe},
        {"selects", "select", selects, NULL, let_pipe},
        {"selects_masked", "pselect", selects_masked, NULL, let_pipe},
        {"awaits_events", "epoll_wait", awaits_events, &polling, let_pipe},
        {"awaits_events_masked", "epoll_pwait", awaits_events_masked, &polling, let_pipe},
        {"reads", "read", reads, &ends[0], let_pipe},
        {"reads_parts", "readv", reads_parts, &ends[0], let_pipe},
        {"receives", "recv", receives, &pair[0], let_socket},
        {"receives_from", "recvfrom", receives_from, &pair[0], let_socket},
        {"receives_message", "recvmsg", receives_message, &pair[0], let_socket},
        {"accepts", "accept", accepts, &listening, let_in},
        {"accepts_with_flags", "accept4", accepts_with_flags, &listening, let_in},
        {"writes", "write", writes, &ends[1], empty_pipe},
};
enum { WAITS = sizeof(waits) / sizeof(*waits) };

/* Whether the thread sleeps in a system call that the tracer does not make. */
UNTRACED static int is_asleep(void)
{
	char path[64], line[128];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		exit(2);
	fclose(file);
	return sscanf(line, "%ld", &number) == 1 && number >= 0 && number != SYS_futex &&
	       number != SYS_sched_yield;
}

UNTRACED static void *let_go_in_turn(void *is_to_hang)
{
	for (int i = 0; i < WAITS; i++) {
		while (turn <= i)
			sched_yield();
		if (!waits[i].let_go)
			continue;
		while (!is_asleep())
			sched_yield();
		if (is_to_hang && i == WAITS - 1) {
			printf("ready %d\n", getpid());
			fflush(stdout);
			return NULL;
		}
		for (uint64_t until = now() + WHILE_NS; now() < until;)
			sched_yield();
		waits[i].let_go();
	}
	return NULL;
}

UNTRACED static void begin(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	tid = gettid();
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		exit(2);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	/* An abstract name of the kernel's choice. */
	if (bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
	        getsockname(listening, (struct sockaddr *)&address, &address_bytes) != 0 ||
	        listen(listening, 1) != 0)
		exit(2);
	polling = epoll_create1(0);
	epoll_ctl(polling, EPOLL_CTL_ADD, ends[0], &event);
}

UNTRACED static void read_what_is_there(void)
{
	int zeros = open("/dev/zero", O_RDONLY), late = 0;

	for (int i = 0; i < READS; i++) {
		uint64_t start = now();

		errno = 77;
		if (read(zeros, byte, 1) != 1 || errno != 77)
			abort();
		late += now() - start >= SHORTEST_NS;
	}
	printf("late\t%d\n", late);
	close(zeros);
}

UNTRACED int main(int count, char **unused)
{
	pthread_t thread;

	(void)unused;
	begin();
	pthread_create(&thread, NULL, let_go_in_turn, count > 1 ? &count : NULL);
	for (int i = 0; i < WAITS; i++) {
		uint64_t start = now(), end;

		turn = i + 1;
		waits[i].wait();
		end = now();
		/* A call that only polls leaves the byte there. */
		if (waits[i].let_go == let_pipe && waits[i].wait != reads && waits[i].wait != reads_parts &&
		        read(ends[0], byte, 1) != 1)
			exit(2);
		printf("%s\t%s\t%d\t%llu\t%d\n", waits[i].function, waits[i].call,
		        waits[i].fd ? *waits[i].fd : -1, (unsigned long long)(end - start), WHILE_NS);
	}
	pthread_join(thread, NULL);
	read_what_is_there();
	return 0;
}

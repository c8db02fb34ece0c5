/* busy WAY LIBRARY [seccomp]: threads that are hard to attach to, each in one way. Runs
 * until its standard input ends, then prints "WAY ok" if everything it checked was right:
 * contents of memory, results of system calls, signals that came, children that ended.
 * Prints the first thing that was wrong and exits with 1 otherwise. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS 8

static atomic_bool stop;
static atomic_ulong turns, handled, sent;
static const char *library;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	printf("wrong: %s, errno %d\n", what, errno);
	fflush(stdout);
	_exit(1);
}

/* Registers with values that calls in between must not change: integers and doubles. */
__attribute__((noinline)) static unsigned long mix(unsigned long n)
{
	double a = (double)n, b = a * 1.5, c = b + 0.25, d = c * 2;

	for (int i = 0; i < 50; i++) {
		n = n * 6364136223846793005ul + 1442695040888963407ul;
		a += 1;
		b += 2;
		c += 3;
		d += 4;
	}
	check(b - a * 1.5 == 25 && c - b == 50.25 && d - 2 * c == -100, "doubles in registers");
	return n;
}

static void allocate(unsigned n)
{
	char *blocks[16];

	for (unsigned i = 0; i < 16; i++) {
		blocks[i] = malloc(n % 5000 + 17 * i + 1);
		check(blocks[i] != NULL, "malloc");
		memset(blocks[i], (int)(n + i), 17 * i + 1);
	}
	for (unsigned i = 0; i < 16; i++) {
		check(blocks[i][0] == (char)(n + i) && blocks[i][17 * i] == (char)(n + i), "memory");
		free(blocks[i]);
	}
}

static void *in_malloc(void *unused)
{
	for (unsigned n = 0; !stop; n++, turns++)
		allocate(n);
	return unused;
}

static void *in_dlopen(void *unused)
{
	while (!stop) {
		void *handle = dlopen(library, RTLD_NOW);
		int (*answer)(void);

		check(handle != NULL, "dlopen");
		answer = (int (*)(void))dlsym(handle, "answer");
		check(answer && answer() == 42, "dlsym");
		check(dlclose(handle) == 0, "dlclose");
		turns++;
	}
	return unused;
}

static void *thread_of_a_moment(void *number)
{
	allocate((unsigned)(unsigned long)number);
	return number;
}

static void *in_pthread_create(void *unused)
{
	while (!stop) {
		pthread_t thread;
		void *result;

		check(pthread_create(&thread, NULL, thread_of_a_moment, (void *)turns) == 0,
		        "pthread_create");
		check(pthread_join(thread, &result) == 0, "pthread_join");
		turns++;
	}
	return unused;
}

static void on_signal(int signal)
{
	int before = errno;

	(void)signal;
	mix(handled);
	handled++;
	errno = before;
}

/* Handlers that interrupt malloc(): the sender waits for each signal. */
static void *in_handlers(void *receiver)
{
	while (!stop) {
		unsigned long before = handled;

		check(pthread_kill(*(pthread_t *)receiver, SIGUSR1) == 0, "pthread_kill");
		sent++;
		while (handled == before)
			sched_yield();
		turns++;
	}
	return NULL;
}

static void *in_waits(void *unused)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	static sem_t semaphore;
	static atomic_int next;
	int way = next++ % 7, pipes[2], ends[2], epoll = epoll_create1(0);
	sigset_t unsent;

	check(pipe(pipes) == 0 && epoll >= 0, "pipe");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	check(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 3000},
	              sizeof(struct timeval)) == 0,
	        "timeout");
	sigemptyset(&unsent);
	sigaddset(&unsent, SIGUSR2);
	while (!stop) {
		struct timespec until, pause = {0, 3000000}, left = {0, 0};
		struct pollfd none = {pipes[0], POLLIN, 0};
		struct epoll_event event;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 3000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		/* No handler runs, so nothing may end before its time. */
		if (way == 0) {
			check(nanosleep(&pause, &left) == 0, "nanosleep was interrupted");
		} else if (way == 1) {
			check(poll(&none, 1, 3) == 0, "poll was interrupted");
		} else if (way == 2) {
			pthread_mutex_lock(&mutex);
			check(pthread_cond_timedwait(&never, &mutex, &until) == ETIMEDOUT, "timed wait");
			pthread_mutex_unlock(&mutex);
		} else if (way == 3) {
			check(epoll_wait(epoll, &event, 1, 3) == 0, "epoll_wait was interrupted");
		} else if (way == 4) {
			check(sigtimedwait(&unsent, NULL, &pause) < 0 && errno == EAGAIN,
			        "sigtimedwait was interrupted");
		} else if (way == 5) {
			char byte;

			check(recv(ends[0], &byte, 1, 0) < 0 && errno == EAGAIN, "recv was interrupted");
		} else {
			check(sem_timedwait(&semaphore, &until) < 0 && errno == ETIMEDOUT, "semaphore");
		}
		turns++;
	}
	return unused;
}

static void *in_vfork(void *unused)
{
	while (!stop) {
		int status;
		pid_t child = vfork();

		if (child == 0) {
			usleep(2000);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "vfork");
		turns++;
	}
	return unused;
}

/* Coroutines on small stacks, which no call of another one may overflow. */
static ucontext_t scheduler, coroutines[4];

static void coroutine(void)
{
	for (unsigned n = 0;; n++) {
		mix(n);
		turns++;
		swapcontext(&coroutines[n % 4], &scheduler);
	}
}

static void *in_coroutines(void *unused)
{
	enum { BYTES = 8192 };
	static char stacks[4][BYTES + 64];

	for (int i = 0; i < 4; i++) {
		memset(stacks[i], 0x5a, sizeof(stacks[i]));
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i] + 64;
		coroutines[i].uc_stack.ss_size = BYTES;
		makecontext(&coroutines[i], coroutine, 0);
	}
	for (unsigned n = 0; !stop; n++) {
		swapcontext(&scheduler, &coroutines[n % 4]);
		check(stacks[n % 4][0] == 0x5a && stacks[n % 4][63] == 0x5a, "a stack overflowed");
	}
	return unused;
}

/* A server: the client, another process, has each request answered once and in order. */
static int sockets[4][2];

static void *in_server(void *unused)
{
	static atomic_int next;
	int fd = sockets[next++ % 4][0];
	unsigned long request;

	while (read(fd, &request, sizeof(request)) == sizeof(request)) {
		allocate((unsigned)request);
		request = ~request;
		check(write(fd, &request, sizeof(request)) == sizeof(request), "write");
		turns++;
	}
	return unused;
}

static void run_client(int input)
{
	struct pollfd end = {input, POLLIN, 0};

	for (unsigned long n = 0; poll(&end, 1, 0) == 0; n++)
		for (int i = 0; i < 4; i++) {
			unsigned long number = 4 * n + (unsigned)i;

			check(write(sockets[i][1], &number, sizeof(number)) == sizeof(number), "request");
			check(read(sockets[i][1], &number, sizeof(number)) == sizeof(number) &&
			                ~number == 4 * n + (unsigned)i,
			        "answer");
		}
	_exit(0);
}

static pid_t begin_client(void)
{
	pid_t client;

	for (int i = 0; i < 4; i++)
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]) == 0, "socketpair");
	client = fork();
	if (client == 0) {
		for (int i = 0; i < 4; i++)
			close(sockets[i][0]);
		run_client(0);
	}
	for (int i = 0; i < 4; i++)
		close(sockets[i][1]);
	return client;
}

/* A filter that kills nobody but a caller of acct(2). */
static void confine(void)
{
	struct sock_filter filter[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	                prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
	        "seccomp");
}

static const struct {
	const char *name;
	void *(*run)(void *);
	int threads;
} ways[] = {{"malloc", in_malloc, THREADS}, {"dlopen", in_dlopen, THREADS}, {"threads", in_pthread_create, 3},
        {"handlers", in_handlers, 2}, {"waits", in_waits, THREADS}, {"vfork", in_vfork, 1},
        {"coroutines", in_coroutines, 1}, {"server", in_server, 4}};

int main(int count, char **arguments)
{
	static pthread_t threads[THREADS];
	unsigned way = 0;
	pid_t client = 0;
	int status = 0;
	char byte;

	check(count == 3 || count == 4, "usage: busy WAY LIBRARY [seccomp]");
	if (count == 4)
		confine();
	library = arguments[2];
	while (way < sizeof(ways) / sizeof(*ways) && strcmp(ways[way].name, arguments[1]) != 0)
		way++;
	check(way < sizeof(ways) / sizeof(*ways), "no such way");
	signal(SIGUSR1, on_signal);
	if (ways[way].run == in_server)
		client = begin_client();
	if (ways[way].run == in_handlers) { /* one receives, one sends */
		check(pthread_create(&threads[0], NULL, in_malloc, NULL) == 0, "start");
		check(pthread_create(&threads[1], NULL, in_handlers, &threads[0]) == 0, "start");
	} else {
		for (int i = 0; i < ways[way].threads; i++)
			check(pthread_create(&threads[i], NULL, ways[way].run, NULL) == 0, "start");
	}
	while (turns == 0)
		sched_yield();
	puts("ready");
	fflush(stdout);
	errno = 0;
	check(read(0, &byte, 1) == 0, "read was interrupted");
	stop = 1;
	check(!client || (waitpid(client, &status, 0) == client && status == 0), "the client");
	for (int i = ways[way].threads; i-- > 0;)
		check(pthread_join(threads[i], NULL) == 0, "join");
	check(handled == sent && turns > 0, "signals");
	printf("%s ok\n", arguments[1]);
	return 0;
}

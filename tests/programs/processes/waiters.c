/*
 * Forked children that call no function with hooks: what they do is to wait, three times each, in the call
 * that their parent prints with their number. No one wakes them: each wait ends by its own time limit. One
 * child only writes, and waits for nothing. Compiled without -finstrument-functions.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAITS    3
#define LIMIT_MS 20

static struct {
	sem_t semaphore;       /* is never posted */
	pthread_mutex_t mutex; /* stays the parent's */
} * shared;

static struct timespec limit(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_nsec += LIMIT_MS * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void wait_nanosleep(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LIMIT_MS * 1000000}, NULL);
}

static void wait_poll(void)
{
	poll(NULL, 0, LIMIT_MS);
}

static void wait_select(void)
{
	select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = LIMIT_MS * 1000});
}

static void wait_epoll_wait(void)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, LIMIT_MS);
}

static void wait_accept(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct timeval time = {.tv_usec = LIMIT_MS * 1000};

	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	listen(listener, 1);
	accept(listener, NULL, NULL);
}

static void wait_sem_timedwait(void)
{
	struct timespec time = limit();

	sem_timedwait(&shared->semaphore, &time);
}

static void wait_pthread_mutex_timedlock(void)
{
	struct timespec time = limit();

	pthread_mutex_timedlock(&shared->mutex, &time);
}

/* As a worker does that root started. */
static void wait_as_another(void)
{
	if (geteuid() == 0 && setuid(65534) != 0)
		_exit(1);
	wait_poll();
}

static void write_only(void)
{
	if (write(STDERR_FILENO, "", 0) != 0)
		_exit(1);
}

static const struct {
	const char *name;
	void (*wait)(void);
} waiters[] = {
        {"nanosleep", wait_nanosleep},
        {"poll", wait_poll},
        {"select", wait_select},
        {"epoll_wait", wait_epoll_wait},
        {"accept", wait_accept},
        {"sem_timedwait", wait_sem_timedwait},
        {"pthread_mutex_timedlock", wait_pthread_mutex_timedlock},
        {"poll", wait_as_another},
        {"nothing", write_only},
};

static pid_t waiter(void (*wait_once)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < WAITS; i++)
			wait_once();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

int main(void)
{
	pthread_mutexattr_t attributes;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&shared->semaphore, 1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attributes);
	pthread_mutex_lock(&shared->mutex);

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(waiters) / sizeof(*waiters); i++)
		printf("%s %d\n", waiters[i].name, waiter(waiters[i].wait));
	/* A child that itself does nothing but to have one. */
	if (fork() == 0) {
		printf("poll %d\n", waiter(wait_poll));
		_exit(0);
	}
	wait(NULL);
	return 0;
}

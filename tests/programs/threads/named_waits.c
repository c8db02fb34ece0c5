/*
 * One call of each kind that waits for something else than a lock of libpthread. A second
 * thread lets the call return only after it has seen the first thread asleep. Prints the
 * name of each call that slept.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function, noinline))

static int ends[2]; /* of a pipe */
static int other;   /* a second description of the locked file */
static int queue, set;
static mqd_t posix_queue;
static uint32_t word;
static pid_t holder; /* of the file's record lock */
static pthread_t waiter;
static pid_t waiter_tid;
static void (*release)(void);

/* ---- the second thread ---- */

UNTRACED static char state_of(int tid)
{
	char path[64], text[512] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || syscall(SYS_read, fd, text, sizeof(text) - 1) <= 0)
		exit(2);
	syscall(SYS_close, fd);
	return strrchr(text, ')')[2];
}

/* Lets the waiter go once it is asleep ten times in a row: it cannot be a lock of anybody's
 * that it waits for by the way. */
UNTRACED static void *let_go(void *unused)
{
	(void)unused;
	for (int asleep = 0; asleep < 10; sched_yield())
		asleep = state_of(waiter_tid) == 'S' ? asleep + 1 : 0;
	release();
	return NULL;
}

UNTRACED static void a_line(void)
{
	if (syscall(SYS_write, ends[1], "line\n", 5) != 5)
		exit(2);
}

UNTRACED static void a_signal(void)
{
	pthread_kill(waiter, SIGUSR1);
}

UNTRACED static void unlock_file(void)
{
	flock(other, LOCK_UN);
}

UNTRACED static void unlock_range(void)
{
	struct flock all = {.l_type = F_UNLCK};

	fcntl(other, F_OFD_SETLK, &all);
}

UNTRACED static void end_holder(void)
{
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
}

UNTRACED static void a_message(void)
{
	struct {
		long type;
		char text[1];
	} message = {1, "x"};

	msgsnd(queue, &message, 1, 0);
}

UNTRACED static void a_posix_message(void)
{
	mq_send(posix_queue, "x", 1, 0);
}

UNTRACED static void an_operation(void)
{
	semop(set, &(struct sembuf){0, 1, 0}, 1);
}

UNTRACED static void a_wake(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The child of system() and pclose() reads a FIFO until it is closed. */
UNTRACED static void an_end(void)
{
	int fd = open("fifo", O_WRONLY);

	syscall(SYS_close, fd);
}

/* ---- the calls ---- */

UNTRACED static void slept(const char *name, void (*call)(void), void (*lets_go)(void))
{
	pthread_t thread;

	release = lets_go;
	pthread_create(&thread, NULL, let_go, NULL);
	call();
	pthread_join(thread, NULL);
	puts(name);
}

static FILE *stream;
static char text[64];

static void by_fgets(void)
{
	fgets(text, sizeof(text), stream);
}

static void by_getline(void)
{
	char *line = NULL;
	size_t room = 0;

	getline(&line, &room, stream);
	free(line);
}

static void by_fread(void)
{
	fread(text, 1, 5, stream);
}

static void by_flock(void)
{
	int fd = open("file", O_RDWR);

	flock(fd, LOCK_EX);
	close(fd);
}

static void by_fcntl(void)
{
	struct flock all = {.l_type = F_WRLCK};
	int fd = open("file", O_RDWR);

	fcntl(fd, F_OFD_SETLKW, &all);
	close(fd);
}

static void by_lockf(void)
{
	int fd = open("file", O_RDWR);

	lockf(fd, F_LOCK, 0);
	close(fd);
}

static void by_sigwait(void)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigwait(&signals, &signal);
}

static void by_sigwaitinfo(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigwaitinfo(&signals, NULL);
}

static void by_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigsuspend(&none);
}

static void by_splice(void)
{
	int null = open("/dev/null", O_WRONLY);

	splice(ends[0], NULL, null, NULL, 5, 0);
	close(null);
}

static void by_msgrcv(void)
{
	struct {
		long type;
		char text[1];
	} message;

	msgrcv(queue, &message, 1, 0, 0);
}

static void by_mq_receive(void)
{
	mq_receive(posix_queue, text, sizeof(text), NULL);
}

static void by_semop(void)
{
	semop(set, &(struct sembuf){0, -1, 0}, 1);
}

static void by_futex(void)
{
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void by_system(void)
{
	if (system("exec cat fifo") != 0)
		exit(2);
}

static void by_pclose(void)
{
	pclose(stream);
}

UNTRACED static void handler(int signal)
{
	(void)signal;
}

int main(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = sizeof(text)};
	sigset_t signals;
	char ready;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL);
	waiter = pthread_self();
	waiter_tid = (pid_t)syscall(SYS_gettid);
	close(open("file", O_RDWR | O_CREAT, 0600));
	other = open("file", O_RDWR);
	if (pipe(ends) || mkfifo("fifo", 0600))
		return 2;
	stream = fdopen(ends[0], "r");
	slept("fgets", by_fgets, a_line);
	slept("getline", by_getline, a_line);
	slept("fread", by_fread, a_line);
	slept("splice", by_splice, a_line);
	flock(other, LOCK_EX);
	slept("flock", by_flock, unlock_file);
	fcntl(other, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK});
	slept("fcntl", by_fcntl, unlock_range);
	holder = fork();
	if (holder == 0) {
		int fd = open("file", O_RDWR);

		if (lockf(fd, F_LOCK, 0) || syscall(SYS_write, ends[1], "x", 1) != 1)
			_exit(2);
		kill(getpid(), SIGSTOP);
	}
	if (syscall(SYS_read, ends[0], &ready, 1) != 1)
		return 2;
	slept("lockf", by_lockf, end_holder);
	slept("sigwait", by_sigwait, a_signal);
	slept("sigwaitinfo", by_sigwaitinfo, a_signal);
	slept("sigsuspend", by_sigsuspend, a_signal);
	slept("futex", by_futex, a_wake);
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue >= 0)
		slept("msgrcv", by_msgrcv, a_message);
	msgctl(queue, IPC_RMID, NULL);
	set = semget(IPC_PRIVATE, 1, 0600);
	if (set >= 0)
		slept("semop", by_semop, an_operation);
	semctl(set, 0, IPC_RMID);
	snprintf(text, sizeof(text), "/named_waits.%d", (int)getpid());
	posix_queue = mq_open(text, O_RDWR | O_CREAT, 0600, &attributes);
	mq_unlink(text);
	if (posix_queue >= 0)
		slept("mq_receive", by_mq_receive, a_posix_message);
	slept("system", by_system, an_end);
	stream = popen("exec cat fifo", "r");
	slept("pclose", by_pclose, an_end);
	return 0;
}

/*
 * Waits of many kinds, each by a thread of its own. Another thread, the waker, first sees
 * it asleep. Prints for each kind: the call that waits, the waiter's number, the waker's
 * number or 0 if no thread wakes it, and two lengths in ns. The wait is at least as long as
 * the first, and at most as long as the second.
 */
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <condition_variable>
#include <fcntl.h>
#include <future>
#include <latch>
#include <linux/futex.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <semaphore>
#include <semaphore.h>
#include <shared_mutex>
#include <csignal>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static std::atomic<int> waiter_tid;
static pthread_t waiter, waker;
static uint64_t least, whole;

static uint64_t now()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

static void require(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(2);
}

#define REQUIRE(condition) require(condition, #condition)

static char state_of(int tid)
{
	char path[64], text[512] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	int fd = open(path, O_RDONLY);
	REQUIRE(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strrchr(text, ')')[2];
}

struct kind {
	const char *call;
	void (*wait)();
	void (*wake)(); /* calls let_wait(), and then wakes */
	enum { BY_THREAD, BY_ITS_END, BY_NONE } is_woken = BY_THREAD;
};

static const kind *current;

static void *run_waiter(void *unused)
{
	waiter_tid = gettid();
	uint64_t begin = now();

	current->wait();
	whole = now() - begin;
	return unused;
}

static uint64_t asleep_since;

/* Starts the waiter, and returns once it is asleep ten times in a row: it cannot be a lock
 * of anybody's that it waits for by the way. */
static void let_wait()
{
	waiter_tid = 0;
	pthread_create(&waiter, nullptr, run_waiter, nullptr);
	while (waiter_tid == 0)
		sched_yield();
	for (int asleep = 0; asleep < 10; sched_yield()) {
		asleep = state_of(waiter_tid) == 'S' ? asleep + 1 : 0;
		if (asleep == 1)
			asleep_since = now();
	}
	least = now() - asleep_since;
}

static void *run_waker(void *tid)
{
	*static_cast<std::atomic<int> *>(tid) = gettid();
	current->wake();
	return nullptr;
}

static void run(const kind *one)
{
	std::atomic<int> waker_tid{0};

	current = one;
	pthread_create(&waker, nullptr, run_waker, &waker_tid);
	if (one->is_woken == kind::BY_ITS_END) { /* the waiter joins it */
		while (waiter_tid == 0)
			sched_yield();
	} else {
		pthread_join(waker, nullptr);
	}
	pthread_join(waiter, nullptr);
	printf("%s\t%d\t%d\t%llu\t%llu\n", one->call, waiter_tid.load(),
	        one->is_woken == kind::BY_NONE ? 0 : waker_tid.load(), (unsigned long long)least,
	        (unsigned long long)whole);
	waiter_tid = 0;
}

/* ---- libc's locks ---- */

static const timespec never = {INT32_MAX, 0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;

static void hold_mutex()
{
	pthread_mutex_lock(&mutex);
	let_wait();
	pthread_mutex_unlock(&mutex);
}
static void hold_rwlock()
{
	pthread_rwlock_wrlock(&rwlock);
	let_wait();
	pthread_rwlock_unlock(&rwlock);
}
static void hold_c11()
{
	mtx_lock(&c11_mutex);
	let_wait();
	mtx_unlock(&c11_mutex);
}
static void post()
{
	let_wait();
	sem_post(&semaphore);
}
static void signal_it()
{
	let_wait();
	pthread_cond_signal(&condition);
}
static void signal_c11()
{
	let_wait();
	cnd_signal(&c11_condition);
}
static void on_mutex(int error)
{
	REQUIRE(error == 0);
	pthread_mutex_unlock(&mutex);
}
static void on_rwlock(int error)
{
	REQUIRE(error == 0);
	pthread_rwlock_unlock(&rwlock);
}
static void on_c11(int error)
{
	REQUIRE(error == thrd_success);
	mtx_unlock(&c11_mutex);
}

/* ---- of the C++ library, which makes them of futexes ---- */

static std::mutex cpp_mutex;
static std::shared_mutex cpp_shared;
static std::condition_variable cpp_condition;
static std::counting_semaphore<> counting{0};
static std::binary_semaphore binary{0};
static std::latch latch{1};
static std::barrier<> cpp_barrier{2};
static std::atomic<int> word{0};
static std::atomic<long> long_word{0};
static std::atomic_flag flag;
static std::promise<int> promise, shared_promise;
static std::shared_future<int> shared = shared_promise.get_future().share();
static std::once_flag cpp_once;

struct slow {
	slow()
	{
		let_wait();
	}
};

static void use_local()
{
	static slow local;
}

/* ---- futexes ---- */

static uint32_t raw[8];

static long futex(uint32_t *at, int operation, uint32_t value, const void *time = nullptr,
        uint32_t *other = nullptr, uint32_t last = 0)
{
	return syscall(SYS_futex, at, operation, value, time, other, last);
}

static void raw_wait(int i, int operation, uint32_t last)
{
	while (__atomic_load_n(&raw[i], __ATOMIC_ACQUIRE) == 0)
		futex(&raw[i], operation, 0, nullptr, nullptr, last);
}

static void raw_set(int i)
{
	let_wait();
	__atomic_store_n(&raw[i], 1, __ATOMIC_RELEASE);
}

/* ---- system calls by number ---- */

static int ends[2], sockets[2], epoll, other_file;
static pid_t child;

static void write_one()
{
	let_wait();
	REQUIRE(write(ends[1], "x", 1) == 1);
}
static void send_one()
{
	let_wait();
	REQUIRE(write(sockets[1], "x", 1) == 1);
}
static void take_one()
{
	char byte;
	REQUIRE(read(ends[0], &byte, 1) == 1);
}
static void kill_child()
{
	let_wait();
	kill(child, SIGKILL);
}
static void only_wait()
{
	let_wait();
}

static void make_child()
{
	child = fork();
	if (child == 0)
		for (;;)
			kill(getpid(), SIGSTOP);
}

static const timespec a_while = {0, 100000000};

static const kind kinds[] = {
        {"pthread_mutex_lock", [] { on_mutex(pthread_mutex_lock(&mutex)); }, hold_mutex},
        {"pthread_mutex_timedlock", [] { on_mutex(pthread_mutex_timedlock(&mutex, &never)); }, hold_mutex},
        {"pthread_mutex_clocklock",
                [] { on_mutex(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &never)); }, hold_mutex},
        {"pthread_rwlock_rdlock", [] { on_rwlock(pthread_rwlock_rdlock(&rwlock)); }, hold_rwlock},
        {"pthread_rwlock_timedrdlock", [] { on_rwlock(pthread_rwlock_timedrdlock(&rwlock, &never)); },
                hold_rwlock},
        {"pthread_rwlock_wrlock", [] { on_rwlock(pthread_rwlock_wrlock(&rwlock)); }, hold_rwlock},
        {"pthread_rwlock_timedwrlock", [] { on_rwlock(pthread_rwlock_timedwrlock(&rwlock, &never)); },
                hold_rwlock},
        {"mtx_lock", [] { on_c11(mtx_lock(&c11_mutex)); }, hold_c11},
        {"mtx_timedlock", [] { on_c11(mtx_timedlock(&c11_mutex, &never)); }, hold_c11},
        {"sem_wait", [] { sem_wait(&semaphore); }, post},
        {"sem_timedwait", [] { sem_timedwait(&semaphore, &never); }, post},
        {"pthread_cond_wait",
                [] {
	                pthread_mutex_lock(&mutex);
	                on_mutex(pthread_cond_wait(&condition, &mutex));
                },
                signal_it},
        {"pthread_cond_timedwait",
                [] {
	                pthread_mutex_lock(&mutex);
	                on_mutex(pthread_cond_timedwait(&condition, &mutex, &never));
                },
                signal_it},
        {"cnd_wait",
                [] {
	                mtx_lock(&c11_mutex);
	                on_c11(cnd_wait(&c11_condition, &c11_mutex));
                },
                signal_c11},
        {"cnd_timedwait",
                [] {
	                mtx_lock(&c11_mutex);
	                on_c11(cnd_timedwait(&c11_condition, &c11_mutex, &never));
                },
                signal_c11},
        {"pthread_barrier_wait", [] { pthread_barrier_wait(&barrier); },
                [] {
	                let_wait();
	                pthread_barrier_wait(&barrier);
                }},
        {"pthread_join", [] { pthread_join(waker, nullptr); }, only_wait, kind::BY_ITS_END},
        {"pthread_once", [] { pthread_once(&once, only_wait); }, [] { pthread_once(&once, only_wait); }},
        {"call_once", [] { call_once(&c11_once, only_wait); }, [] { call_once(&c11_once, only_wait); }},
        {"pthread_mutex_lock", [] { std::lock_guard<std::mutex> guard(cpp_mutex); },
                [] {
	                std::lock_guard<std::mutex> guard(cpp_mutex);
	                let_wait();
                }},
        {"pthread_rwlock_rdlock", [] { std::shared_lock<std::shared_mutex> guard(cpp_shared); },
                [] {
	                std::lock_guard<std::shared_mutex> guard(cpp_shared);
	                let_wait();
                }},
        {"pthread_cond_wait",
                [] {
	                std::unique_lock<std::mutex> guard(cpp_mutex);
	                cpp_condition.wait(guard);
                },
                [] {
	                let_wait();
	                cpp_condition.notify_all();
                }},
        {"pthread_once", [] { std::call_once(cpp_once, only_wait); },
                [] { std::call_once(cpp_once, only_wait); }},
        {"futex", [] { counting.acquire(); },
                [] {
	                let_wait();
	                counting.release();
                }},
        {"futex", [] { binary.acquire(); },
                [] {
	                let_wait();
	                binary.release();
                }},
        {"futex", [] { latch.wait(); },
                [] {
	                let_wait();
	                latch.count_down();
                }},
        {"futex", [] { cpp_barrier.arrive_and_wait(); },
                [] {
	                let_wait();
	                cpp_barrier.arrive_and_wait();
                }},
        {"futex", [] { word.wait(0); },
                [] {
	                let_wait();
	                word = 1;
	                word.notify_one();
                }},
        {"futex", [] { long_word.wait(0); },
                [] {
	                let_wait();
	                long_word = 1;
	                long_word.notify_all();
                }},
        {"futex", [] { flag.wait(false); },
                [] {
	                let_wait();
	                flag.test_and_set();
	                flag.notify_one();
                }},
        {"futex", [] { promise.get_future().get(); },
                [] {
	                let_wait();
	                promise.set_value(1);
                }},
        {"futex", [] { shared.wait(); },
                [] {
	                let_wait();
	                shared_promise.set_value(1);
                }},
        {"futex", [] { use_local(); }, [] { use_local(); }},
        {"futex", [] { raw_wait(0, FUTEX_WAIT_PRIVATE, 0); },
                [] {
	                raw_set(0);
	                REQUIRE(futex(&raw[0], FUTEX_WAKE_PRIVATE, 1) == 1);
                }},
        {"futex", [] { raw_wait(1, FUTEX_WAIT_BITSET, 2); },
                [] {
	                raw_set(1);
	                REQUIRE(futex(&raw[1], FUTEX_WAKE_BITSET, INT32_MAX, nullptr, nullptr, 1) == 0);
	                REQUIRE(futex(&raw[1], FUTEX_WAKE_BITSET, INT32_MAX, nullptr, nullptr, 2) == 1);
                }},
        {"futex", [] { raw_wait(2, FUTEX_WAIT, 0); },
                [] {
	                raw_set(2);
	                REQUIRE(syscall(SYS_futex, &raw[2], FUTEX_CMP_REQUEUE, 1, INT32_MAX, &raw[3], 1) ==
	                        1);
                }},
        {"futex", [] { raw_wait(4, FUTEX_WAIT, 0); },
                [] {
	                raw_set(4);
	                REQUIRE(syscall(SYS_futex, &raw[4], FUTEX_WAKE_OP, 1, 0, &raw[5],
	                                FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 1)) == 1);
                }},
        {"futex",
                [] {
	                REQUIRE(futex(&raw[6], FUTEX_LOCK_PI, 0) == 0);
	                REQUIRE(futex(&raw[6], FUTEX_UNLOCK_PI, 0) == 0);
                },
                [] {
	                REQUIRE(futex(&raw[6], FUTEX_LOCK_PI, 0) == 0);
	                let_wait();
	                REQUIRE(futex(&raw[6], FUTEX_UNLOCK_PI, 0) == 0);
                }},
        {"read",
                [] {
	                char byte;

	                REQUIRE(syscall(SYS_read, ends[0], &byte, 1) == 1);
                },
                write_one, kind::BY_NONE},
        {"ppoll",
                [] {
	                pollfd one = {ends[0], POLLIN, 0};

	                REQUIRE(syscall(SYS_ppoll, &one, 1, nullptr, nullptr, 0) == 1);
	                take_one();
                },
                write_one, kind::BY_NONE},
        {"epoll_pwait",
                [] {
	                epoll_event event;

	                REQUIRE(syscall(SYS_epoll_pwait, epoll, &event, 1, -1, nullptr, 0) == 1);
	                take_one();
                },
                write_one, kind::BY_NONE},
        {"recvfrom",
                [] {
	                char byte;

	                REQUIRE(syscall(SYS_recvfrom, sockets[0], &byte, 1, 0, nullptr, nullptr) == 1);
                },
                send_one, kind::BY_NONE},
        {"nanosleep", [] { syscall(SYS_nanosleep, &a_while, nullptr); }, only_wait, kind::BY_NONE},
        {"clock_nanosleep", [] { syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &a_while, nullptr); },
                only_wait, kind::BY_NONE},
        {"flock",
                [] {
	                int fd = open("locked", O_RDWR);

	                REQUIRE(fd >= 0 && syscall(SYS_flock, fd, LOCK_EX) == 0);
	                close(fd);
                },
                [] {
	                flock(other_file, LOCK_EX);
	                let_wait();
	                flock(other_file, LOCK_UN);
                },
                kind::BY_NONE},
        {"wait4", [] { REQUIRE(syscall(SYS_wait4, child, nullptr, 0, nullptr) == child); },
                [] {
	                make_child();
	                kill_child();
                },
                kind::BY_NONE},
        {"waitpid", [] { REQUIRE(waitpid(child, nullptr, 0) == child); },
                [] {
	                make_child();
	                kill_child();
                },
                kind::BY_NONE},
        {"waitid",
                [] {
	                siginfo_t information;

	                REQUIRE(waitid(P_PID, id_t(child), &information, WEXITED) == 0);
                },
                [] {
	                make_child();
	                kill_child();
                },
                kind::BY_NONE},
};

/* Calls that do not wait, and wakes of no thread: they leave no record, and errno and the
 * results are the kernel's. Prints how many of them took as long as a wait with a record,
 * because the thread lost its processor. */
static void wait_for_nothing()
{
	static uint32_t idle = 1;
	timespec soon = {0, 1000000};
	int long_ones = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t start = now();

		errno = 0;
		REQUIRE(futex(&idle, FUTEX_WAIT, 0) == -1 && errno == EAGAIN);
		long_ones += now() - start > 9000;
		REQUIRE(futex(&idle, FUTEX_WAKE, 1) == 0);
		start = now();
		errno = 0;
		REQUIRE(futex(reinterpret_cast<uint32_t *>(8), FUTEX_WAIT, 0) == -1 && errno == EFAULT);
		long_ones += now() - start > 9000;
	}
	fprintf(stderr, "long ones: %d\n", long_ones);
	errno = 0;
	REQUIRE(futex(&idle, FUTEX_WAIT, 1, &soon) == -1 && errno == ETIMEDOUT);
}

int main()
{
	mtx_init(&c11_mutex, mtx_timed);
	cnd_init(&c11_condition);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, nullptr, 2);
	epoll = epoll_create1(0);
	REQUIRE(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	epoll_event event = {EPOLLIN, {}};
	REQUIRE(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
	other_file = open("locked", O_RDWR | O_CREAT, 0600);
	for (const kind &one : kinds)
		run(&one);
	wait_for_nothing();
	return 0;
}

/*
 * Waits by system calls of the program's own instructions, which no library sees, 0.2 s
 * each. Prints for each wait the function that it is in, the system call, and what it waits
 * for, as the kernel names it.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

static inline UNTRACED long system_call(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;
	register long d __asm__("r10") = 0;
	register long e __asm__("r8") = 0;
	register long f __asm__("r9") = 0;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
	                 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;
	register long x5 __asm__("x5") = 0;

	__asm__ volatile("svc 0"
	                 : "+r"(x0)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
	                 : "memory");
	return x0;
#endif
}

static int ends[2], sockets[2], fifo;
static uint32_t word;
static char byte;

__attribute__((noinline)) static void by_pipe(void)
{
	system_call(SYS_read, ends[0], (long)&byte, 1);
}

__attribute__((noinline)) static void by_fifo(void)
{
	system_call(SYS_read, fifo, (long)&byte, 1);
}

__attribute__((noinline)) static void by_socket(void)
{
	system_call(SYS_read, sockets[0], (long)&byte, 1);
}

__attribute__((noinline)) static void by_poll(void)
{
	struct pollfd polled = {.fd = sockets[0], .events = POLLIN};

	system_call(SYS_ppoll, (long)&polled, 1, 0);
}

__attribute__((noinline)) static void by_futex(void)
{
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
		system_call(SYS_futex, (long)&word, FUTEX_WAIT, 0);
}

__attribute__((noinline)) static void by_sleep(void)
{
	struct timespec time = {0, 200000000};

	system_call(SYS_nanosleep, (long)&time, 0, 0);
}

UNTRACED static void write_pipe(void)
{
	write(ends[1], "x", 1);
}

UNTRACED static void write_fifo(void)
{
	write(fifo, "x", 1);
}

UNTRACED static void write_socket(void)
{
	write(sockets[1], "x", 1);
}

UNTRACED static void wake(void)
{
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

UNTRACED static void nothing(void)
{
}

UNTRACED static void *end_soon(void *ends_it)
{
	struct timespec time = {0, 200000000};

	nanosleep(&time, NULL);
	((void (*)(void))ends_it)();
	return NULL;
}

UNTRACED static void run(const char *function, const char *call, int fd, const void *object,
        void (*wait)(void), void (*end)(void))
{
	char path[64], file[4096] = "";
	pthread_t thread;

	pthread_create(&thread, NULL, end_soon, (void *)end);
	wait();
	pthread_join(thread, NULL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && readlink(path, file, sizeof(file) - 1) < 0)
		exit(2);
	if (object)
		snprintf(file, sizeof(file), "%p", object);
	if (wait == by_poll)
		printf("%s\t%s\tfd %d (%s)\n", function, call, fd, file);
	else
		printf("%s\t%s\t%s\n", function, call, file);
}

int main(void)
{
	fifo = open("fifo", O_RDWR);
	if (fifo < 0 || pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 2;
	run("by_pipe", "read", ends[0], NULL, by_pipe, write_pipe);
	run("by_fifo", "read", fifo, NULL, by_fifo, write_fifo);
	run("by_socket", "read", sockets[0], NULL, by_socket, write_socket);
	run("by_poll", "ppoll", sockets[0], NULL, by_poll, write_socket);
	run("by_futex", "futex", -1, &word, by_futex, wake);
	run("by_sleep", "nanosleep", -1, NULL, by_sleep, nothing);
	return 0;
}

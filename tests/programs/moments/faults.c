/*
 * Touches new pages in five calls of each of two threads, and has the kernel touch as many
 * for a system call. Prints for each call: thread, function, the number of pages, and the
 * page faults that the kernel counted for the thread during the call.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { PAGE = 4096, CALLS = 5, THREADS = 2 };

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

UNTRACED static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* Makes pages of the small size. None of them is there yet. */
UNTRACED static char *new_pages(size_t count)
{
	char *pages = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, count * PAGE, MADV_NOHUGEPAGE);
	return pages;
}

static void touch(volatile char *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pages[i * PAGE] = 1;
}

static void read_zeros(int file, char *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (read(file, pages + i * PAGE, 1) != 1)
			puts("nothing to read");
}

UNTRACED static void tell(const char *function, size_t pages, long counted)
{
	pthread_mutex_lock(&print_lock);
	printf("%d\t%s\t%zu\t%ld\n", gettid(), function, pages, counted);
	pthread_mutex_unlock(&print_lock);
}

static void *work(void *first)
{
	int file = open("/dev/zero", O_RDONLY);

	for (size_t i = 0; i < CALLS; i++) {
		size_t count = 100 * (i + 1) + (size_t)(uintptr_t)first;
		char *pages = new_pages(count), *others = new_pages(count);
		long before = faults();

		touch(pages, count);
		tell("touch", count, faults() - before);
		before = faults();
		read_zeros(file, others, count);
		tell("read_zeros", count, faults() - before);
	}
	close(file);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i * 7));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/*
 * Calls libraries in all ways: caller [program to execute last]
 *
 * It prints what comes of the calls. Their numbers are printed on descriptor 3, a line a
 * function, at the end of each process: by the library, and for libc by this program.
 */
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>
#include "counted.h"

#define CALLED __attribute__((noinline))

static jmp_buf target;

CALLED static int throws(void *)
{
	throw std::runtime_error("out of a callback");
}

CALLED static int jumps(void *)
{
	longjmp(target, 1);
}

CALLED static int answers(void *)
{
	return 41;
}

static int compares_or_throws(const void *a, const void *b)
{
	if (*(const int *)a == 7 || *(const int *)b == 7)
		throw 7;
	return *(const int *)a - *(const int *)b;
}

static int compares_or_jumps(const void *a, const void *b)
{
	if (*(const int *)a == 7 || *(const int *)b == 7)
		longjmp(target, 2);
	return *(const int *)a - *(const int *)b;
}

CALLED static int sorts(int (*compares)(const void *, const void *))
{
	int numbers[] = {5, 3, 9, 7, 1};

	count("qsort");
	try {
		qsort(numbers, 5, sizeof(int), compares);
	} catch (int number) {
		return number;
	}
	return -1;
}

CALLED static int lands(bool is_sort)
{
	int how = setjmp(target);

	if (how)
		return how;
	return is_sort ? sorts(compares_or_jumps) : calls_back(jumps, nullptr);
}

/* One of each. */
CALLED static double works(long i)
{
	char text[64], copy[64];
	struct pair pair = makes_pair((double)i / 2);
	struct large large = makes_large(i);
	double sum = (double)(leaf(i) + chosen(i)) + pair.number + (double)(pair.count + large.words[2]);

	sum += (double)widens((long double)i) + adds(9, .5, 1., 2., 3., 4., 5., 6., 7., (double)i);
	count("snprintf");
	snprintf(text, sizeof(text), "%ld %.3f %Lf", i, sum, (long double)sum);
	count("strlen");
	sum += (double)strlen(text);
	count("strcpy");
	strcpy(copy, text);
	count("strtold");
	sum += (double)strtold(copy, nullptr);
	count("lldiv");
	sum += (double)lldiv(i, 7).rem;
	return sum + calls_back(answers, nullptr);
}

static double works_often(long times)
{
	double sum = 0;

	for (long i = 0; i < times; i++)
		sum += works(i);
	return sum;
}

int main(int, char **arguments)
{
	std::vector<int> numbers{4, 8, 2};
	std::vector<std::thread> threads;
	double sums[4];
	int status = 0;

	printf("%.3f\n", works_often(100));
	try {
		calls_back(throws, nullptr);
	} catch (std::exception &e) {
		printf("%s\n", e.what());
	}
	printf("%d %d %d\n", sorts(compares_or_throws), lands(true), lands(false));
	std::sort(numbers.begin(), numbers.end());
	printf("%d %d\n", numbers[0], numbers[2]);
	for (double &sum : sums)
		threads.emplace_back([&sum] { sum = works_often(50); });
	for (std::thread &thread : threads)
		thread.join();
	printf("%.3f %.3f\n", sums[0], sums[3]);
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (child == 0) {
			double sum = works_often(20);

			printf("child %.3f\n", sum);
			exit(i);
		}
		waitpid(child, &status, 0);
		printf("%d\n", WEXITSTATUS(status));
		fflush(stdout);
	}
	if (arguments[1]) {
		print_counts();
		execv(arguments[1], arguments + 1);
		return 1;
	}
	return 5;
}

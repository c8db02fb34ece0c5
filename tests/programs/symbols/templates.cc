/*
 * A program whose calls are mostly the library's: it sorts with a comparison of its own,
 * keeps strings in containers, and runs a function of its own in a thread. Prints each of
 * its functions and how often it was called.
 */
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

using table = std::map<std::string, std::vector<int>>;

static int compared, kept, collected, threads;

static bool is_less(int a, int b)
{
	__atomic_add_fetch(&compared, 1, __ATOMIC_RELAXED);
	return a < b;
}

__attribute__((noinline)) void keep(table &kept_in, const std::string &name, int value)
{
	kept++;
	kept_in[name].push_back(value);
}

template <typename T> __attribute__((noinline)) std::vector<T> collect(T count)
{
	std::vector<T> all;

	__atomic_add_fetch(&collected, 1, __ATOMIC_RELAXED);
	for (T i = 0; i < count; i++)
		all.push_back((i * 7919) % 101);
	std::sort(all.begin(), all.end(), is_less);
	return all;
}

void run(int count)
{
	threads++;
	collect(count);
}

int main()
{
	table all;

	for (int value : collect(50))
		keep(all, "value " + std::to_string(value % 5), value);
	std::thread(run, 30).join();
	std::printf(
	        "is_less\t%d\nkeep\t%d\ncollect\t%d\nrun\t%d\nmain\t1\n", compared, kept, collected, threads);
}

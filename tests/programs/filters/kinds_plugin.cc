/* A library that kinds.cc opens, with functions that are called as others there are, and that calls back. */
#include <algorithm>
#include <vector>

[[gnu::noinline]] static int step(int a)
{
	return a * 5;
}

template <class T> static T inlined(T a)
{
	return step(a) - step(a - 1);
}

extern "C" int plugin_work(int a, int (*back)(int))
{
	std::vector<int> numbers;

	for (int i = 0; i < 8; i++)
		numbers.push_back(inlined((a + i) * 11 % 7));
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a < b; });
	return numbers[3] + back(3);
}

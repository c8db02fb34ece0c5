/* Static functions for kinds.cc that have the names of others there. */
#include <vector>

int other_file(int a);

[[gnu::noinline]] static int step(int a)
{
	return a * 3;
}

static int inlined(int a)
{
	return step(a) - step(a - 1);
}

int other_file(int a)
{
	std::vector<int> numbers;

	for (int i = 0; i < 4; i++)
		numbers.push_back(inlined(a + i));
	return numbers.back();
}

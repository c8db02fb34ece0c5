/*
 * Functions of all kinds to be left out by name: templates, operators, members, lambdas, a recursion, static
 * functions, inlined ones. Each round calls all of them. Arguments:
 *
 *   rounds N       so many of them, and prints a sum
 *   plugin FILE N  loads the library in the midst of N rounds, which calls on
 *   fork N         forks after the first round; parent and child go N rounds each
 *   kill N         the same without the fork, and then kills itself with `parse` open inside of `walk`
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

template <class T> T twice(T a)
{
	return (T)(a + a + sum);
}

namespace shop
{
namespace
{
int hidden(int a)
{
	return sum += a;
}
} // namespace

template <class T> class Cart
{
      public:
	void put(T a);
	Cart &operator+=(T a);
	bool operator<(const Cart &other) const;
	operator int() const;
	T total = 0;
};

template <class T> void Cart<T>::put(T a)
{
	total = twice(a);
}

template <class T> Cart<T> &Cart<T>::operator+=(T a)
{
	put(a);
	return *this;
}

template <class T> bool Cart<T>::operator<(const Cart &other) const
{
	return total < other.total;
}

template <class T> Cart<T>::operator int() const
{
	return (int)total;
}
} // namespace shop

static inline __attribute__((always_inline)) int inlined(int a)
{
	return a + sum;
}

static int parse(int depth)
{
	sum = sum + inlined(depth);
	return sum;
}

static int walk(int depth)
{
	return depth ? walk(depth - 1) + parse(depth) : shop::hidden(1);
}

static void round_of_calls()
{
	shop::Cart<int> cart;
	shop::Cart<double> other;
	auto add = [&](int a) { cart += a; };

	add(1);
	other += 2.5;
	sum = sum + (cart < cart) + (int)other + walk(3);
}

static void rounds(int count)
{
	for (int i = 0; i < count; i++)
		round_of_calls();
}

int main(int, char **argv)
{
	int count = atoi(argv[2]);

	if (!strcmp(argv[1], "plugin")) {
		count = atoi(argv[3]);
		rounds(count / 2);
		void *plugin = dlopen(argv[2], RTLD_NOW);
		for (int i = 0; plugin && i < count; i++)
			sum = sum + ((int (*)(int))dlsym(plugin, "plugin_work"))(i);
		if (plugin)
			dlclose(plugin);
	}
	if (!strcmp(argv[1], "fork")) {
		rounds(1);
		if (fork() == 0) {
			rounds(count);
			return 0;
		}
		wait(nullptr);
	}
	rounds(count);
	if (!strcmp(argv[1], "kill")) {
		struct {
			static int walk(int depth)
			{
				return depth ? parse(depth) + walk(depth - 1) : raise(SIGKILL);
			}
		} last;
		last.walk(3);
	}
	printf("%d\n", sum != 0);
}

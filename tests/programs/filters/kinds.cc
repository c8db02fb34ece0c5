/*
 * Functions that are hard to tell apart by what they are called, or to find in the code: templates,
 * operators, lambdas, functions that are inlined, static ones of one name in two files and in a plugin, calls
 * that exceptions leave. What it calls is the same in every run.
 *
 *   kinds PLUGIN        rounds of all of them, two threads one after the other, a plugin that is opened twice
 *   kinds PLUGIN fork   a forked child besides, made inside of calls
 */
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

int other_file(int a); /* kinds_other.cc */

extern "C" int plain(int a)
{
	return a ^ 5;
}

namespace kinds
{
template <class T, int N> class Ring
{
	T items[N] = {};

      public:
	class Cursor
	{
		const Ring *ring;
		int at;

	      public:
		Cursor(const Ring *ring, int at) : ring(ring), at(at)
		{
		}
		bool operator!=(const Cursor &other) const
		{
			return at != other.at;
		}
		Cursor &operator++()
		{
			at++;
			return *this;
		}
		T operator*() const
		{
			return ring->items[at];
		}
	};

	Cursor begin() const
	{
		return Cursor(this, 0);
	}
	Cursor end() const
	{
		return Cursor(this, N);
	}
	T &operator[](int i)
	{
		return items[i % N];
	}
	Ring &operator*=(T by);
	Ring operator*(T by) const
	{
		return Ring(*this) *= by;
	}
	T operator()(T more) const;
	template <class U> U as() const
	{
		return static_cast<U>((*this)(T()));
	}
	explicit operator bool() const
	{
		return (*this)(1) != 0;
	}
};

template <class T, int N> Ring<T, N> &Ring<T, N>::operator*=(T by)
{
	for (T &item : items)
		item = item * by + 1;
	return *this;
}

template <class T, int N> T Ring<T, N>::operator()(T more) const
{
	T sum = more;

	for (T item : *this)
		sum += item;
	return sum;
}

template <class F> int apply(F f, int n)
{
	return n ? f(n) + apply(f, n - 1) : 0;
}

template <class... Rest> int count(int first, Rest... rest)
{
	if constexpr (sizeof...(rest) > 0)
		return first + count(rest...);
	else
		return first;
}

class Shape
{
      public:
	virtual ~Shape()
	{
	}
	virtual int area() const = 0;
};

class Square : public Shape
{
	int side;

      public:
	explicit Square(int side) : side(side)
	{
	}
	~Square() override
	{
		side = 0;
	}
	int area() const override
	{
		return side * side;
	}
};

struct Cooperator {
	static int run(int a)
	{
		struct Local {
			static int run(int a)
			{
				return plain(a) + 1;
			}
		};
		return Local::run(a) + Local::run(a + 1);
	}
};

namespace
{
struct Guard {
	int *left;
	~Guard()
	{
		++*left;
	}
};

[[gnu::noinline]] int fails(int depth, int *left)
{
	Guard guard = {left};

	if (depth == 0)
		throw depth;
	return fails(depth - 1, left) + 1;
}

int catches(int depth)
{
	int left = 0;

	try {
		return fails(depth, &left);
	} catch (int) {
		return left;
	}
}
} // namespace
} // namespace kinds

[[gnu::noinline]] static int step(int a)
{
	return plain(a) + 1;
}

static int inlined(int a)
{
	return step(a) + step(a + 1);
}

static int walk(int depth)
{
	return depth ? walk(depth - 1) + inlined(depth) + walk(depth / 2) : 0;
}

static int one_round(int a)
{
	kinds::Ring<int, 5> ring;
	kinds::Ring<double, 3> other;
	std::vector<int> numbers;
	std::map<std::string, int> names;
	std::function<int(int)> held = [&](int n) { return step(n) + a; };
	std::unique_ptr<kinds::Shape> shape = std::make_unique<kinds::Square>(a);
	auto nested = [&](int n) { return kinds::apply([n](int m) { return plain(n + m); }, 3); };

	for (int i = 0; i < 6; i++) {
		ring[i] = i;
		numbers.push_back((i * 7 + a) % 6);
		names[std::to_string(i % 3)] += i;
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	other[1] = (ring * 2 *= 3)(1);
	return ring.as<short>() + static_cast<bool>(other) + kinds::apply(held, 4) + kinds::apply(nested, 3) +
	       kinds::count(1, 2, 3, a) + shape->area() + kinds::Cooperator::run(a) + kinds::catches(4) +
	       walk(5) + other_file(a) + numbers[0] + static_cast<int>(names.size());
}

static int forks(int depth)
{
	int status = 0;

	if (depth)
		return forks(depth - 1) + plain(depth);
	if (fork() == 0) {
		one_round(9);
		_exit(0);
	}
	wait(&status);
	return status;
}

static void *thread(void *a)
{
	one_round(*static_cast<int *>(a));
	return nullptr;
}

static int plugged(const char *path, int a)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*work)(int, int (*)(int)) = nullptr;

	if (plugin)
		work = reinterpret_cast<int (*)(int, int (*)(int))>(dlsym(plugin, "plugin_work"));
	if (work)
		a = work(a, walk);
	if (plugin)
		dlclose(plugin);
	return a;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 6; i++) {
		/* So that what is left out is taken out of the code meanwhile. */
		struct timespec rest = {0, 2000000};
		pthread_t other;

		nanosleep(&rest, nullptr);
		sum += one_round(i);
		if (i % 3 == 1 && pthread_create(&other, nullptr, thread, &sum) == 0)
			pthread_join(other, nullptr);
		if (i % 3 == 2)
			sum += plugged(argv[1], i);
		if (i == 4 && argc > 2)
			sum += forks(2);
	}
	printf("%d\n", sum);
}

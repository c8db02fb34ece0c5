// Eight threads, each with a name and a work load of its own, that count their own calls: recursion, virtual
// calls, class templates, constructors and destructors, exceptions through several frames, calls small enough
// to be inlined. Prints "thread function calls", tab-separated, for every function a thread called.
#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>

#define UNTRACED __attribute__((no_instrument_function))

namespace
{

const int THREADS = 8;

enum function {
	FIB,
	ADD,
	TOTAL,
	AREA_SQUARE,
	AREA_CIRCLE,
	GUARD,
	GUARD_GONE,
	SINK,
	MIDDLE,
	CATCHER,
	HIDDEN,
	WORK,
	FUNCTIONS
};

const char *const names[FUNCTIONS] = {
        "work::fib(int)",
        "work::accumulator<long>::add(long)",
        "work::accumulator<long>::total() const",
        "work::square::area() const",
        "work::circle::area() const",
        "work::guard::guard(long&)",
        "work::guard::~guard()",
        "work::sink(int)",
        "work::middle(int)",
        "work::catcher(int)",
        "work::(anonymous namespace)::hidden(long)",
        "work::run(int)",
};

uint64_t counts[THREADS][FUNCTIONS];
__thread uint64_t *count;
pthread_barrier_t all_alive;

} // namespace

namespace work
{

int fib(int n)
{
	count[FIB]++;
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

template <typename T> class accumulator
{
      public:
	UNTRACED accumulator() : sum(0)
	{
	}
	void add(T value)
	{
		count[ADD]++;
		sum += value;
	}
	T total() const
	{
		count[TOTAL]++;
		return sum;
	}

      private:
	T sum;
};

struct shape {
	UNTRACED shape()
	{
	}
	virtual long area() const = 0;
};

struct square : shape {
	UNTRACED explicit square(long side) : side(side)
	{
	}
	long area() const override;
	long side;
};

long square::area() const
{
	count[AREA_SQUARE]++;
	return side * side;
}

struct circle : shape {
	UNTRACED explicit circle(long radius) : radius(radius)
	{
	}
	long area() const override;
	long radius;
};

long circle::area() const
{
	count[AREA_CIRCLE]++;
	return radius * radius * 355 / 113;
}

class guard
{
      public:
	explicit guard(long &open) : open(open)
	{
		count[GUARD]++;
		open++;
	}
	~guard()
	{
		count[GUARD_GONE]++;
		open--;
	}

      private:
	long &open;
};

__attribute__((noinline)) void sink(int n)
{
	count[SINK]++;
	if (n % 3 == 0)
		throw std::runtime_error("a multiple of three");
}

__attribute__((noinline)) void middle(int n)
{
	long open = 0;
	guard g(open);

	count[MIDDLE]++;
	sink(n);
}

__attribute__((noinline)) int catcher(int n)
{
	count[CATCHER]++;
	try {
		middle(n);
	} catch (const std::runtime_error &) {
		return 1;
	}
	return 0;
}

namespace
{

inline long hidden(long value)
{
	count[HIDDEN]++;
	return value ^ value >> 3;
}

} // namespace

long run(int number)
{
	accumulator<long> result;

	count[WORK]++;
	result.add(fib(12 + number));
	for (int i = 0; i < 100 * (number + 1); i++) {
		const square s(i);
		const circle c(i);
		const shape *either[] = {&c, &s, &s};

		result.add(hidden(either[(i + number) % 3]->area()));
	}
	for (int i = 0; i < 50 + number; i++)
		result.add(catcher(i));
	return result.total();
}

} // namespace work

UNTRACED static void *thread_main(void *argument)
{
	int number = static_cast<int>(reinterpret_cast<intptr_t>(argument));
	char name[16];

	snprintf(name, sizeof name, "worker %d", number);
	pthread_setname_np(pthread_self(), name);
	count = counts[number];
	pthread_barrier_wait(&all_alive);
	return reinterpret_cast<void *>(work::run(number));
}

UNTRACED int main()
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all_alive, nullptr, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], nullptr, thread_main, reinterpret_cast<void *>(i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], nullptr);
	for (int i = 0; i < THREADS; i++)
		for (int f = 0; f < FUNCTIONS; f++)
			if (counts[i][f])
				printf("worker %d\t%s\t%lu\n", i, names[f], counts[i][f]);
}

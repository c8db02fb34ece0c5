// Lesson 3: threads. Every thread has a row of its own, under the name it gave itself. Two cooks share one
// stove: in the picture one of them is always inside wait_for_stove while the other is inside cook.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <thread>

static std::mutex stove;

static void wait_for_stove()
{
	stove.lock();
}

static void cook(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

static void prepare_dish(int milliseconds)
{
	wait_for_stove();
	cook(milliseconds);
	stove.unlock();
}

static void cook_menu(const char *name, int milliseconds)
{
	pthread_setname_np(pthread_self(), name);
	for (int dish = 0; dish < 5; dish++)
		prepare_dish(milliseconds);
}

int main()
{
	std::thread soup(cook_menu, "soup cook", 2), sauce(cook_menu, "sauce cook", 3);

	soup.join();
	sauce.join();
	std::puts("dinner is served");
}

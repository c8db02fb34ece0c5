// Coroutines of C++20 in a trace: a promise that derives from traced_promise is a task. Two
// threads take turns at running the coroutines here.
//
//     fxt-c++ -g -std=c++20 -fcoroutines -pthread coroutines.cc -o coroutines
//     fxtrun ./coroutines
#include <coroutine>
#include <cstdio>
#include <deque>
#include <fxt/trace.h>
#include <mutex>
#include <thread>
#include <utility>

template <typename Inner> struct traced_awaiter {
	Inner inner;
	uint64_t id;
	bool suspended = false;

	bool await_ready() { return inner.await_ready(); }
	// Says it before `inner` hands the coroutine to another thread, which may resume it at once.
	auto await_suspend(auto handle)
	{
		suspended = true;
		FXT_TASK_SUSPEND("coroutine", "task", id);
		return inner.await_suspend(handle);
	}
	decltype(auto) await_resume()
	{
		if (suspended)
			FXT_TASK_RESUME("coroutine", "task", id);
		return inner.await_resume();
	}
};

struct traced_promise {
	uint64_t id = FXT_NONCE();

	traced_promise() { FXT_TASK_BEGIN("coroutine", "task", id); }
	~traced_promise() { FXT_TASK_END("coroutine", "task", id); }
	template <typename Inner> auto await_transform(Inner &&inner)
	{
		return traced_awaiter<Inner>{std::forward<Inner>(inner), id};
	}
};

static std::mutex lock;
static std::deque<std::coroutine_handle<>> ready[2]; // for each thread
static int running = 20, pieces;

struct job {
	struct promise_type : traced_promise {
		job get_return_object() { return {}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_never final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
};

// Continues on the other thread.
struct hop {
	int to;

	bool await_ready() { return false; }
	void await_suspend(std::coroutine_handle<> handle)
	{
		std::lock_guard<std::mutex> guard(lock);
		ready[to].push_back(handle);
	}
	void await_resume() {}
};

static job work(int hops)
{
	for (int i = 0; i <= hops; i++) {
		if (i > 0)
			co_await hop{i % 2};
		std::lock_guard<std::mutex> guard(lock);
		pieces++;
		running -= i == hops;
	}
}

static void run(int self)
{
	for (bool ends = false; !ends; std::this_thread::yield()) {
		std::coroutine_handle<> next;
		{
			std::lock_guard<std::mutex> guard(lock);
			ends = running == 0;
			if (!ready[self].empty()) {
				next = ready[self].front();
				ready[self].pop_front();
			}
		}
		if (next)
			next.resume();
	}
}

int main()
{
	int tasks = running;

	for (int i = 0; i < tasks; i++)
		work(i % 5);
	std::thread first(run, 0), second(run, 1);
	first.join();
	second.join();
	std::printf("tasks %d\npieces %d\n", tasks, pieces);
	return 0;
}

/*
 * Everything that unwinding inside malloc must survive at once, in eight threads: libraries
 * that come and go, exceptions, signal handlers that allocate, on small stacks too, forks,
 * and allocations everywhere. storm SECONDS prints "survived".
 */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>
#include <vector>

static std::atomic<bool> over;

static void allocate_a_little(int)
{
	void *volatile block = malloc(100);

	free(block);
}

[[gnu::noinline]] static std::string deep(int depth)
{
	if (depth == 0)
		throw std::runtime_error(std::string(100, 'x'));
	std::string own(50 + depth, 'a');
	return own + deep(depth - 1);
}

static void *throw_and_catch(void *)
{
	while (!over) {
		try {
			deep(20);
		} catch (const std::exception &e) {
			if (e.what()[0] != 'x')
				abort();
		}
	}
	return nullptr;
}

static void *load_and_unload(void *)
{
	static const char *const names[] = {
	        "libm.so.6", "libresolv.so.2", "libutil.so.1", "libz.so.1", "liblzma.so.5"};

	while (!over)
		for (const char *name : names)
			if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
				dlclose(library);
	return nullptr;
}

static void *grow(void *)
{
	while (!over) {
		std::vector<std::vector<int>> all(100);
		for (std::vector<int> &v : all)
			for (int i = 0; i < 100; i++)
				v.push_back(i);
	}
	return nullptr;
}

/* On a signal stack too small for a walk. raise() returns after its handler, which so interrupts no
 * allocation. */
static void *spin(void *)
{
	static char stack[16384];
	stack_t signal_stack = {};
	struct sigaction action = {};
	sigset_t set;

	signal_stack.ss_sp = stack;
	signal_stack.ss_size = sizeof(stack);
	sigaltstack(&signal_stack, nullptr);
	action.sa_handler = allocate_a_little;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGUSR1, &action, nullptr);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
	while (!over) {
		raise(SIGUSR1);
		sched_yield();
	}
	return nullptr;
}

static void *fork_and_wait(void *)
{
	while (!over) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			allocate_a_little(0);
			_exit(7);
		}
		if (child > 0 && (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7))
			abort();
		usleep(1000);
	}
	return nullptr;
}

static void *start_and_join(void *)
{
	while (!over) {
		pthread_t thread;

		if (pthread_create(
		            &thread, nullptr, [](void *) -> void * { return malloc(10); }, nullptr) == 0) {
			void *block;

			pthread_join(thread, &block);
			free(block);
		}
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = {throw_and_catch, throw_and_catch, load_and_unload, grow, grow, spin,
	        fork_and_wait, start_and_join};
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], nullptr, work[i], nullptr);
	sleep(argc > 1 ? atoi(argv[1]) : 5);
	over = true;
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	puts("survived");
	return 0;
}

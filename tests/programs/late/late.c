/*
 * Loads the agent by dlopen(), attaches and detaches: late AGENT PLUGIN SOCKET...
 *
 * Attaches once to each socket. Meanwhile its threads make calls, some of them old threads
 * that are inside of calls, a thread is created, a plugin is loaded, a child is forked and
 * another executes this file. Prints "SOCKET'S NUMBER FUNCTION CALLS" for each function and
 * phase. Then compares its code and slots, and those of its libraries, with those before.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  2000

#define CHILD_CALLS 10
#define IMAGE_CALLS 7

#ifdef __clang__
#define UNRECORDED __attribute__((no_instrument_function, patchable_function_entry(0), xray_never_instrument))
#else
#define UNRECORDED __attribute__((no_instrument_function, patchable_function_entry(0)))
#endif
#define RECORDED __attribute__((noinline, noclone))
#define XRAY
#ifdef __clang__
#undef XRAY
#define XRAY __attribute__((xray_always_instrument))
#endif

/* ---- the functions that are called ---- */

enum { LEAF, MIDDLE, JUMPER, JUMPED, HANDLED, NEW_THREAD, PLUGGED, COUNTED };
static const char *const names[COUNTED] = {
        "leaf", "middle", "jumper", "jumped", "handled", "new_thread", "plugged"};
static int made[COUNTED];
static volatile int is_counting;

UNRECORDED static void count(int what)
{
	if (is_counting)
		__atomic_fetch_add(&made[what], 1, __ATOMIC_RELAXED);
}

RECORDED XRAY int leaf(int number);
RECORDED XRAY int middle(int number);
RECORDED XRAY int jumped(jmp_buf *to);
RECORDED XRAY int jumper(void);
RECORDED XRAY void handled(int signal);
RECORDED XRAY void *new_thread(void *unused);
RECORDED XRAY int outer(int thread);

int leaf(int number)
{
	count(LEAF);
	return number * 3;
}

int middle(int number)
{
	int sum;

	count(MIDDLE);
	sum = leaf(number);
	return sum + leaf(number + 1);
}

int jumped(jmp_buf *to)
{
	count(JUMPED);
	longjmp(*to, 1);
}

int jumper(void)
{
	jmp_buf place;

	count(JUMPER);
	return setjmp(place) ? 1 : jumped(&place);
}

void handled(int signal)
{
	count(HANDLED);
	leaf(signal);
}

void *new_thread(void *unused)
{
	count(NEW_THREAD);
	middle(1);
	return unused;
}

/* ---- threads that wait for their turn, inside of a call that began before ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, waiting, is_over; /* under the lock */

UNRECORDED static int next_turn(int seen)
{
	pthread_mutex_lock(&lock);
	waiting++;
	pthread_cond_broadcast(&changed);
	while (turn == seen && !is_over)
		pthread_cond_wait(&changed, &lock);
	seen = is_over ? -1 : turn;
	pthread_mutex_unlock(&lock);
	return seen;
}

UNRECORDED static void await_all(void)
{
	pthread_mutex_lock(&lock);
	while (waiting < THREADS)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

UNRECORDED static void give_turn(int last)
{
	pthread_mutex_lock(&lock);
	waiting = 0;
	turn++;
	is_over = last;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

int outer(int thread)
{
	int seen = 0, sum = 0;

	while ((seen = next_turn(seen)) > 0)
		for (int i = 0; i < ROUNDS; i++) {
			sum += middle(i);
			if (i % 50 == 0) {
				sum += jumper();
				pthread_kill(pthread_self(), SIGUSR1);
			}
		}
	return sum + thread;
}

UNRECORDED static void *worker(void *number)
{
	return (void *)(intptr_t)(outer((int)(intptr_t)number) & 1);
}

/* ---- code and slots ---- */

struct slot {
	uint64_t *address, value;
	uint64_t low, high; /* of its module */
};

static struct seen {
	uint64_t code;
	struct slot *slots;
	size_t count, room;
	const char *agent;
	uint64_t agent_low, agent_high;
} seen;

UNRECORDED static void add_slots(
        struct dl_phdr_info *info, uint64_t low, uint64_t high, const ElfW(Rela) * first, size_t bytes)
{
	for (size_t i = 0; first && i < bytes / sizeof(*first); i++) {
		uint64_t *at = (uint64_t *)(info->dlpi_addr + first[i].r_offset);

		if (!ELF64_R_SYM(first[i].r_info))
			continue;
		if (seen.count == seen.room) {
			seen.room = seen.room * 2 + 1024;
			seen.slots = realloc(seen.slots, seen.room * sizeof(*seen.slots));
		}
		seen.slots[seen.count++] = (struct slot){at, *at, low, high};
	}
}

UNRECORDED static int look_at_module(struct dl_phdr_info *info, size_t bytes, void *with_slots)
{
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Rela) *calls = NULL, *data = NULL;
	uint64_t low = UINT64_MAX, high = 0, call_bytes = 0, data_bytes = 0;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + part->p_vaddr);

		if (part->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)at;
		if (part->p_type != PT_LOAD)
			continue;
		low = (uint64_t)at < low ? (uint64_t)at : low;
		high = (uint64_t)(at + part->p_memsz) > high ? (uint64_t)(at + part->p_memsz) : high;
		if (strstr(info->dlpi_name, "libfxtagent") || !(part->p_flags & PF_X))
			continue;
		for (size_t n = 0; n < part->p_memsz; n++)
			seen.code = (seen.code ^ at[n]) * UINT64_C(0x100000001b3);
	}
	if (strstr(info->dlpi_name, "libfxtagent")) {
		seen.agent_low = low;
		seen.agent_high = high;
		return 0;
	}
	for (; with_slots && dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		uint64_t value = dynamic->d_un.d_val;

		if (dynamic->d_tag == DT_JMPREL)
			calls = (const ElfW(Rela) *)value;
		if (dynamic->d_tag == DT_RELA)
			data = (const ElfW(Rela) *)value;
		if (dynamic->d_tag == DT_PLTRELSZ)
			call_bytes = value;
		if (dynamic->d_tag == DT_RELASZ)
			data_bytes = value;
	}
	if (!strchr(info->dlpi_name, '/') && info->dlpi_name[0])
		return 0; /* the vdso */
	add_slots(info, low, high, calls, call_bytes);
	add_slots(info, low, high, data, data_bytes);
	return 0;
}

/* A slot may have been bound in between: it led into its module. */
UNRECORDED static void compare(const char *when)
{
	uint64_t code = seen.code;

	seen.code = 0;
	dl_iterate_phdr(look_at_module, NULL);
	if (seen.code != code)
		printf("%s: code differs\n", when);
	for (size_t i = 0; i < seen.count; i++) {
		struct slot *slot = &seen.slots[i];
		uint64_t now = *slot->address;

		if (now != slot->value && (slot->value < slot->low || slot->value >= slot->high ||
		                                  (now >= seen.agent_low && now < seen.agent_high))) {
			Dl_info was = {0}, is = {0};

			dladdr((void *)slot->value, &was);
			dladdr((void *)now, &is);
			printf("%s: a slot at %p differs: %s %s, was %s\n", when, (void *)slot->address,
			        is.dli_fname, is.dli_sname, was.dli_sname);
		}
		slot->value = now;
	}
}

/* ---- phases ---- */

UNRECORDED static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "late: %s\n", what);
		exit(1);
	}
}

UNRECORDED static void in_child(void)
{
	for (int i = 0; i < CHILD_CALLS; i++)
		leaf(i);
	_exit(0);
}

UNRECORDED static void phase(const char *plugin)
{
	int status;
	pid_t child;
	pthread_t thread;
	void *library;
	int (*plugged)(int);

	give_turn(0);
	require(pthread_create(&thread, NULL, new_thread, NULL) == 0, "pthread_create");
	require(pthread_join(thread, NULL) == 0, "pthread_join");
	library = dlopen(plugin, RTLD_NOW);
	require(library != NULL, "dlopen");
	plugged = (int (*)(int))dlsym(library, "plugged");
	for (int i = 0; i < 100; i++) {
		count(PLUGGED);
		plugged(i);
	}
	require(dlclose(library) == 0, "dlclose");
	child = fork();
	if (child == 0)
		in_child();
	require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "fork");
	child = fork();
	if (child == 0) {
		execl("/proc/self/exe", "late", "image", NULL);
		_exit(1);
	}
	require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "exec");
	if (is_counting)
		made[LEAF] += CHILD_CALLS + IMAGE_CALLS;
	await_all();
}

typedef int attach_function(const char *settings, size_t bytes);
typedef int detach_function(void);

int main(int count_of_arguments, char **arguments)
{
	pthread_t threads[THREADS];
	attach_function *attach;
	detach_function *detach;
	void *agent;

	if (count_of_arguments == 2) { /* a child's image */
		for (int i = 0; i < IMAGE_CALLS; i++)
			leaf(i);
		return getenv("LD_PRELOAD") || getenv("FXT_SOCKET");
	}
	signal(SIGUSR1, handled);
	for (intptr_t i = 0; i < THREADS; i++)
		require(pthread_create(&threads[i], NULL, worker, (void *)i) == 0, "pthread_create");
	await_all();
	phase(arguments[2]);
	agent = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
	if (!agent)
		fprintf(stderr, "late: %s\n", dlerror());
	require(agent != NULL, "no agent");
	attach = (attach_function *)dlsym(agent, "fxt_agent_attach");
	detach = (detach_function *)dlsym(agent, "fxt_agent_detach");
	require(attach && detach, "no functions");
	dl_iterate_phdr(look_at_module, &seen);
	compare("at first");
	for (int i = 3; i < count_of_arguments; i++) {
		char settings[4200];
		int bytes =
		        snprintf(settings, sizeof(settings), "FXT_NOTHING=%cFXT_SOCKET=%s", 0, arguments[i]);

		memset(made, 0, sizeof(made));
		phase(arguments[2]);
		compare("unattached");
		errno = attach(settings, (size_t)bytes + 1);
		require(errno == 0, strerror(errno));
		require(attach(settings, (size_t)bytes + 1) == EALREADY, "attached twice");
		is_counting = 1;
		phase(arguments[2]);
		is_counting = 0;
		for (int n = 0; n < COUNTED; n++)
			printf("%d %s %d\n", i - 2, names[n], made[n]);
		while ((errno = detach()) == EAGAIN)
			usleep(1000);
		require(errno == 0, strerror(errno));
		require(detach() == EINVAL, "detached twice");
		compare("detached");
		phase(arguments[2]);
	}
	give_turn(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	compare("at last");
	puts("over");
	return 0;
}

/*
 * Threads that hold locks and wait for others: holders SCENE KIND [late]. Late: when all have what they hold, it
 * prints "held" and awaits a line. Once all of them are seen to sleep, it prints "waiter<tab>lock<tab>holder<tab>verdict" for each wait, by the numbers of the threads, and then "ready PID".
 * The verdict is "dead" if the thread waits for itself in the end, and else "waits".
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>
#include "asleep.h"

#define UNTRACED __attribute__((no_instrument_function))

/* ---- locks of every kind ---- */

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	mtx_t c11;
};

static union lock red, green, blue;
static const char *kind;

UNTRACED static void make(union lock *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	if (!strcmp(kind, "robust"))
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (!strcmp(kind, "inherits"))
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (!strcmp(kind, "recursive"))
		pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	if (!strcmp(kind, "rwlock"))
		pthread_rwlock_init(&lock->rwlock, NULL);
	else if (!strcmp(kind, "c11"))
		mtx_init(&lock->c11, mtx_plain);
	else
		pthread_mutex_init(&lock->mutex, &attributes);
}

UNTRACED static void take(union lock *lock)
{
	if (!strcmp(kind, "rwlock"))
		pthread_rwlock_wrlock(&lock->rwlock);
	else if (!strcmp(kind, "c11"))
		mtx_lock(&lock->c11);
	else
		pthread_mutex_lock(&lock->mutex);
}

UNTRACED static void give(union lock *lock)
{
	if (!strcmp(kind, "rwlock"))
		pthread_rwlock_unlock(&lock->rwlock);
	else if (!strcmp(kind, "c11"))
		mtx_unlock(&lock->c11);
	else
		pthread_mutex_unlock(&lock->mutex);
}

UNTRACED static const char *name(const union lock *lock)
{
	return lock == &red ? "red" : lock == &green ? "green" : "blue";
}

/* ---- scenes: what each thread holds, and then waits for ---- */

enum { THREADS = 3, HELD = 2 };

struct role {
	union lock *holds[HELD], *wants;
	bool is_dead; /* its wait */
};

static const struct scene {
	const char *name;
	struct role roles[THREADS];
} scenes[] = {
        {"two", {{{&red}, &green, true}, {{&green}, &red, true}}},
        {"three", {{{&red}, &green, true}, {{&green}, &blue, true}, {{&blue}, &red, true}}},
        {"itself", {{{&red}, &red, true}}},
        {"busy", {{{&red, &green}, NULL, false}, {{NULL}, &red, false}, {{NULL}, &green, false}}},
        {"chain", {{{&red}, NULL, false}, {{&green}, &red, false}, {{NULL}, &green, false}}},
        {"beside", {{{&red}, &green, true}, {{&green}, &red, true}, {{NULL}, &red, false}}},
};

static const struct scene *scene;
static pthread_barrier_t all_hold, may_wait;
static volatile int tids[THREADS];

__attribute__((noinline)) static void *play(void *argument)
{
	const struct role *role = argument;

	tids[role - scene->roles] = gettid();
	for (int i = 0; i < HELD && role->holds[i]; i++)
		take(role->holds[i]);
	pthread_barrier_wait(&all_hold);
	pthread_barrier_wait(&may_wait);
	if (role->wants)
		take(role->wants);
	for (;;)
		pause();
	return NULL;
}

UNTRACED static int holder_of(const union lock *lock)
{
	for (int i = 0; i < THREADS; i++)
		for (int j = 0; j < HELD; j++)
			if (scene->roles[i].holds[j] == lock)
				return tids[i];
	return 0;
}

UNTRACED static void play_scene(const char *wanted, bool is_late)
{
	const struct scene *end = scenes + sizeof(scenes) / sizeof(*scenes);
	int count = 0;
	pthread_t thread;

	for (scene = scenes; scene < end && strcmp(scene->name, wanted) != 0;)
		scene++;
	if (scene == end)
		exit(2);
	while (count < THREADS && (scene->roles[count].holds[0] || scene->roles[count].wants))
		count++;
	pthread_barrier_init(&all_hold, NULL, (unsigned)count + 1);
	pthread_barrier_init(&may_wait, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		pthread_create(&thread, NULL, play, (void *)&scene->roles[i]);
	pthread_barrier_wait(&all_hold);
	if (is_late) {
		printf("held\n");
		fflush(stdout);
		getchar();
	}
	pthread_barrier_wait(&may_wait);
	for (int i = 0; i < count; i++) {
		const struct role *role = &scene->roles[i];

		while (!tids[i])
			sched_yield();
		if (!role->wants)
			continue;
		until_asleep(tids[i], role->wants, sizeof(*role->wants));
		printf("%d\t%s\t%d\t%s\n", tids[i], name(role->wants), holder_of(role->wants),
		        role->is_dead ? "dead" : "waits");
	}
}

/* ---- a holder that ended, and one that is joined ---- */

UNTRACED static void *take_and_end(void *unused)
{
	tids[0] = gettid();
	take(&red);
	return unused;
}

__attribute__((noinline)) static void *take_red(void *unused)
{
	tids[1] = gettid();
	take(&red);
	return unused;
}

UNTRACED static void play_ended(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, take_and_end, NULL);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[1], NULL, take_red, NULL);
	while (!tids[1])
		sched_yield();
	until_asleep(tids[1], &red, sizeof(red));
	printf("%d\tred\t%d\twaits\n", tids[1], tids[0]);
}

__attribute__((noinline)) static void *take_and_join(void *unused)
{
	pthread_t thread;

	take(&red);
	pthread_create(&thread, NULL, take_red, NULL);
	tids[0] = gettid();
	pthread_join(thread, NULL);
	return unused;
}

UNTRACED static void play_joined(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_and_join, NULL);
	while (!tids[0] || !tids[1])
		sched_yield();
	until_asleep(tids[1], &red, sizeof(red));
	until_asleep(tids[0], NULL, SIZE_MAX);
	printf("%d\tjoin\t%d\tdead\n", tids[0], tids[1]);
	printf("%d\tred\t%d\tdead\n", tids[1], tids[0]);
}

/*
 * The first thread has green and waits for red, which the second one gives away; but main takes red before the
 * first one runs, because a signal handler keeps it. Then the second one waits for green. Main waits for no lock.
 */
static volatile int is_kept, may_go_on;

UNTRACED static void keep(int unused)
{
	(void)unused;
	for (is_kept = 1; !may_go_on;)
		sched_yield();
}

__attribute__((noinline)) static void *green_then_red(void *unused)
{
	take(&green);
	tids[0] = gettid();
	take(&red);
	return unused;
}

__attribute__((noinline)) static void *red_then_green(void *first)
{
	take(&red);
	tids[1] = gettid();
	while (!tids[0])
		sched_yield();
	until_asleep(tids[0], &red, sizeof(red));
	pthread_kill(*(pthread_t *)first, SIGUSR1);
	while (!is_kept)
		sched_yield();
	give(&red);
	tids[2] = 1;
	take(&green);
	return NULL;
}

UNTRACED static void play_barged(void)
{
	struct sigaction keeps = {.sa_handler = keep, .sa_flags = SA_RESTART};
	pthread_t threads[2];

	sigaction(SIGUSR1, &keeps, NULL);
	pthread_create(&threads[1], NULL, red_then_green, &threads[0]);
	while (!tids[1])
		sched_yield();
	pthread_create(&threads[0], NULL, green_then_red, NULL);
	while (!tids[2])
		sched_yield();
	take(&red);
	may_go_on = 1;
	until_asleep(tids[0], &red, sizeof(red));
	until_asleep(tids[1], &green, sizeof(green));
	/* The lock's owner when the first wait began has released it since. */
	printf("%d\tred\tunknown\twaits\n", tids[0]);
	printf("%d\tgreen\t%d\twaits\n", tids[1], tids[0]);
}

UNTRACED int main(int count, char **arguments)
{
	if (count < 3)
		return 2;
	kind = arguments[2];
	make(&red);
	make(&green);
	make(&blue);
	if (!strcmp(arguments[1], "ended"))
		play_ended();
	else if (!strcmp(arguments[1], "joined"))
		play_joined();
	else if (!strcmp(arguments[1], "barged"))
		play_barged();
	else
		play_scene(arguments[1], count > 3);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}

/*
 * Calls Intel's ITT API through a small part of its own that stands for the one of
 * ittnotify: it loads the library that INTEL_LIBITTNOTIFY64 names, and lets it fill
 * pointers to functions. Prints the events that a collector sees, as
 * tests/independent/saiddecode.py does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct domain {
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct domain *next;
};

struct string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct string *next;
};

struct id {
	unsigned long long d1, d2, d3;
};

struct counter {
	const char *name;
	void *wide;
	const char *domain;
	void *wide_domain;
	int type;
	long index;
	int extra1;
	void *extra2;
	struct counter *next;
};

static struct domain *(*domain_create)(const char *);
static struct string *(*string_create)(const char *);
static struct counter *(*counter_create)(const char *, const char *);
static struct counter *(*counter_create_typed)(const char *, const char *, int);
static void (*task_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*task_begin_fn)(const struct domain *, struct id, struct id, void *);
static void (*task_end)(const struct domain *);
static void (*overlapped_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*overlapped_end)(const struct domain *, struct id);
static void (*region_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*region_end)(const struct domain *, struct id);
static void (*frame_begin)(const struct domain *, struct id *);
static void (*frame_end)(const struct domain *, struct id *);
static void (*marker)(const struct domain *, struct id, struct string *, int);
static void (*metadata_add)(const struct domain *, struct id, struct string *, int, size_t, void *);
static void (*metadata_str_add)(const struct domain *, struct id, struct string *, const char *, size_t);
static void (*thread_set_name)(const char *);
static void (*counter_inc)(struct counter *);
static void (*counter_dec_delta)(struct counter *, unsigned long long);
static void (*counter_set)(struct counter *, void *);
static void (*counter_inc_v3)(const struct domain *, struct string *);
static void (*unknown)(void) = abort;
static void (*other_group)(const struct domain *);

#define STRUCTURE 1
#define OTHERS    2

static struct function {
	const char *name;
	void **pointer;
	void *first, *none;
	int group;
} functions[] = {
        {"__itt_domain_create", (void **)&domain_create, NULL, NULL, STRUCTURE},
        {"__itt_string_handle_create", (void **)&string_create, NULL, NULL, STRUCTURE},
        {"__itt_counter_create", (void **)&counter_create, NULL, NULL, STRUCTURE},
        {"__itt_counter_create_typed", (void **)&counter_create_typed, NULL, NULL, STRUCTURE},
        {"__itt_task_begin", (void **)&task_begin, NULL, NULL, STRUCTURE},
        {"__itt_task_begin_fn", (void **)&task_begin_fn, NULL, NULL, STRUCTURE},
        {"__itt_task_end", (void **)&task_end, NULL, NULL, STRUCTURE},
        {"__itt_task_begin_overlapped", (void **)&overlapped_begin, NULL, NULL, STRUCTURE},
        {"__itt_task_end_overlapped", (void **)&overlapped_end, NULL, NULL, STRUCTURE},
        {"__itt_region_begin", (void **)&region_begin, NULL, NULL, STRUCTURE},
        {"__itt_region_end", (void **)&region_end, NULL, NULL, STRUCTURE},
        {"__itt_frame_begin_v3", (void **)&frame_begin, NULL, NULL, STRUCTURE},
        {"__itt_frame_end_v3", (void **)&frame_end, NULL, NULL, STRUCTURE},
        {"__itt_marker", (void **)&marker, NULL, NULL, STRUCTURE},
        {"__itt_metadata_add", (void **)&metadata_add, NULL, NULL, STRUCTURE},
        {"__itt_metadata_str_add", (void **)&metadata_str_add, NULL, NULL, STRUCTURE},
        {"__itt_thread_set_name", (void **)&thread_set_name, NULL, NULL, STRUCTURE},
        {"__itt_counter_inc", (void **)&counter_inc, NULL, NULL, STRUCTURE},
        {"__itt_counter_dec_delta", (void **)&counter_dec_delta, NULL, NULL, STRUCTURE},
        {"__itt_counter_set_value", (void **)&counter_set, NULL, NULL, STRUCTURE},
        {"__itt_counter_inc_v3", (void **)&counter_inc_v3, NULL, NULL, STRUCTURE},
        {"__itt_of_a_later_version", (void **)&unknown, NULL, NULL, STRUCTURE},
        {"__itt_task_end", (void **)&other_group, NULL, NULL, OTHERS},
        {NULL, NULL, NULL, NULL, 0},
};

static struct {
	unsigned char magic[8];
	unsigned long major, minor, build;
	long state[3];
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct function *functions;
} program = {
        {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
        3,
        25,
        20230630,
        {0, 0, 0},
        PTHREAD_MUTEX_INITIALIZER,
        NULL,
        NULL,
        NULL,
        functions,
};

static void load_collector(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void (*begin)(void *, int) = NULL;

	if (path)
		program.library = dlopen(path, RTLD_LAZY);
	if (program.library)
		*(void **)&begin = dlsym(program.library, "__itt_api_init");
	if (!begin) {
		puts("no collector");
		exit(0);
	}
	begin(&program, STRUCTURE);
	if (unknown || other_group)
		exit(1);
}

static struct domain *domain;
static const struct id none;

static void *run(void *unused)
{
	struct string *request = string_create("request");

	thread_set_name("itt thread");
	for (int i = 0; i < 1000; i++) {
		task_begin(domain, none, none, request);
		task_end(domain);
		puts("begin\tunit\trequest\nend\tunit\trequest");
	}
	return unused;
}

static void count(void)
{
	struct counter *bytes = counter_create("bytes", "unit");
	struct counter *load = counter_create_typed("load", "unit", 8);
	double value = 0.5;

	counter_inc(bytes);
	counter_inc(counter_create("bytes", "unit"));
	counter_dec_delta(bytes, 5);
	counter_set(load, &value);
	counter_inc_v3(domain, string_create("seen"));
	puts("counter\tunit\tbytes\t0\tvalue=int64:1\ncounter\tunit\tbytes\t0\tvalue=int64:2");
	puts("counter\tunit\tbytes\t0\tvalue=int64:-3\ncounter\tunit\tload\t0\tvalue=double:0.5");
	puts("counter\tunit\tseen\t0\tvalue=int64:1");
}

static void describe(void)
{
	unsigned short sizes[2] = {1, 0x203};
	long long most = -7;

	metadata_add(domain, none, string_create("most"), 2, 1, &most);
	metadata_add(domain, none, string_create("sizes"), 5, 2, sizes);
	metadata_str_add(domain, none, string_create("path"), "/index.html", 6);
	puts("instant\tunit\tmost\tvalue=int64:-7\ninstant\tunit\tsizes\tvalue=blob:01000302");
	puts("instant\tunit\tpath\tvalue=string:/index");
}

int main(void)
{
	struct string *outer, *inner;
	struct id first = {11, 0, 0}, second = {12, 0, 0};
	pthread_t threads[2];

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	load_collector();
	domain = domain_create("unit");
	outer = string_create("outer");
	inner = string_create("inner");
	if (domain_create("unit") != domain || string_create("outer") != outer || !domain->flags)
		return 1;
	task_begin(domain, none, none, outer);
	task_begin_fn(domain, none, none, (void *)0x1234);
	for (int i = 0; i < 100; i++)
		task_begin(domain, none, none, inner);
	for (int i = 0; i < 102; i++)
		task_end(domain);
	task_end(domain); /* of none */
	overlapped_begin(domain, first, none, outer);
	region_begin(domain, second, first, NULL);
	overlapped_end(domain, first);
	region_end(domain, second);
	frame_begin(domain, &first);
	frame_end(domain, &first);
	marker(domain, none, inner, 1);
	printf("begin\tunit\touter\nbegin\tunit\ttask\tfunction=pointer:"
	       "0x1234\nend\tunit\ttask\nend\tunit\touter\n");
	for (int i = 0; i < 100; i++)
		printf("begin\tunit\tinner\nend\tunit\t%s\n", i < 28 ? "inner" : "task");
	puts("async begin\tunit\touter\t11\nasync begin\tunit\tregion\t12\nasync end\tunit\touter\t11");
	puts("async end\tunit\tregion\t12\nasync begin\tunit\tframe\t11\nasync end\tunit\tframe\t11");
	puts("instant\tunit\tinner");
	count();
	describe();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	task_begin(domain, none, none, outer);
	if (fork() == 0) {
		task_end(domain); /* its parent's */
		task_begin(domain, none, none, inner);
		task_end(domain);
		puts("begin\tunit\tinner\nend\tunit\tinner");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	task_end(domain);
	puts("begin\tunit\touter\nend\tunit\touter");
	return 0;
}

/*
 * Lesson 5: what only the program knows. A server whose requests cross three threads says
 * so by <fxt/trace.h>: a span for each request, arrows from thread to thread, the length of
 * its queues, and the names of its connections. It prints what the trace must have.
 *
 *     fxt-cc -g -pthread server.c -o server
 *     fxtrun ./server
 *     fxt report trace.fxt
 *     fxt slow handle --by=arg:path trace.fxt
 *     fxt slow answer --where 'status=500' trace.fxt
 *     fxt counters trace.fxt
 */
#include <fxt/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define REQUESTS    60
#define CONNECTIONS 4

FXT_CATEGORY("server", "requests and their way through the server");

struct request {
	struct request *next;
	const char *from; /* its connection */
	const char *path;
	uint64_t id; /* of its span and its arrows */
	int status;
	unsigned bytes;
};

/* Requests on their way from one thread to the next. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct request *first, **end;
	int length;
};

static struct queue parsed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &parsed.first, 0};
static struct queue handled = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &handled.first, 0};
static struct request requests[REQUESTS];
static char connections[CONNECTIONS][16]; /* their names */
static int changes;                       /* of the queues, each of which is a value of a counter */

/* The caller holds the lock. */
static void queue_change(struct queue *q, int by)
{
	q->length += by;
	FXT_COUNTER("server", "queue", q == &handled, "waiting", q->length);
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
}

static void queue_put(struct queue *q, struct request *r)
{
	pthread_mutex_lock(&q->lock);
	r->next = NULL;
	*q->end = r;
	q->end = &r->next;
	queue_change(q, 1);
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static struct request *queue_take(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->first)
		pthread_cond_wait(&q->filled, &q->lock);
	struct request *r = q->first;

	q->first = r->next;
	if (!q->first)
		q->end = &q->first;
	queue_change(q, -1);
	pthread_mutex_unlock(&q->lock);
	return r;
}

static void receive(struct request *r, int number)
{
	static const char *const paths[] = {"/", "/style.css", "/report", "/missing"};

	r->path = paths[number % 4];
	r->from = connections[number % CONNECTIONS];
	r->id = FXT_NONCE();
	FXT_ASYNC_BEGIN("server", "request", r->id, "path", r->path);
	FXT_DURATION("server", "receive", "path", r->path, "connection", FXT_TA_POINTER(r->from));
	FXT_FLOW_BEGIN("server", "request", r->id);
	queue_put(&parsed, r);
}

static void handle(struct request *r, int number)
{
	FXT_DURATION("server", "handle", "path", r->path);
	FXT_FLOW_STEP("server", "request", r->id);
	r->status = number % 20 == 2 ? 500 : number % 4 == 3 ? 404 : 200;
	r->bytes = r->status == 200 ? 1000u << number % 4 : 0;
	if (number % 4 == 2) /* a report takes its time */
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	queue_put(&handled, r);
}

static void answer(struct request *r)
{
	FXT_DURATION("server", "answer", "status", r->status, "bytes", r->bytes);
	FXT_FLOW_END("server", "request", r->id);
	FXT_ASYNC_END("server", "request", r->id, "status", r->status);
}

static void *handle_all(void *unused)
{
	FXT_THREAD_NAME("handler");
	for (int i = 0; i < REQUESTS; i++)
		handle(queue_take(&parsed), i);
	return unused;
}

static void *answer_all(void *unused)
{
	FXT_THREAD_NAME("answerer");
	for (int i = 0; i < REQUESTS; i++)
		answer(queue_take(&handled));
	return unused;
}

int main(void)
{
	pthread_t handler, answerer;
	unsigned failed = 0, missing = 0, bytes = 0;

	for (int i = 0; i < CONNECTIONS; i++) {
		snprintf(connections[i], sizeof(connections[i]), "connection %d", i);
		FXT_USERSPACE_OBJECT(connections[i], connections[i]);
	}
	pthread_create(&handler, NULL, handle_all, NULL);
	pthread_create(&answerer, NULL, answer_all, NULL);
	for (int i = 0; i < REQUESTS; i++)
		receive(&requests[i], i);
	pthread_join(handler, NULL);
	pthread_join(answerer, NULL);
	for (int i = 0; i < REQUESTS; i++) {
		failed += requests[i].status == 500;
		missing += requests[i].status == 404;
		bytes += requests[i].bytes;
	}
	printf("requests %d\nfailed %u\nmissing %u\nbytes %u\nchanges %d\n", REQUESTS, failed, missing, bytes,
	        changes);
	return 0;
}

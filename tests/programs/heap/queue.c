/*
 * Waits for a condition inside a block of the heap, and for one outside every block. A
 * thread fulfils each, after the wait has begun, because of the lock.
 */
#include <pthread.h>
#include <stdlib.h>

struct queue {
	char before[200];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int is_done;
};

static struct queue outside = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __attribute__((noinline)) struct queue *new_queue(void)
{
	struct queue *queue = calloc(1, sizeof(*queue));

	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	return queue;
}

static void *fulfil(void *argument)
{
	struct queue *queue = argument;

	pthread_mutex_lock(&queue->lock);
	queue->is_done = 1;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

static void wait_for(struct queue *queue)
{
	pthread_t thread;

	pthread_mutex_lock(&queue->lock);
	pthread_create(&thread, NULL, fulfil, queue);
	while (!queue->is_done)
		pthread_cond_wait(&queue->changed, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
	pthread_join(thread, NULL);
}

int main(void)
{
	struct queue *queue = new_queue();

	wait_for(queue);
	free(queue);
	wait_for(&outside);
	return 0;
}

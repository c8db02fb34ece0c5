/*
 * The beginnings of the manager's own threads, and of the conditions that they wait for.
 */
#ifndef FXT_LAUNCHER_MANAGER_THREADS_H
#define FXT_LAUNCHER_MANAGER_THREADS_H

#include <pthread.h>
#include <stddef.h>
#include <time.h>

/* Starts a thread with a stack of that size. Returns 0, or an errno value. */
static inline int fxt_thread_start(
        pthread_t *thread, size_t stack_bytes, void *(*run)(void *context), void *context)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	error = pthread_create(thread, &attributes, run, context);
	pthread_attr_destroy(&attributes);
	return error;
}

/* Makes a condition whose deadlines are times of CLOCK_MONOTONIC. */
static inline void fxt_condition_begin(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

#endif

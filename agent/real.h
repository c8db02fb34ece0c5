/*
 * The functions behind those we interpose: the next of that name in the program's search order, looked up
 * once.
 */
#ifndef FXT_AGENT_REAL_H
#define FXT_AGENT_REAL_H

#include <pthread.h>

int real_pthread_create(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument);
int real_pthread_setname_np(pthread_t thread, const char *name);
int real_prctl(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

/* Looks all of them up. In the constructor; a function called earlier is looked up by its call. */
void real_resolve(void);

#endif

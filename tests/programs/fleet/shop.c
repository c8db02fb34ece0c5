/*
 * A shop: shop ORDERS ROUNDS. Its orders are spans with an argument, take memory, and are
 * booked by another thread, which the program waits for. In VERSION 2 they take longer than
 * in 1. Prints how many orders, calls with their spans, and blocks of serve() it made.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "fxt/trace.h"

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t booked = PTHREAD_COND_INITIALIZER;
static volatile unsigned sum;
static char *volatile entry;
static int is_booked;

void add_up(int rounds)
{
	for (int i = 0; i < rounds * VERSION; i++)
		sum += (unsigned)i;
}

void serve(int number, int rounds)
{
	FXT_DURATION("shop", "order", "path", number % 3 ? "/cart" : "/pay", "number", number);
	entry = malloc(100 + (unsigned)number);
	add_up(rounds);
	if (number % 4)
		free(entry);
}

void *book(void *none)
{
	pthread_mutex_lock(&ledger);
	is_booked = 1;
	pthread_cond_signal(&booked);
	pthread_mutex_unlock(&ledger);
	return none;
}

int main(int argc, char **argv)
{
	int orders = atoi(argv[argc - 2]), rounds = atoi(argv[argc - 1]);
	pthread_t clerk;

	for (int i = 0; i < orders; i++)
		serve(i, rounds);
	pthread_mutex_lock(&ledger); /* held until the wait begins */
	pthread_create(&clerk, NULL, book, NULL);
	while (!is_booked)
		pthread_cond_wait(&booked, &ledger);
	pthread_mutex_unlock(&ledger);
	pthread_join(clerk, NULL);
	printf("%d %d %d\n", orders, 3 * orders + 2, orders);
}

/*
 * A shop with two clerks and an auditor, who share a ledger, until a customer without a name comes. What it
 * does is recorded in trace.fxt.zst and old.fxt.zst, which the examples of the manual page read. So were they
 * made:
 *
 *   gcc -O2 -g -D_GNU_SOURCE -finstrument-functions -pthread shop.c -o shop
 *   fxtrun --heap=objects -o trace.fxt.zst ./shop
 *   fxtrun --heap=objects -o old.fxt.zst ./shop old
 *
 * A new recording has other times: `make manual` puts these into the page.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ORDERS = 12 };

struct order {
	int number;
	const char *customer;
};

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static char *entries[ORDERS];
static volatile unsigned long sum;
static int is_old;

static void add_up(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sum = sum * 31 + (unsigned long)i;
}

static unsigned price_item(int item)
{
	add_up(is_old ? 30000 : 10000 + 2000 * item);
	return 3;
}

static unsigned price_order(const struct order *order)
{
	unsigned price = 0;

	for (int item = 0; item <= order->number % 3; item++)
		price += price_item(item);
	return price;
}

static char next_letter(const char **text)
{
	return *(*text)++;
}

static struct order *parse_order(int number)
{
	struct order *order = malloc(sizeof(*order));
	char *text = malloc(100);
	const char *at = text;

	snprintf(text, 100, "%99d", number);
	while (next_letter(&at)) {
	}
	*order = (struct order){number, number == ORDERS - 1 ? NULL : "somebody"};
	free(text);
	return order;
}

/* Entries are never freed. */
static void book_order(const struct order *order, unsigned price)
{
	pthread_mutex_lock(&ledger);
	entries[order->number] = malloc(1000 + strlen(order->customer));
	snprintf(entries[order->number], 1000, "%s: %u", order->customer, price);
	usleep(300);
	pthread_mutex_unlock(&ledger);
}

static void serve_order(int number)
{
	struct order *order = parse_order(number);

	book_order(order, price_order(order));
	free(order);
}

static void *serve_orders(void *first)
{
	pthread_setname_np(pthread_self(), first == NULL ? "clerk 1" : "clerk 2");
	for (int number = first != NULL; number < ORDERS; number += 2)
		serve_order(number);
	return NULL;
}

static void check_ledger(void)
{
	pthread_mutex_lock(&ledger);
	add_up(is_old ? 300000 : 1500000);
	pthread_mutex_unlock(&ledger);
}

static void *audit(void *unused)
{
	pthread_setname_np(pthread_self(), "auditor");
	usleep(1500);
	check_ledger();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t clerks[2], auditor;

	(void)argv;
	is_old = argc > 1;
	pthread_create(&clerks[0], NULL, serve_orders, NULL);
	pthread_create(&clerks[1], NULL, serve_orders, "second");
	pthread_create(&auditor, NULL, audit, NULL);
	pthread_join(auditor, NULL);
	pthread_join(clerks[0], NULL);
	pthread_join(clerks[1], NULL);
	return 0;
}

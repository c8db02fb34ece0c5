/* Calls with texts and pointers that lead nowhere, that never end, and that are no UTF-8. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "values.h"

struct node {
	struct node *next;
	char *text;
};

static volatile long calls;

APART void text(const char *s)
{
	calls += (long)s & 1;
}

APART void list(struct node *n)
{
	calls += (long)n & 1;
}

int main(void)
{
	static char long_text[100000];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct node end = {NULL, (char *)8}, wild = {(struct node *)-64L, long_text};

	mprotect(page + 4096, 4096, PROT_NONE);
	memset(page, 'p', 4096);
	memset(long_text, 'x', sizeof(long_text) - 1);
	text(long_text);
	text(page + 4000); /* has no end that can be read */
	text(page + 8000);
	text((char *)1);
	text((char *)-1L);
	text((char *)(1L << 62));
	text("a\377b\300\200c\"\\\n");
	/* cut in the middle of a character */
	memset(long_text, 'y', 119);
	memcpy(long_text + 119, "\303\274", 2);
	text(long_text);
	list(&end);
	list(&wild);
	list(NULL);
	return 0;
}

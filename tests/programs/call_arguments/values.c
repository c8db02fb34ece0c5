/* Calls with arguments of each kind; see values.h. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "values.h"

enum color { RED, GREEN = 5, BLUE = -1 };

struct inner {
	char name[8];
	double weight;
};

struct request {
	int id;
	const char *path;
	struct inner inner;
	enum color color;
	struct request *next;
};

struct pair {
	long first, second;
};

struct spot {
	float x, y;
	short id;
	bool is_set;
	int weight;
};

struct named {
	signed char kind;
	enum color color;
	const struct request *request;
};

APART int add(int a, long b)
{
	int sum = a + (int)b;

	say("\"add\" {a=int32:%d, b=int64:%ld, return=int32:%d}\n", a, b, sum);
	return sum;
}

APART unsigned char narrow(signed char a, unsigned short b, unsigned char c, uint64_t d)
{
	unsigned char result = (unsigned char)(a + b + c);

	say("\"narrow\" {a=int32:%d, b=uint32:%u, c=uint32:%u, d=uint64:%lu, return=uint32:%u}\n", a, b, c, d,
	        result);
	return result;
}

APART const char *greet(const char *who, bool is_loud)
{
	const char *result = is_loud ? "HELLO" : NULL;

	if (who)
		say("\"greet\" {who=\"%s\", is_loud=%s, return=%s}\n", who, is_loud ? "true" : "false",
		        result ? "\"HELLO\"" : "pointer:0x0");
	else
		say("\"greet\" {who=pointer:0x0, is_loud=%s, return=%s}\n", is_loud ? "true" : "false",
		        result ? "\"HELLO\"" : "pointer:0x0");
	return result;
}

APART double mix(double x, float y, int z, double more)
{
	double sum = x + (double)y + z + more;

	say("\"mix\" {x=double:%g, y=double:%g, z=int32:%d, more=double:%g, return=double:%g}\n", x,
	        (double)y, z, more, sum);
	return sum;
}

APART float halve(float x)
{
	say("\"halve\" {x=double:%g, return=double:%g}\n", (double)x, (double)x / 2);
	return x / 2;
}

APART enum color paint(enum color c)
{
	say("\"paint\" {c=%s, return=\"%s\"}\n",
	        c == RED    ? "\"RED\""
	        : c == BLUE ? "\"BLUE\""
	                    : "int32:77",
	        c == RED ? "BLUE" : "GREEN");
	return c == RED ? BLUE : GREEN;
}

APART int many(int a, int b, int c, int d, int e, int f, int g, const char *h, short i, double x)
{
	say("\"many\" {a=int32:%d, b=int32:%d, c=int32:%d, d=int32:%d, e=int32:%d, f=int32:%d, g=int32:%d, "
	    "h=\"%s\", i=int32:%d, x=double:%g, return=int32:%d}\n",
	        a, b, c, d, e, f, g, h, i, x, a + g);
	return a + g;
}

/* Structures take registers too. */
APART long spread(struct pair p, int a, struct request r, int b)
{
	say("\"spread\" {p=\"?\", a=int32:%d, r=\"?\", b=int32:%d, return=int64:%ld}\n", a, b,
	        p.first + p.second + r.id);
	return p.first + p.second + r.id;
}

/* Structures in one register of each kind, and in two. The last one has no register left. */
APART int locate(struct spot s, struct named n, struct pair p, struct pair last)
{
	say("\"locate\" {s.x=double:%g, s.y=double:%g, s.id=int32:%d, s.is_set=%s, s.weight=int32:%d, "
	    "n.kind=int32:%d, n.color=\"BLUE\", n.request->path=\"%s\", p.second=int64:%ld, "
	    "last.first=int64:%ld, return=int32:%d}\n",
	        (double)s.x, (double)s.y, s.id, s.is_set ? "true" : "false", s.weight, n.kind,
	        n.request->path, p.second, last.first, s.id);
	return s.id;
}

APART struct request make(int id)
{
	struct request made = {.id = id};

	say("\"make\" {id=int32:%d, return=\"?\"}\n", id);
	return made;
}

APART int handle(struct request *r)
{
	say("\"handle\" {r->path=\"%s\", r->inner.name=\"%s\", r->inner.weight=double:%g, "
	    "r->color=\"GREEN\", "
	    "r->next->id=int32:%d, return=int32:%d}\n",
	        r->path, r->inner.name, r->inner.weight, r->next->id, r->id);
	return r->id;
}

APART void *give(void *p)
{
	say("\"give\" {p=pointer:0x%lx, return=pointer:0x%lx}\n", (long)p, (long)p);
	return p;
}

APART void nothing(void)
{
	say("\"nothing\"\n");
}

int main(void)
{
	struct request second = {.id = 8}, first = {7, "/some/path", {"12345678", 2.5}, GREEN, &second};
	struct pair pair = {1, 2};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	memcpy(first.inner.name, "inner", 6);
	mprotect(page + 4096, 4096, PROT_NONE);
	strcpy(page + 4090, "ended"); /* the zero is the last byte that can be read */
	add(3, -4);
	add(-2147483647, 1L << 40);
	narrow(-3, 65535, 200, UINT64_MAX);
	greet("world", true);
	greet("", false);
	greet(NULL, false);
	greet(page + 4090, false);
	greet("gr\303\274n", true);
	mix(1.5, 2.25f, 3, -0.5);
	halve(5);
	paint(RED);
	paint(BLUE);
	paint((enum color)77);
	many(1, 2, 3, 4, 5, 6, 7, "eight", -9, 9.5);
	spread(pair, 11, first, 12);
	locate((struct spot){1.5f, -2.25f, -7, true, 1 << 30}, (struct named){-3, BLUE, &first}, pair,
	        (struct pair){-5, 6});
	make(5);
	handle(&first);
	give(page);
	give(NULL);
	nothing();
	return 0;
}

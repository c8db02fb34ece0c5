/* A library that is loaded late, with a function of a name that the program has too. */
static volatile int sum;

__attribute__((visibility("default"))) int plugin_work(int a);

static __attribute__((noinline)) int parse(int a)
{
	return sum += a;
}

static __attribute__((noinline)) int helper(int a)
{
	return parse(a) + 1;
}

int plugin_work(int a)
{
	return helper(a) + parse(a);
}

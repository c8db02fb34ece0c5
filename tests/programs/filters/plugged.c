/* A library with a function that is called, and then unloaded (patched.c). */
__attribute__((noinline)) static int inner(int x)
{
	__asm__ volatile("");
	return x + 3;
}

int plugged(int x)
{
	return inner(x) + 4;
}

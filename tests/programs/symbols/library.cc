/* The same in a shared library. */
#include "names.h"
#include "report.h"

static volatile int sum;

HERE(visible) int visible(int a)
{
	return sum += a;
}

HERE(internal) static int internal(int a)
{
	return sum -= a;
}

void call_library()
{
	CALL(visible_line, "visible(int)", visible(1));
	CALL(internal_line, "internal(int)", internal(1));
}

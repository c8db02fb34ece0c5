/* A second unit, with a static function by a name that the first unit has too. */
#include "names.h"
#include "report.h"

static volatile int sum;

HERE(helper) static int helper(int a)
{
	return sum -= a;
}

void call_others()
{
	CALL(helper_line, "helper(int)", helper(1));
}

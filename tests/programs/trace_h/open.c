/* Dies by SIGKILL inside a duration, and says something of two categories before. */
#include <fxt/trace.h>
#include <signal.h>

FXT_CATEGORY("first", "what comes first");

int main(void)
{
	FXT_DURATION("first", "open", "not in a frame", 1);
	FXT_INSTANT("first", "one", FXT_SCOPE_THREAD);
	FXT_INSTANT("second", "two", FXT_SCOPE_THREAD);
	raise(SIGKILL);
	return 0;
}

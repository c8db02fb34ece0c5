/* A library that says something each time it is loaded. */
#include <fxt/trace.h>

void says(int i);
void says(int i)
{
	FXT_DURATION("library", "says", "i", i);
	FXT_INSTANT("library", "said", FXT_SCOPE_THREAD);
}

/* Reports what the library counted, and what the library left of the environment. */
#include <stdio.h>
#include <string.h>

#define UNTRACED __attribute__((no_instrument_function))

void early_report(void);
extern char **environ;

UNTRACED int main(void)
{
	early_report();
	puts(environ && *environ ? "an environment:" : "no environment");
	for (char **entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, "EARLY", 5) == 0)
			puts(*entry);
	return 0;
}

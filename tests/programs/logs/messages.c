/* Writes messages with syslog(), which also writes them to the standard error. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <syslog.h>

static void message(int priority, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsyslog(priority, format, list);
	va_end(list);
}

int main(void)
{
	openlog("messages", LOG_PERROR, LOG_USER);
	errno = ENOENT;
	syslog(LOG_ERR, "a file: %m, %s, %d", "text", 5);
	message(LOG_INFO, "%05.1f with an end\n", 2.5);
	setlogmask(LOG_UPTO(LOG_WARNING));
	syslog(LOG_DEBUG, "not wanted");
	syslog(LOG_WARNING, "%s", "the last one");
	return 0;
}

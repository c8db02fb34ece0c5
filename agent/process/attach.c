/* The exported functions of attach.h. They run on a thread that a launcher has stopped and
 * makes call them, so they keep errno and block signals. */
#include "attach.h"
#include <errno.h>
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/base/symbols.h"
#include "life.h"
#include "writer/shared/handshake.h"
#include "writer/shared/sys.h"

#define SOCKET FXT_SOCKET_ENVIRONMENT "="

/* The value of FXT_SOCKET among the settings; NULL: it is not there. */
static const char *attach_find_socket(const char *settings, size_t size)
{
	const char *end = settings + size;
	size_t bytes;

	for (; settings < end; settings += bytes + 1) {
		bytes = strnlen(settings, (size_t)(end - settings));
		if (settings + bytes < end && strncmp(settings, SOCKET, strlen(SOCKET)) == 0)
			return settings + strlen(SOCKET);
	}
	return NULL;
}

EXPORT int fxt_agent_attach(const char *settings, size_t size)
{
	const char *socket = settings ? attach_find_socket(settings, size) : NULL;
	int kept = errno, error;
	uint64_t mask;

	if (!socket || !*socket || !agent_is_late())
		return EINVAL;
	mask = sys_block_signals();
	error = agent_life_attach(socket);
	sys_restore_signals(mask);
	errno = kept;
	return error;
}

EXPORT int fxt_agent_detach(void)
{
	uint64_t mask = sys_block_signals();
	int kept = errno, error = agent_life_detach();

	sys_restore_signals(mask);
	errno = kept;
	return error;
}

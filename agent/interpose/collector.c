/*
 * Tells the program's part of ittnotify that the agent is its collector (agent/hook/itt.h).
 * That part asks getenv() for a library. The variable itself is not set: the program's
 * environment, and that of its children, is as it was given.
 */
#include <string.h>
#include "agent/base/attributes.h"
#include "agent/base/real.h"
#include "agent/process/environment.h"

EXPORT char *getenv(const char *name)
{
	char *value = REAL(getenv)(name);

	return value || strcmp(name, "INTEL_LIBITTNOTIFY64") != 0 ? value : agent_environment_agent();
}

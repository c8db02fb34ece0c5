/*
 * Tells the program's part of ittnotify that the agent is its collector (agent/hook/itt.h):
 * ittnotify asks getenv() for a library. The agent sets no variable, so the program and its
 * children see the environment that the user gave them.
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

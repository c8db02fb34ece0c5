/* Calls of the program that the helper thread would disturb: those that change the rights
 * of the program's threads, and those that only a single-threaded process may make. */
#include <grp.h>
#include <sched.h>
#include <unistd.h>
#include "agent/base/attributes.h"
#include "agent/hook/claim.h"
#include "agent/process/helper.h"
#include "agent/base/real.h"

/* Makes a call that the kernel allows only to a single-threaded process. With the helper
 * running, the call would fail although it succeeds in the program without us. */
#define ALONE(call)                                                 \
	({                                                          \
		bool ours = agent_helper_is_running();              \
		uint64_t mask = ours ? agent_helper_make_way() : 0; \
		int result = (call);                                \
		if (ours)                                           \
			agent_helper_come_back(mask);               \
		result;                                             \
	})

EXPORT int unshare(int flags)
{
	return ALONE(REAL(unshare)(flags));
}

EXPORT int setns(int fd, int flags)
{
	return ALONE(REAL(setns)(fd, flags));
}

/*
 * libc has every thread of the process change its credentials, but does not know of the
 * helper. The helper would keep the old ones: a process that gave up its rights would still
 * have a thread with them. Therefore the helper ends, and a new one is started, which
 * inherits the credentials of the caller.
 */
#define CREDENTIALS(X)                                                                     \
	X(setuid, (uid_t user), (user))                                                    \
	X(seteuid, (uid_t effective), (effective))                                         \
	X(setreuid, (uid_t real, uid_t effective), (real, effective))                      \
	X(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved)) \
	X(setgid, (gid_t group), (group))                                                  \
	X(setegid, (gid_t effective), (effective))                                         \
	X(setregid, (gid_t real, gid_t effective), (real, effective))                      \
	X(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved)) \
	X(setgroups, (size_t count, const gid_t *groups), (count, groups))                 \
	X(initgroups, (const char *user, gid_t group), (user, group))

/* The helper changes only after the call succeeded, and outside the call. Inside it libc
 * waits for every thread of the program, and a thread that waited for the lock of
 * agent_helper_make_way() would never answer. */
#define X(name, parameters, arguments)                                   \
	EXPORT int name parameters                                       \
	{                                                                \
		int result;                                              \
                                                                         \
		agent_child_begins();                                    \
		result = REAL(name) arguments;                           \
		if (result == 0 && agent_helper_is_running())            \
			agent_helper_come_back(agent_helper_make_way()); \
		return result;                                           \
	}
CREDENTIALS(X)
#undef X

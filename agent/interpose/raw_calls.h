/* System calls by number, made through syscall(), that wait or end a wait. */
#ifndef FXT_AGENT_RAW_CALLS_H
#define FXT_AGENT_RAW_CALLS_H

#include <stdbool.h>

/* libc's syscall(). Its header declares it with variadic arguments; the ABI passes long
 * arguments in the same registers either way. */
typedef long agent_system_call(long number, long a, long b, long c, long d, long e, long f);

/* Whether agent_raw_call() is to make the call. */
bool agent_raw_call_waits(long number, long b);

/* Makes the call, and records its wait, or the waiters that it wakes. errno is the call's. */
long agent_raw_call(agent_system_call *real, long number, long a, long b, long c, long d, long e, long f);

#endif

/*
 * Names sockets by both their ends, as the kernel lists them in /proc/PID/net: the link of a
 * socket's descriptor is a number that nobody knows.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_SOCKET_H
#define FXT_LAUNCHER_SCHED_SCHED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the name of the socket with that inode, of the network that the process is in:
 * "tcp 10.0.0.2:40000 to 10.0.0.1:80", "udp 0.0.0.0:53", or "unix /run/server.sock". False:
 * the kernel lists none, or it is a Unix socket that has no path, as each client's.
 */
bool fxt_sched_socket_name(uint32_t pid, uint64_t inode, char *name, size_t bytes);

#endif

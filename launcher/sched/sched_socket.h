/*
 * Names sockets by both their ends, as the kernel lists them in /proc/PID/net. The link of a
 * socket's descriptor has only a number.
 */
#ifndef FXT_LAUNCHER_SCHED_SCHED_SOCKET_H
#define FXT_LAUNCHER_SCHED_SCHED_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the name of the socket with that inode, in the process's network:
 * "tcp 10.0.0.2:40000 to 10.0.0.1:80", "udp 0.0.0.0:53", or "unix /run/server.sock". False:
 * the kernel does not list it, or it is a Unix socket without a path, as those of clients are.
 */
bool fxt_sched_socket_name(uint32_t pid, uint64_t inode, char *name, size_t bytes);

#endif

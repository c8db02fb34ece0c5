/*
 * Messages with descriptors on Unix sockets. Neither call waits.
 */
#ifndef FXT_LAUNCHER_MANAGER_DESCRIPTORS_H
#define FXT_LAUNCHER_MANAGER_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

#define FXT_DESCRIPTORS_MAX 2 /* in one message */

/* Sends the bytes and the descriptors, as one message. False: it was not sent as a
 * whole. */
bool fxt_descriptors_send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count);

/* Receives a message of that size, and its descriptors, which the caller closes; -1 for
 * each that it does not have. False: there is no such message. */
bool fxt_descriptors_receive(int socket, void *bytes, size_t count, int fds[FXT_DESCRIPTORS_MAX]);

#endif

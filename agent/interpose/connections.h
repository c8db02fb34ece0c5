/*
 * Notes how far the streams of TCP connections are (fxtrun --connections). What one machine
 * received, another one sent before. So these notes bound the offset of their clocks, for fxt
 * merge (fxt/merge/streams.h).
 *
 * Each note is an instant of category "net" on the calling thread, with three arguments:
 *
 *     send      stream, socket, position: at this time, no byte behind the first `position`
 *               bytes of the stream was given to the kernel yet
 *     receive   stream, socket, position: at this time, the kernel had received at least
 *               `position` bytes, or that many less one and the stream's end
 *
 * The kernel counts the bytes. So the notes are true whatever the program does: sockets that
 * processes share, descriptors that are duplicated or used again, partial writes, sendfile()
 * and streams of the C library, which no interposed function sees.
 *
 * `stream` is a hash of the addresses of the sender and the receiver. Both ends compute the
 * same one. Its lowest bit says that the two addresses are of one machine (loopback).
 * `socket` tells connections apart that had the same addresses one after the other.
 *
 * The calls on the socket only ask. They keep errno, do not block, and no descriptor is kept.
 */
#ifndef FXT_AGENT_CONNECTIONS_H
#define FXT_AGENT_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "agent/base/attributes.h"
#include "writer/shared/atomics.h"

/* The control memory is there. */
void agent_connections_prepare(void);

/* 1: positions are noted. */
extern HIDDEN uint32_t agent_connections;

void agent_connection_note(int fd, bool is_send);
void agent_connection_forget(int fd);

/* Call this before bytes are given to the descriptor, whatever it is. */
static inline void agent_connection_sends(int fd)
{
	if (unlikely(load_relaxed(&agent_connections)))
		agent_connection_note(fd, true);
}

/* Call this after a call that reads from the descriptor, with its result. */
static inline void agent_connection_received(int fd, ssize_t result)
{
	if (unlikely(load_relaxed(&agent_connections)) && result > 0)
		agent_connection_note(fd, false);
}

/* Call this before the socket is connected. It may have been connected to another address. */
static inline void agent_connection_begins(int fd)
{
	if (unlikely(load_relaxed(&agent_connections)))
		agent_connection_forget(fd);
}

#endif

/*
 * Asks the kernel for the positions of TCP streams, and records them (connections.h). Runs
 * on the thread that sends or receives, also in signal handlers and in forked children. It
 * must never note too low a position of a send, nor too high a one of a receive: fxt merge
 * would take a true order of two events for a wrong one.
 */
#include "connections.h"
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "agent/hook/events.h"

#define CATEGORY "net"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* since Linux 5.14 */
#endif

/* States of tcp_info in which bytes can be sent. <netinet/tcp.h>, which names them, has an
 * older tcp_info. */
enum { ESTABLISHED = 1, CLOSE_WAIT = 8 };

uint32_t agent_connections;

/* The streams of a socket: those that this end sends and receives; both 0: it is no TCP
 * connection. */
struct connection {
	uint64_t socket; /* the kernel's number for it, never used again: SO_COOKIE */
	uint64_t sent, received;
};

/* ---- the kernel ---- */

/* False: the kernel did not give `bytes` bytes. */
static bool connection_ask(int fd, int level, int option, void *value, socklen_t bytes)
{
	socklen_t given = bytes;

	return sys_call6(SYS_getsockopt, fd, level, option, (long)value, (long)&given, 0) == 0 &&
	       given >= bytes;
}

static bool connection_ask_info(int fd, struct tcp_info *info)
{
	socklen_t given = sizeof(*info);

	return sys_call6(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, (long)info, (long)&given, 0) == 0 &&
	       given >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info->tcpi_bytes_retrans);
}

/*
 * Asks how many bytes of the stream the kernel has been given. Two counts are at least that
 * many, and the lesser one is taken. The first counts retransmitted bytes once more. The
 * second may count the handshake, and bytes that are acknowledged between the two questions.
 *
 * False after shutdown(): the receiver counts the end of the stream as a byte, and this side
 * does not.
 */
static bool connection_sent(int fd, uint64_t *position)
{
	struct tcp_info info;
	int queued = 0;

	if (!connection_ask_info(fd, &info) ||
	        (info.tcpi_state != ESTABLISHED && info.tcpi_state != CLOSE_WAIT))
		return false;
	*position = info.tcpi_bytes_sent + info.tcpi_notsent_bytes;
	if (info.tcpi_bytes_retrans == 0)
		return true;
	if (sys_call(SYS_ioctl, fd, SIOCOUTQ, &queued, 0) == 0 && connection_ask_info(fd, &info) &&
	        info.tcpi_bytes_acked + (uint64_t)queued < *position)
		*position = info.tcpi_bytes_acked + (uint64_t)queued;
	return true;
}

static bool connection_has_received(int fd, uint64_t *position)
{
	struct tcp_info info;

	if (!connection_ask_info(fd, &info))
		return false;
	*position = info.tcpi_bytes_received;
	return *position > 0;
}

/* ---- addresses ---- */

struct connection_end {
	uint64_t address[2]; /* of IPv6; one of IPv4 is mapped */
	uint64_t port;
};

static bool connection_ask_end(long call, int fd, struct connection_end *end)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} name;
	socklen_t bytes = sizeof(name);
	struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (sys_call(call, fd, &name, &bytes, 0) != 0)
		return false;
	if (name.any.sa_family == AF_INET6)
		address = name.in6.sin6_addr;
	else if (name.any.sa_family == AF_INET)
		memcpy(&address.s6_addr[12], &name.in.sin_addr, sizeof(name.in.sin_addr));
	else
		return false;
	memcpy(end->address, &address, sizeof(address));
	end->port = name.any.sa_family == AF_INET6 ? name.in6.sin6_port : name.in.sin_port;
	return true;
}

static bool connection_is_loopback(const struct connection_end *end)
{
	struct in6_addr address;

	memcpy(&address, end->address, sizeof(address));
	return IN6_IS_ADDR_LOOPBACK(&address) ||
	       (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127);
}

static uint64_t connection_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t connection_stream(const struct connection_end *from, const struct connection_end *to,
        bool is_of_one_machine, uint64_t network)
{
	const uint64_t words[] = {from->address[0], from->address[1], to->address[0], to->address[1],
	        from->port << 16 | to->port, network};
	uint64_t hash = 1;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		hash = connection_mix(hash, words[i]);
	return (hash & ~UINT64_C(1)) | is_of_one_machine;
}

/* Finds out the streams of the socket. False: it is not connected yet. */
static bool connection_ask_streams(int fd, struct connection *c)
{
	struct connection_end own, peer;
	uint64_t network = 0;
	int protocol = 0;

	if (!connection_ask(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, sizeof(protocol)) ||
	        protocol != IPPROTO_TCP)
		return true;
	if (!connection_ask_end(SYS_getpeername, fd, &peer) || !connection_ask_end(SYS_getsockname, fd, &own))
		return false;
	bool is_of_one_machine =
	        connection_is_loopback(&own) || memcmp(own.address, peer.address, sizeof(own.address)) == 0;

	/* Each network namespace has such addresses of its own. */
	if (is_of_one_machine && !connection_ask(fd, SOL_SOCKET, SO_NETNS_COOKIE, &network, sizeof(network)))
		network = 0;
	c->sent = connection_stream(&own, &peer, is_of_one_machine, network);
	c->received = connection_stream(&peer, &own, is_of_one_machine, network);
	return true;
}

/* ---- known connections ---- */

/*
 * By the socket's number. Threads write and read without a lock. `check` is the xor of the
 * other members of one connection, so an entry that two threads mixed counts as none.
 */
static struct known {
	uint64_t check, sent, received;
} known[1024];

static struct known *connection_known(uint64_t socket)
{
	return &known[socket % (sizeof(known) / sizeof(*known))];
}

static bool connection_recall(struct connection *c)
{
	const struct known *entry = connection_known(c->socket);

	c->sent = load_relaxed(&entry->sent);
	c->received = load_relaxed(&entry->received);
	return (load_relaxed(&entry->check) ^ c->sent ^ c->received) == c->socket;
}

static void connection_remember(const struct connection *c)
{
	struct known *entry = connection_known(c->socket);

	store_relaxed(&entry->check, c->socket ^ c->sent ^ c->received);
	store_relaxed(&entry->sent, c->sent);
	store_relaxed(&entry->received, c->received);
}

/* Whether the thread is recorded, and may make system calls. A vfork child is recorded with
 * its parent. */
static bool connection_may_ask(void)
{
	return load_relaxed(&agent_recording) != AGENT_QUIET && !fxt_engine_was_forked(&agent_engine) &&
	       agent_self.withheld == AGENT_NOT_WITHHELD;
}

static bool connection_ask_socket(int fd, struct connection *c)
{
	*c = (struct connection){0};
	return connection_may_ask() &&
	       connection_ask(fd, SOL_SOCKET, SO_COOKIE, &c->socket, sizeof(c->socket));
}

/* False: the descriptor is no connected TCP socket, or nothing can be recorded. */
static bool connection_find(int fd, struct connection *c)
{
	if (!connection_ask_socket(fd, c))
		return false;
	if (!connection_recall(c)) {
		c->sent = c->received = 0;
		if (!connection_ask_streams(fd, c))
			return false;
		connection_remember(c);
	}
	return c->sent != 0;
}

/* ---- the interface ---- */

void agent_connections_prepare(void)
{
	store_relaxed(&agent_connections, agent_engine.control->notes_connections);
}

/* Notes a position. The time is taken before the question at a send, and after it at a
 * receive. */
static void connection_note(int fd, bool is_send)
{
	struct connection c;
	uint64_t position = 0;

	if (!connection_find(fd, &c) || (!is_send && !connection_has_received(fd, &position)))
		return;
	struct fxt_thread_writer *writer = agent_claim();

	if (!writer)
		return;
	uint64_t ticks = agent_stamp(writer);

	if (!is_send || connection_sent(fd, &position)) {
		const struct fxt_argument arguments[] = {
		        fxt_argument_uint64(agent_text("stream"), is_send ? c.sent : c.received),
		        fxt_argument_uint64(agent_text("socket"), c.socket),
		        fxt_argument_uint64(agent_text("position"), position)};

		agent_write_event(writer, FXT_EVENT_INSTANT, CATEGORY, is_send ? "send" : "receive", ticks,
		        arguments, 3, 0);
	}
	agent_release(writer);
}

COLD void agent_connection_note(int fd, bool is_send)
{
	int error = errno;

	connection_note(fd, is_send);
	errno = error;
}

COLD void agent_connection_forget(int fd)
{
	struct connection c;

	if (connection_ask_socket(fd, &c) && connection_recall(&c))
		store_relaxed(&connection_known(c.socket)->check, 0);
}

/*
 * How an agent and its manager meet: the agent connects to the manager's SOCK_SEQPACKET Unix socket and sends
 * a hello; the manager answers with a welcome, and with the descriptors of the trace buffer and of the
 * control memory. A second message, a byte, follows such a welcome with the descriptor of what all processes
 * of the session share. So no more than two descriptors are needed at a time. Then the socket is closed.
 * Also the environment variables by which an agent knows what it is to do.
 *
 * The socket has a path, FXT_SOCKET_ENVIRONMENT, and beside it an abstract name: a zero byte and the path.
 * That one is seen wherever the network namespace is the same, and by every user, so both sides look at the
 * other's user. It is no longer than the path with its zero byte behind it.
 */
#ifndef FXT_WRITER_HANDSHAKE_H
#define FXT_WRITER_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FXT_NAME_BYTES 100 /* a provider's name, Fuchsia's limit */

#define FXT_SOCKET_ENVIRONMENT      "FXT_SOCKET" /* the path of the manager's socket */
#define FXT_OUTPUT_ENVIRONMENT      "FXT_OUTPUT" /* the file of a standalone agent */
#define FXT_HEAP_ENVIRONMENT        "FXT_HEAP"   /* what it records of the heap, as fxtrun --heap */
#define FXT_HEAP_STACKS_ENVIRONMENT "FXT_HEAP_STACKS"
#define FXT_TRACE_MODE              0600 /* of new traces: what a program does is its user's affair */
#define FXT_HELLO_MAGIC             UINT64_C(0x6f6c6c6568747866)
#define FXT_WELCOME_MAGIC           UINT64_C(0x656d6f636c747866)

static inline socklen_t fxt_abstract_address_bytes(const char *path)
{
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path));
}

struct fxt_hello {
	uint64_t magic;
	uint32_t version; /* FXT_SHARED_VERSION */
	uint32_t pid;     /* must equal the socket's peer credentials */
	uint32_t tid;
	uint32_t name_bytes;
	char name[FXT_NAME_BYTES]; /* base name of the executable */
	uint32_t image;            /* 1: a new program; 0: a forked child */
};

enum fxt_welcome_status {
	FXT_WELCOME_OK = 0,      /* with SCM_RIGHTS: trace buffer, control memory */
	FXT_WELCOME_REFUSED = 1, /* the session does not want this process; it runs untraced, silently */
	FXT_WELCOME_VERSION = 2, /* the agent is of another version than the manager */
};

struct fxt_welcome {
	uint64_t magic;
	uint32_t version;
	uint32_t status; /* enum fxt_welcome_status */
	uint64_t buffer_bytes;
	uint64_t control_bytes;
};

/* Memory that all processes of a session share. It outlives them all: a child whose parent has ended, and was
 * forgotten by the manager, leaves word here. */
struct fxt_common {
	uint32_t untraced; /* forked children that could not reach the manager, and new images that no agent
	                      can be in; added to by them */
};

#define FXT_COMMON_BYTES 4096

#endif

/*
 * How an agent and its manager connect. The agent connects to the manager's SOCK_SEQPACKET
 * Unix socket and sends a hello. The manager answers with a welcome and the descriptors of
 * the trace buffer and of the control memory. A second message, a byte, follows such a
 * welcome, with the descriptor of the memory that all processes of the session share.
 * Therefore no more than two descriptors are needed at a time. Then the socket is closed.
 * This header also has the environment variables that configure an agent.
 *
 * The socket has a path, FXT_SOCKET_ENVIRONMENT, and beside it an abstract name: a zero
 * byte and the path. The abstract name is visible to every process in the same network
 * namespace, and to every user, so both sides check the other's user. It is no longer than
 * the path with its zero byte behind it.
 */
#ifndef FXT_WRITER_HANDSHAKE_H
#define FXT_WRITER_HANDSHAKE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FXT_NAME_BYTES 100 /* a provider's name, Fuchsia's limit */

#define FXT_SOCKET_ENVIRONMENT "FXT_SOCKET" /* the path of the manager's socket */
#define FXT_OUTPUT_ENVIRONMENT "FXT_OUTPUT" /* the file of a standalone agent */
/* what an agent records of the heap, as fxtrun --heap */
#define FXT_HEAP_ENVIRONMENT        "FXT_HEAP"
#define FXT_HEAP_STACKS_ENVIRONMENT "FXT_HEAP_STACKS"
/* of new traces: what a program does is private to its user */
#define FXT_TRACE_MODE         0600
#define FXT_HELLO_MAGIC        UINT64_C(0x6f6c6c6568747866)
#define FXT_WELCOME_MAGIC      UINT64_C(0x656d6f636c747866)
#define FXT_PLAN_REQUEST_MAGIC UINT64_C(0x74736575716e616c)

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
	FXT_WELCOME_OK = 0, /* with SCM_RIGHTS: trace buffer, control memory */
	/* the session does not want this process; it runs untraced, silently */
	FXT_WELCOME_REFUSED = 1,
	FXT_WELCOME_VERSION = 2, /* the agent is of another version than the manager */
};

struct fxt_welcome {
	uint64_t magic;
	uint32_t version;
	uint32_t status; /* enum fxt_welcome_status */
	uint64_t buffer_bytes;
	uint64_t control_bytes;
};

/* The kinds of a file's plans: of functions to patch (writer/shared/plan.h), of arguments
 * (writer/shared/argument_plan.h), and of probes (writer/shared/probe_plan.h). */
enum fxt_plan_kind { FXT_PLAN_PATCHES, FXT_PLAN_ARGUMENTS, FXT_PLAN_PROBES, FXT_PLAN_KINDS };

/*
 * Asks for a plan of a file, over a connection of its own. The answer is the plan's size,
 * eight bytes, with the descriptor of its memory; without a descriptor there is no plan.
 */
struct fxt_plan_request {
	uint64_t magic;
	uint32_t version; /* FXT_SHARED_VERSION */
	uint32_t pid;     /* as in a hello */
	uint32_t kind;    /* enum fxt_plan_kind */
	char path[4096];  /* as the process sees it; "" = its executable */
};

/* Memory that all processes of a session share. It outlives them all: a child whose parent
 * has ended, and was forgotten by the manager, leaves its count here. */
struct fxt_common {
	/* forked children that could not reach the manager, and new images that no agent
	 * can be in; these processes add to it */
	uint32_t untraced;
};

#define FXT_COMMON_BYTES 4096

#endif

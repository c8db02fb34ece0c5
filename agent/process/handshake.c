/* The provider's side of the handshake (handshake.h), on the thread that starts the agent.
 * It also runs in a forked child, inside a hook. It must use only raw system calls, and
 * never wait for a manager without a limit. */
#include "handshake.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "writer/shared/sys.h"

#define SMALLEST_PAGE    4096
#define POPULATE_BYTES   (UINT64_C(64) << 10)
#define PATIENCE_SECONDS 5  /* for a manager on a machine that is busy with many others */
#define PLAN_SECONDS     60 /* for a plan: a large program takes two on a machine at rest */

static void handshake_executable_name(struct fxt_hello *hello)
{
	/* Not on a stack, which may be a hook's; only one thread at a time starts the
	 * agent. */
	static char path[4096];
	long bytes = sys_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, sizeof(path));
	long start = bytes < 0 ? 0 : bytes;

	while (start > 0 && path[start - 1] != '/')
		start--;
	if (bytes > start && bytes - start < FXT_NAME_BYTES) {
		hello->name_bytes = (uint32_t)(bytes - start);
		memcpy(hello->name, path + start, hello->name_bytes);
	}
}

/* `is_abstract`: by the abstract name, which is the path behind a zero byte. */
static long handshake_try(const char *path, bool is_abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	size_t bytes = strlen(path);
	long fd, error;

	if (bytes >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path + is_abstract, path, bytes);
	fd = sys_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0);
	if (fd < 0)
		return fd;
	sys_call6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience, sizeof(patience), 0);
	sys_call6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof(patience), 0);
	error = sys_call(SYS_connect, fd, &address, fxt_abstract_address_bytes(path), 0);
	if (error < 0) {
		sys_close((int)fd);
		return error;
	}
	return fd;
}

/* If the path cannot be seen or entered, perhaps after a chroot or a change of the user,
 * the abstract name remains. Its errors are less useful to the user than those of the
 * path. */
static long handshake_connect(const char *path)
{
	long fd = handshake_try(path, false), abstract;

	if (fd >= 0)
		return fd;
	abstract = handshake_try(path, true);
	return abstract >= 0 ? abstract : fd;
}

/* Any user may listen at an abstract name. */
static bool handshake_is_of_our_user(int socket)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return sys_call6(SYS_getsockopt, socket, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes, 0) ==
	               0 &&
	       peer.uid == sys_geteuid();
}

static bool handshake_set_patience(int socket, long seconds)
{
	struct timeval patience = {.tv_sec = seconds};

	return sys_call6(SYS_setsockopt, socket, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof(patience),
	               0) == 0;
}

/* A manager of another user counts us if it finds us among the program's descendants, and
 * then hangs up. Until then this process must stay alive. The wait is short, because any
 * user may listen there. */
static void handshake_await_end(int socket)
{
	char byte;

	if (handshake_set_patience(socket, 1))
		sys_call6(SYS_recvfrom, socket, (long)&byte, sizeof(byte), 0, 0, 0);
}

/* Receives a message and up to two descriptors, -1 for a missing one. Returns its bytes, or
 * -errno. */
static long handshake_receive_message(int socket, void *data, size_t data_bytes, int fds[2])
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = {data, data_bytes};
	struct msghdr message = {.msg_iov = &part,
	        .msg_iovlen = 1,
	        .msg_control = &control,
	        .msg_controllen = sizeof(control)};
	long bytes = sys_call(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC, 0);
	struct cmsghdr *header;

	fds[0] = fds[1] = -1;
	if (bytes < 0)
		return bytes;
	header = CMSG_FIRSTHDR(&message);
	/* Only one of two descriptors arrives if the process has room for only one more. */
	if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len <= CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	return bytes;
}

/* Receives the welcome and its descriptors: 0, or -errno. */
static long handshake_receive(int socket, struct fxt_welcome *welcome, int fds[2])
{
	long bytes = handshake_receive_message(socket, welcome, sizeof(*welcome), fds);

	if (bytes < 0)
		return bytes;
	if (bytes != sizeof(*welcome) || welcome->magic != FXT_WELCOME_MAGIC)
		return -EPROTO;
	return 0;
}

/* With --populate all pages are populated before the program begins; neither the helper nor
 * the manager does it then. In small steps: a forked child may have threads by now, and
 * they wait in mmap() until a step is over. */
static void handshake_populate(uint8_t *buffer, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += POPULATE_BYTES) {
		uint64_t step = bytes - done < POPULATE_BYTES ? bytes - done : POPULATE_BYTES;

		if (sys_advise(buffer + done, step, MADV_POPULATE_WRITE) != -EINVAL)
			continue;
		/* An older kernel does not have this advice. */
		for (volatile uint8_t *page = buffer + done; page < buffer + done + step;
		        page += SMALLEST_PAGE)
			*page = *page;
	}
}

static bool handshake_map(const struct fxt_welcome *welcome, const int fds[2], struct agent_memory *memory)
{
	if (!agent_memory_map(memory, welcome->buffer_bytes, welcome->control_bytes > FXT_CONTROL_BYTES,
	            fds[0], fds[1]))
		return false;
	if (memory->map.control->populate)
		handshake_populate(memory->buffer, memory->buffer_bytes);
	return true;
}

static void handshake_close(int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			sys_close(fds[i]);
}

/* Maps the memory shared by all processes of the session, unless a parent has. Without it
 * the process is still recorded. */
static void handshake_map_common(int socket, struct agent_memory *memory)
{
	int fds[2];
	char byte;

	if (memory->common)
		return;
	handshake_receive_message(socket, &byte, sizeof(byte), fds);
	if (fds[0] >= 0)
		memory->common = sys_map(FXT_COMMON_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0]);
	handshake_close(fds);
}

/* The manager that answered. */
static char manager_path[sizeof(((struct sockaddr_un *)0)->sun_path)];

enum agent_connection agent_connect(const char *path, bool is_new_image, struct agent_memory *memory)
{
	struct fxt_hello hello = {.magic = FXT_HELLO_MAGIC,
	        .version = FXT_SHARED_VERSION,
	        .pid = (uint32_t)sys_getpid(),
	        .tid = (uint32_t)sys_gettid(),
	        .image = is_new_image};
	struct fxt_welcome welcome;
	int fds[2] = {-1, -1};
	const char *trouble = NULL;
	long result;
	long fd = handshake_connect(path);

	/* There is no listener any more: the session is over, and this program came after
	 * it. */
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return AGENT_UNREACHED;
	if (fd < 0) {
		agent_notice("cannot reach the trace manager at ", path, ": ", agent_error(-fd),
		        "; running untraced", NULL);
		return AGENT_UNREACHED;
	}
	if (!handshake_is_of_our_user((int)fd)) {
		handshake_await_end((int)fd);
		sys_close((int)fd);
		return AGENT_REFUSED;
	}
	handshake_executable_name(&hello);
	result = sys_call6(SYS_sendto, fd, (long)&hello, sizeof(hello), MSG_NOSIGNAL, 0, 0);
	if (result >= 0)
		result = handshake_receive((int)fd, &welcome, fds);
	if (result < 0)
		trouble = "the trace manager does not answer";
	else if (welcome.version != FXT_SHARED_VERSION || welcome.status == FXT_WELCOME_VERSION)
		trouble = "the trace manager and libfxtagent.so have different versions";
	else if (welcome.status == FXT_WELCOME_OK && fds[1] < 0)
		trouble = "no descriptors left for the memory of the trace";
	else if (welcome.status == FXT_WELCOME_OK &&
	         (welcome.control_bytes < FXT_CONTROL_BYTES || !handshake_map(&welcome, fds, memory)))
		trouble = "no memory for the trace";
	handshake_close(fds);
	if (!trouble && welcome.status == FXT_WELCOME_OK) {
		handshake_map_common((int)fd, memory);
		memcpy(manager_path, path, strlen(path) + 1); /* it fits: the address had it */
	}
	sys_close((int)fd);
	if (trouble)
		agent_notice(trouble, "; running untraced", NULL);
	return !trouble && welcome.status == FXT_WELCOME_OK ? AGENT_CONNECTED : AGENT_REFUSED;
}

const void *agent_request_plan(enum fxt_plan_kind kind, const char *module, uint64_t *bytes)
{
	static const char *const options[FXT_PLAN_KINDS] = {
	        "--patch: no functions of ", "--args: no arguments of ", "--usdt: no probes of "};
	/* Not on a stack; the engine's lock is held. */
	static struct fxt_plan_request request;
	static bool is_stopped; /* the manager; later modules do not wait for it */
	uint32_t beat = load_relaxed(&agent_engine.control->heartbeat);
	size_t path_bytes = strlen(module);
	const void *plan = NULL;
	int fds[2] = {-1, -1};
	long fd, received = 0;

	if (path_bytes >= sizeof(request.path) || !manager_path[0] || is_stopped)
		return NULL;
	fd = handshake_connect(manager_path);
	if (fd < 0)
		return NULL;
	request = (struct fxt_plan_request){.magic = FXT_PLAN_REQUEST_MAGIC,
	        .version = FXT_SHARED_VERSION,
	        .pid = (uint32_t)sys_getpid(),
	        .kind = kind};
	memcpy(request.path, module, path_bytes);
	if (handshake_is_of_our_user((int)fd) && handshake_set_patience((int)fd, PLAN_SECONDS) &&
	        sys_call6(SYS_sendto, fd, (long)&request, sizeof(request), MSG_NOSIGNAL, 0, 0) >= 0)
		received = handshake_receive_message((int)fd, bytes, sizeof(*bytes), fds);
	if (received == sizeof(*bytes) && fds[0] >= 0) {
		plan = sys_map(*bytes, PROT_READ, MAP_PRIVATE, fds[0]);
	} else if (received == -EAGAIN) {
		agent_notice(options[kind], module[0] ? module : "the program",
		        " are recorded: the trace manager does not answer", NULL);
		is_stopped = load_relaxed(&agent_engine.control->heartbeat) == beat;
	}
	handshake_close(fds);
	sys_close((int)fd);
	return plan;
}

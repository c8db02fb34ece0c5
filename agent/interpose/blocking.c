/*
 * Waits for time, descriptors, files, signals and other events, as slices of category
 * "sync", on the waiting thread.
 *
 * Only another system call would show in advance whether such a call will wait. Therefore
 * each call has a frame on the shadow stack, at the cost of two clock readings. It gets a
 * record only if it took BLOCKING_SHORTEST_NS, which is nearly the time of a switch to
 * another thread and back. So a million calls that find their bytes ready leave no record,
 * and a thread that waits leaves at most a hundred thousand records a second.
 *
 * No cleanup is registered with the C library. If a jump out of a handler, or the end of
 * the thread, leaves such a call, its frame is abandoned like any other (frames.h).
 * Therefore these functions may run in a handler.
 */
#ifndef __NO_INLINE__
/* Otherwise <stdio.h> defines getline() inline, and clang then ignores that ours is
 * visible. */
#define __NO_INLINE__ 1
#endif
#include <errno.h>
#include <stdarg.h>
#include "agent/base/attributes.h"
#include "agent/base/real.h"
#include "blocking.h"
#include "connections.h"
#include "logs.h"
#include "agent/hook/shadow.h"
#include "agent/hook/claim.h"
#include "agent/hook/elided.h"
#include "writer/format/categories.h"

enum { BLOCKING_SHORTEST_NS = 10000 };

/* True if waits of the calling thread can be recorded. A thread that cannot be in the trace
 * loses no calls here, so its waits are not counted as lost. In a vfork child, waits are
 * recorded as those of its parent, like calls. */
bool agent_blocking_is_recorded(void)
{
	const struct fxt_engine *e = &agent_engine;

	if (fxt_engine_was_forked(e) || !fxt_category_is_enabled(e->control, FXT_WAIT_CATEGORY))
		return false;
	return agent_self.writer ||
	       (load_relaxed(&sys_confinement) == SYS_FREE && !agent_self.withheld &&
	               agent_is_own_process() && load_relaxed(&e->control->slots_used) < FXT_SLOTS);
}

/* Whether waiting is the purpose of each call. Such a call starts the recording of a forked
 * child (claim.h). Other calls do not start it, because even children that only write a
 * line and execute a program make them. */
static const bool blocking_is_purpose[FXT_WAIT_KINDS] = {
#define BLOCKING_IS_PURPOSE(name, subject, is_purpose) is_purpose,
        FXT_WAITS(BLOCKING_IS_PURPOSE)
#undef BLOCKING_IS_PURPOSE
};

/* Begins a wait. Returns its begin, which is unique on the thread; 0: it is not
 * recorded. */
static __attribute__((noinline)) uint64_t blocking_begin_recorded(enum fxt_wait call, uint64_t object)
{
	uint64_t stack_pointer = (uint64_t)(uintptr_t)__builtin_frame_address(0), begin;
	struct fxt_thread_writer *writer;

	if (blocking_is_purpose[call])
		agent_child_begins();
	writer = agent_blocking_is_recorded() ? agent_claim_for_wait() : NULL;
	if (!writer)
		return 0;
	begin = agent_begin_wait(writer, fxt_wait_ref(call, object), 0, stack_pointer);
	agent_release(writer);
	return begin;
}

uint64_t agent_blocking_begin(enum fxt_wait call, uint64_t object)
{
	return load_relaxed(&agent_recording) == AGENT_QUIET ? 0 : blocking_begin_recorded(call, object);
}

bool agent_blocking_is_brief(const struct fxt_thread_writer *writer, uint64_t begin)
{
	uint64_t shortest = agent_engine.control->ticks_per_second / (1000000000 / BLOCKING_SHORTEST_NS);

	return writer->last - begin < shortest;
}

void agent_blocking_drop(const struct fxt_thread_writer *writer, const struct fxt_frame *frame)
{
	agent_keep_around_kept(frame);
	set_top(fxt_slot(&agent_engine, writer->number), frame);
}

static __attribute__((noinline)) void blocking_end_recorded(uint64_t begin)
{
	struct fxt_thread_writer *writer =
	        fxt_engine_was_forked(&agent_engine) ? NULL : agent_claim_for_wait();

	/* Also NULL in a child that a handler forked during the call, if the child is not
	 * recorded. */
	if (!writer)
		return;
	const struct fxt_frame *frame = agent_find_wait(writer, begin);

	if (frame && agent_blocking_is_brief(writer, begin)) {
		agent_blocking_drop(writer, frame);
	} else if (frame) {
		agent_end_frame(writer, frame, writer->last, false);
	}
	agent_release(writer);
}

void agent_blocking_end(uint64_t begin)
{
	int error = errno;

	if (!begin)
		return;
	blocking_end_recorded(begin);
	errno = error;
}

/* Defines the interposed function `name`, whose waits are recorded as those of `call` if
 * `may_wait`. `before` runs before the call, `after` behind it. */
#define BLOCKING_AMID(before, after, may_wait, type, name, call, object, parameters, arguments)   \
	EXPORT type name parameters                                                               \
	{                                                                                         \
		before;                                                                           \
		uint64_t begin_ = (may_wait) ? agent_blocking_begin(FXT_WAIT_##call, object) : 0; \
		type result_ = REAL(name) arguments;                                              \
                                                                                                  \
		agent_blocking_end(begin_);                                                       \
		after;                                                                            \
		return result_;                                                                   \
	}

#define NOTHING (void)0

#define BLOCKING_IF(may_wait, type, name, call, object, parameters, arguments) \
	BLOCKING_AMID(NOTHING, NOTHING, may_wait, type, name, call, object, parameters, arguments)

#define BLOCKING(type, name, call, object, parameters, arguments) \
	BLOCKING_IF(true, type, name, call, object, parameters, arguments)

/* The same for a call on the descriptor `fd`. */
#define ON_DESCRIPTOR(type, name, call, parameters, arguments) \
	BLOCKING(type, name, call, agent_blocking_descriptor(fd), parameters, arguments)

/* The same for calls that receive bytes from the descriptor, or send bytes to it. */
#define RECEIVES(type, name, call, parameters, arguments)                                      \
	BLOCKING_AMID(NOTHING, agent_connection_received(fd, result_), true, type, name, call, \
	        agent_blocking_descriptor(fd), parameters, arguments)
#define SENDS(type, name, call, parameters, arguments)                             \
	BLOCKING_AMID(agent_connection_sends(fd), NOTHING, true, type, name, call, \
	        agent_blocking_descriptor(fd), parameters, arguments)

typedef const struct timespec *timeout;

/* ---- time ---- */

BLOCKING(int, nanosleep, nanosleep, 0, (timeout time, struct timespec *rest), (time, rest))
BLOCKING(int, clock_nanosleep, clock_nanosleep, 0,
        (clockid_t clock, int flags, timeout time, struct timespec *rest), (clock, flags, time, rest))
BLOCKING(int, usleep, usleep, 0, (useconds_t time), (time))
BLOCKING(unsigned, sleep, sleep, 0, (unsigned time), (time))
BLOCKING(int, thrd_sleep, thrd_sleep, 0, (timeout time, struct timespec *rest), (time, rest))

/* ---- one of several descriptors ---- */

BLOCKING(int, poll, poll, 0, (struct pollfd * fds, nfds_t count, int time), (fds, count, time))
BLOCKING(int, __poll_chk, poll, 0, (struct pollfd * fds, nfds_t count, int time, size_t room),
        (fds, count, time, room))
BLOCKING(int, ppoll, ppoll, 0, (struct pollfd * fds, nfds_t count, timeout time, const sigset_t *mask),
        (fds, count, time, mask))
BLOCKING(int, __ppoll_chk, ppoll, 0,
        (struct pollfd * fds, nfds_t count, timeout time, const sigset_t *mask, size_t room),
        (fds, count, time, mask, room))
BLOCKING(int, select, select, 0,
        (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
                struct timeval *restrict time),
        (count, reads, writes, others, time))
BLOCKING(int, pselect, pselect, 0,
        (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
                const struct timespec *restrict time, const sigset_t *restrict mask),
        (count, reads, writes, others, time, mask))
ON_DESCRIPTOR(int, epoll_wait, epoll_wait, (int fd, struct epoll_event *events, int count, int time),
        (fd, events, count, time))
ON_DESCRIPTOR(int, epoll_pwait, epoll_pwait,
        (int fd, struct epoll_event *events, int count, int time, const sigset_t *mask),
        (fd, events, count, time, mask))

/* ---- reading ---- */

RECEIVES(ssize_t, read, read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
RECEIVES(ssize_t, __read_chk, read, (int fd, void *buffer, size_t bytes, size_t room),
        (fd, buffer, bytes, room))
RECEIVES(ssize_t, readv, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
RECEIVES(ssize_t, recv, recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
RECEIVES(ssize_t, __recv_chk, recv, (int fd, void *buffer, size_t bytes, size_t room, int flags),
        (fd, buffer, bytes, room, flags))
RECEIVES(ssize_t, recvfrom, recvfrom,
        (int fd, void *restrict buffer, size_t bytes, int flags, __SOCKADDR_ARG address,
                socklen_t *restrict address_bytes),
        (fd, buffer, bytes, flags, address, address_bytes))
RECEIVES(ssize_t, __recvfrom_chk, recvfrom,
        (int fd, void *restrict buffer, size_t bytes, size_t room, int flags, __SOCKADDR_ARG address,
                socklen_t *restrict address_bytes),
        (fd, buffer, bytes, room, flags, address, address_bytes))
RECEIVES(ssize_t, recvmsg, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
RECEIVES(int, recvmmsg, recvmmsg,
        (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
        (fd, messages, count, flags, time))

/* ---- writing ---- */

EXPORT ssize_t write(int fd, const void *buffer, size_t bytes)
{
	agent_connection_sends(fd);
	uint64_t begin = agent_blocking_begin(FXT_WAIT_write, agent_blocking_descriptor(fd));
	ssize_t written = REAL(write)(fd, buffer, bytes);

	agent_blocking_end(begin);
	if (written > 0 && agent_log_has(fd))
		agent_log_written(fd, buffer, (size_t)written);
	return written;
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	agent_connection_sends(fd);
	uint64_t begin = agent_blocking_begin(FXT_WAIT_writev, agent_blocking_descriptor(fd));
	ssize_t written = REAL(writev)(fd, parts, count);

	agent_blocking_end(begin);
	if (written > 0 && agent_log_has(fd))
		agent_log_written_parts(fd, parts, count, (size_t)written);
	return written;
}

SENDS(ssize_t, send, send, (int fd, const void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
SENDS(ssize_t, sendto, sendto,
        (int fd, const void *buffer, size_t bytes, int flags, __CONST_SOCKADDR_ARG address,
                socklen_t address_bytes),
        (fd, buffer, bytes, flags, address, address_bytes))
SENDS(ssize_t, sendmsg, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
SENDS(int, sendmmsg, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
        (fd, messages, count, flags))

/* ---- connecting ---- */

ON_DESCRIPTOR(int, accept, accept, (int fd, __SOCKADDR_ARG address, socklen_t *restrict address_bytes),
        (fd, address, address_bytes))
ON_DESCRIPTOR(int, accept4, accept4,
        (int fd, __SOCKADDR_ARG address, socklen_t *restrict address_bytes, int flags),
        (fd, address, address_bytes, flags))
BLOCKING_AMID(agent_connection_begins(fd), NOTHING, true, int, connect, connect,
        agent_blocking_descriptor(fd), (int fd, __CONST_SOCKADDR_ARG address, socklen_t address_bytes),
        (fd, address, address_bytes))

/* ---- files ---- */

ON_DESCRIPTOR(int, fsync, fsync, (int fd), (fd))
ON_DESCRIPTOR(int, fdatasync, fdatasync, (int fd), (fd))
ON_DESCRIPTOR(int, flock, flock, (int fd, int operation), (fd, operation))
ON_DESCRIPTOR(int, lockf, lockf, (int fd, int command, off_t bytes), (fd, command, bytes))
ON_DESCRIPTOR(int, lockf64, lockf, (int fd, int command, off64_t bytes), (fd, command, bytes))
ON_DESCRIPTOR(ssize_t, pread, pread, (int fd, void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
ON_DESCRIPTOR(
        ssize_t, pread64, pread, (int fd, void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
ON_DESCRIPTOR(ssize_t, __pread_chk, pread, (int fd, void *buffer, size_t bytes, off_t at, size_t room),
        (fd, buffer, bytes, at, room))
ON_DESCRIPTOR(ssize_t, __pread64_chk, pread, (int fd, void *buffer, size_t bytes, off64_t at, size_t room),
        (fd, buffer, bytes, at, room))
ON_DESCRIPTOR(ssize_t, pwrite, pwrite, (int fd, const void *buffer, size_t bytes, off_t at),
        (fd, buffer, bytes, at))
ON_DESCRIPTOR(ssize_t, pwrite64, pwrite, (int fd, const void *buffer, size_t bytes, off64_t at),
        (fd, buffer, bytes, at))
SENDS(ssize_t, sendfile, sendfile, (int fd, int from, off_t *at, size_t bytes), (fd, from, at, bytes))
SENDS(ssize_t, sendfile64, sendfile, (int fd, int from, off64_t *at, size_t bytes), (fd, from, at, bytes))
BLOCKING_AMID(agent_connection_sends(to), agent_connection_received(fd, result_), true, ssize_t, splice,
        splice, agent_blocking_descriptor(fd),
        (int fd, off64_t *from_at, int to, off64_t *to_at, size_t bytes, unsigned flags),
        (fd, from_at, to, to_at, bytes, flags))

/* Only two commands of fcntl() wait. A command has at most one argument, a number or a
 * pointer. It is passed on as a pointer, as the C library itself does. */
#define FCNTL(name)                                                                                       \
	EXPORT int name(int fd, int command, ...)                                                         \
	{                                                                                                 \
		bool waits_ = command == F_SETLKW || command == F_OFD_SETLKW;                             \
		uint64_t begin_ =                                                                         \
		        waits_ ? agent_blocking_begin(FXT_WAIT_fcntl, agent_blocking_descriptor(fd)) : 0; \
		va_list list_;                                                                            \
		void *argument_;                                                                          \
		int result_;                                                                              \
                                                                                                          \
		va_start(list_, command);                                                                 \
		argument_ = va_arg(list_, void *);                                                        \
		va_end(list_);                                                                            \
		result_ = REAL(name)(fd, command, argument_);                                             \
		agent_blocking_end(begin_);                                                               \
		return result_;                                                                           \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- queues ---- */

ON_DESCRIPTOR(ssize_t, mq_receive, mq_receive, (mqd_t fd, char *buffer, size_t bytes, unsigned *priority),
        (fd, buffer, bytes, priority))
ON_DESCRIPTOR(ssize_t, mq_timedreceive, mq_timedreceive,
        (mqd_t fd, char *restrict buffer, size_t bytes, unsigned *restrict priority, timeout restrict time),
        (fd, buffer, bytes, priority, time))
ON_DESCRIPTOR(int, mq_send, mq_send, (mqd_t fd, const char *buffer, size_t bytes, unsigned priority),
        (fd, buffer, bytes, priority))
ON_DESCRIPTOR(int, mq_timedsend, mq_timedsend,
        (mqd_t fd, const char *buffer, size_t bytes, unsigned priority, timeout time),
        (fd, buffer, bytes, priority, time))
BLOCKING(ssize_t, msgrcv, msgrcv, 0, (int queue, void *buffer, size_t bytes, long type, int flags),
        (queue, buffer, bytes, type, flags))
BLOCKING(int, msgsnd, msgsnd, 0, (int queue, const void *buffer, size_t bytes, int flags),
        (queue, buffer, bytes, flags))
BLOCKING(int, semop, semop, 0, (int set, struct sembuf *operations, size_t count), (set, operations, count))
BLOCKING(int, semtimedop, semtimedop, 0, (int set, struct sembuf *operations, size_t count, timeout time),
        (set, operations, count, time))

/* ---- streams: the C library reads and writes them by calls of its own, which cannot be
 * interposed ---- */

/* The stream's descriptor, or none. Streams of memory have a negative one. This and the
 * next function read members of glibc's FILE: fileno() would set errno, and no function
 * tells how much a stream has read. */
static uint64_t blocking_stream(const FILE *stream)
{
	return stream && stream->_fileno >= 0 ? agent_blocking_descriptor(stream->_fileno) : 0;
}

/* The bytes that the stream has read and not handed out. A call that finds a byte does not
 * count as one that may wait. Most calls find their line there, and two clock readings
 * would take longer than such a call. A wait has no name if the end of the buffer splits a
 * line and the rest of it is late. */
static size_t blocking_has_read(const FILE *stream)
{
	return stream && stream->_IO_read_ptr < stream->_IO_read_end
	               ? (size_t)(stream->_IO_read_end - stream->_IO_read_ptr)
	               : 0;
}

#define ON_STREAM(may_wait, type, name, call, parameters, arguments) \
	BLOCKING_IF(may_wait, type, name, call, blocking_stream(stream), parameters, arguments)

#define READS_LINE(type, name, call, parameters, arguments) \
	ON_STREAM(blocking_has_read(stream) == 0, type, name, call, parameters, arguments)

#define READS_ITEMS(type, name, call, parameters, arguments) \
	ON_STREAM(size &&blocking_has_read(stream) / size < count, type, name, call, parameters, arguments)

READS_LINE(char *, fgets, fgets, (char *restrict buffer, int bytes, FILE *restrict stream),
        (buffer, bytes, stream))
READS_LINE(char *, __fgets_chk, fgets, (char *buffer, size_t room, int bytes, FILE *stream),
        (buffer, room, bytes, stream))
READS_LINE(ssize_t, getline, getline, (char **restrict line, size_t *restrict room, FILE *restrict stream),
        (line, room, stream))
READS_LINE(ssize_t, getdelim, getdelim,
        (char **restrict line, size_t *restrict room, int end, FILE *restrict stream),
        (line, room, end, stream))
/* glibc's headers turn getline() into this. */
READS_LINE(ssize_t, __getdelim, getline,
        (char **restrict line, size_t *restrict room, int end, FILE *restrict stream),
        (line, room, end, stream))
READS_ITEMS(size_t, fread, fread, (void *restrict buffer, size_t size, size_t count, FILE *restrict stream),
        (buffer, size, count, stream))
READS_ITEMS(size_t, __fread_chk, fread,
        (void *restrict buffer, size_t room, size_t size, size_t count, FILE *restrict stream),
        (buffer, room, size, count, stream))
ON_STREAM(true, int, fflush, fflush, (FILE * stream), (stream))
ON_STREAM(true, int, fclose, fclose, (FILE * stream), (stream))
ON_STREAM(true, int, pclose, pclose, (FILE * stream), (stream))

/* ---- signals, children, name servers, memory ---- */

BLOCKING(int, sigwait, sigwait, 0, (const sigset_t *restrict set, int *restrict signal), (set, signal))
BLOCKING(int, sigwaitinfo, sigwaitinfo, 0, (const sigset_t *restrict set, siginfo_t *restrict information),
        (set, information))
BLOCKING(int, sigtimedwait, sigtimedwait, 0,
        (const sigset_t *restrict set, siginfo_t *restrict information, timeout restrict time),
        (set, information, time))
BLOCKING(int, sigsuspend, sigsuspend, 0, (const sigset_t *mask), (mask))
BLOCKING(int, pause, pause, 0, (void), ())
BLOCKING(int, system, system, 0, (const char *command), (command))
BLOCKING(int, getaddrinfo, getaddrinfo, 0,
        (const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
                struct addrinfo **restrict result),
        (node, service, hints, result))
BLOCKING(int, getnameinfo, getnameinfo, 0,
        (const struct sockaddr *restrict address, socklen_t address_bytes, char *restrict host,
                socklen_t host_bytes, char *restrict service, socklen_t service_bytes, int flags),
        (address, address_bytes, host, host_bytes, service, service_bytes, flags))
BLOCKING(struct hostent *, gethostbyname, gethostbyname, 0, (const char *name), (name))
BLOCKING(int, msync, msync, 0, (void *address, size_t bytes, int flags), (address, bytes, flags))

EXPORT void sync(void)
{
	uint64_t begin = agent_blocking_begin(FXT_WAIT_sync, 0);

	REAL(sync)();
	agent_blocking_end(begin);
}

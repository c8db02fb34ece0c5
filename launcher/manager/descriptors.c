/*
 * Packs descriptors into messages and takes them out (descriptors.h).
 */
#include "descriptors.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union rights {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(FXT_DESCRIPTORS_MAX * sizeof(int))];
};

bool fxt_descriptors_send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count)
{
	union rights rights = {0};
	struct iovec data = {(void *)bytes, count};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	if (fd_count) {
		message.msg_control = rights.bytes;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		rights.header.cmsg_level = SOL_SOCKET;
		rights.header.cmsg_type = SCM_RIGHTS;
		rights.header.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(&rights.header), fds, fd_count * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)count;
}

bool fxt_descriptors_receive(int socket, void *bytes, size_t count, int fds[FXT_DESCRIPTORS_MAX])
{
	union rights rights = {0};
	struct iovec data = {bytes, count};
	struct msghdr message = {.msg_iov = &data,
	        .msg_iovlen = 1,
	        .msg_control = rights.bytes,
	        .msg_controllen = sizeof(rights.bytes)};
	struct cmsghdr *control;

	for (size_t i = 0; i < FXT_DESCRIPTORS_MAX; i++)
		fds[i] = -1;
	if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)count)
		return false;
	control = CMSG_FIRSTHDR(&message);
	if (control && control->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(control), control->cmsg_len - CMSG_LEN(0));
	return true;
}

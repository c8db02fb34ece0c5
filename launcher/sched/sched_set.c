#include "sched_set.h"
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/uio.h>

/* At most 256 entries of poll() are read (2 KiB), or three sets of 1024 bits (128 bytes each). */
enum { POLLED = 256, SELECTED = 1024, WORDS = SELECTED / 64 };

static bool set_copy(uint32_t pid, uint64_t address, void *to, size_t bytes)
{
	struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static void set_add(struct fxt_sched_set *set, int32_t fd)
{
	if (set->count < FXT_SET_SHOWN)
		set->fds[set->count] = fd;
	set->count++;
}

static bool set_read_polled(struct fxt_sched_set *set, uint32_t pid, uint64_t address, uint32_t count)
{
	struct pollfd polled[POLLED];

	set->has_more = count > POLLED;
	count = set->has_more ? POLLED : count;
	if (!set_copy(pid, address, polled, count * sizeof(*polled)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (polled[i].fd >= 0) /* the kernel skips others */
			set_add(set, polled[i].fd);
	return true;
}

static bool set_read_selected(
        struct fxt_sched_set *set, uint32_t pid, const uint64_t addresses[3], uint32_t count)
{
	uint64_t all[WORDS] = {0}, words[WORDS];

	set->has_more = count > SELECTED;
	count = set->has_more ? SELECTED : count;
	for (unsigned i = 0; i < 3; i++) {
		size_t used = (count + 63) / 64;

		if (addresses[i] && !set_copy(pid, addresses[i], words, used * sizeof(*words)))
			return false;
		for (size_t word = 0; addresses[i] && word < used; word++)
			all[word] |= words[word];
	}
	for (uint32_t fd = 0; fd < count; fd++)
		if (all[fd / 64] >> fd % 64 & 1)
			set_add(set, (int32_t)fd);
	return true;
}

bool fxt_sched_set_read(
        struct fxt_sched_set *set, uint32_t pid, enum fxt_sched_subject subject, const char *line)
{
	bool is_read = false;
	uint64_t of[4];

	*set = (struct fxt_sched_set){0};
	if (sscanf(line, "%*d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &of[0], &of[1], &of[2],
	            &of[3]) != 4)
		return false;
	if (subject == FXT_CALL_OF_POLLED)
		is_read = set_read_polled(set, pid, of[0], (uint32_t)of[1]);
	if (subject == FXT_CALL_OF_SELECTED)
		is_read = set_read_selected(set, pid, of + 1, (uint32_t)of[0]);
	return is_read && set->count > 0;
}

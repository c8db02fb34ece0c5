#include "memory.h"
#include <string.h>
#include <sys/mman.h>
#include "writer/shared/sys.h"

static bool memory_map_buffer(struct agent_memory *memory, int flags, int fd)
{
	long result = sys_call6(SYS_mmap, (long)memory->buffer, (long)memory->buffer_bytes,
	        PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);

	return result == (long)memory->buffer;
}

bool agent_memory_detach(struct agent_memory *memory)
{
	if (!memory->is_detached) /* else the parent, which never started anew, has done it */
		memory->is_detached = fxt_control_detach(&memory->map);
	return memory->is_detached &&
	       memory_map_buffer(memory, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

/* Leaves the present place, and takes the one that was left longest ago. */
static bool memory_move_buffer(struct agent_memory *memory, int flags, int fd)
{
	void **oldest = &memory->left[memory->left_next], *left = memory->buffer;

	memory->buffer = *oldest ?: sys_map(memory->buffer_bytes, PROT_READ | PROT_WRITE, flags, fd);
	if (!memory->buffer || (*oldest && !memory_map_buffer(memory, flags, fd))) {
		memory->buffer = left;
		return false;
	}
	*oldest = left;
	memory->left_next = (memory->left_next + 1) % AGENT_MEMORY_LEFT;
	return true;
}

/* Replaces the parent's mappings, which are all as long as the new ones. */
static bool memory_replace(struct agent_memory *memory, int flags, int buffer_fd, int control_fd)
{
	return (memory->is_buffer_left ? memory_move_buffer(memory, flags, buffer_fd)
	                               : memory_map_buffer(memory, flags, buffer_fd)) &&
	       fxt_control_replace(&memory->map, control_fd) == 0;
}

static bool memory_map_elsewhere(struct agent_memory *memory, uint64_t buffer_bytes, bool elides_calls,
        int flags, int buffer_fd, int control_fd)
{
	memset(memory->left, 0, sizeof(memory->left)); /* their length differs */
	memory->buffer_bytes = buffer_bytes;
	memory->buffer = sys_map(buffer_bytes, PROT_READ | PROT_WRITE, flags, buffer_fd);
	if (!memory->buffer)
		return false;
	if (fxt_control_map(&memory->map, control_fd, MAP_SHARED, elides_calls, memory->buffer) == 0)
		return true;
	sys_unmap(memory->buffer, buffer_bytes);
	memory->buffer = NULL;
	return false;
}

bool agent_memory_map(
        struct agent_memory *memory, uint64_t buffer_bytes, bool elides_calls, int buffer_fd, int control_fd)
{
	const int flags = MAP_SHARED | MAP_NORESERVE | (buffer_fd < 0 ? MAP_ANONYMOUS : 0);
	bool is_like_parents = memory->buffer && memory->buffer_bytes == buffer_bytes &&
	                       memory->map.elides_calls == elides_calls;

	if (is_like_parents ? !memory_replace(memory, flags, buffer_fd, control_fd)
	                    : !memory_map_elsewhere(
	                              memory, buffer_bytes, elides_calls, flags, buffer_fd, control_fd))
		return false;
	sys_advise(memory->buffer, buffer_bytes, MADV_DONTDUMP);
	memory->is_detached = false;
	return true;
}

void agent_memory_unmap(struct agent_memory *memory)
{
	if (memory->buffer)
		sys_unmap(memory->buffer, memory->buffer_bytes);
	memory->buffer = NULL;
	fxt_control_unmap(&memory->map);
}

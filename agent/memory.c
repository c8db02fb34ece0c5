#include "memory.h"
#include <sys/mman.h>
#include "writer/sys.h"

/* The parent's, all of whose mappings are as long as these are to be. */
static bool memory_replace(struct agent_memory *memory, int flags, int buffer_fd, int control_fd)
{
	long result = sys_call6(SYS_mmap, (long)memory->buffer, (long)memory->buffer_bytes,
	        PROT_READ | PROT_WRITE, flags | MAP_FIXED, buffer_fd, 0);

	return result == (long)memory->buffer && fxt_control_replace(&memory->map, control_fd) == 0;
}

static bool memory_map_elsewhere(struct agent_memory *memory, uint64_t buffer_bytes, bool leaves_out_calls,
        int flags, int buffer_fd, int control_fd)
{
	memory->buffer_bytes = buffer_bytes;
	memory->buffer = sys_map(buffer_bytes, PROT_READ | PROT_WRITE, flags, buffer_fd);
	if (!memory->buffer)
		return false;
	if (fxt_control_map(&memory->map, control_fd, MAP_SHARED, leaves_out_calls, memory->buffer) == 0)
		return true;
	sys_unmap(memory->buffer, buffer_bytes);
	memory->buffer = NULL;
	return false;
}

bool agent_memory_map(struct agent_memory *memory, uint64_t buffer_bytes, bool leaves_out_calls,
        int buffer_fd, int control_fd)
{
	const int flags = MAP_SHARED | MAP_NORESERVE | (buffer_fd < 0 ? MAP_ANONYMOUS : 0);
	bool is_like_parents = memory->buffer && memory->buffer_bytes == buffer_bytes &&
	                       memory->map.leaves_out_calls == leaves_out_calls;

	if (is_like_parents ? !memory_replace(memory, flags, buffer_fd, control_fd)
	                    : !memory_map_elsewhere(
	                              memory, buffer_bytes, leaves_out_calls, flags, buffer_fd, control_fd))
		return false;
	sys_advise(memory->buffer, buffer_bytes, MADV_DONTDUMP);
	return true;
}

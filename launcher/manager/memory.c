/*
 * Creates, maps and populates the two memories of a provider. Runs on the main thread,
 * except that the provider's thread populates. Must never fault on pages that the program
 * could remove: both files are sealed.
 */
#include "memory.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "writer/shared/atomics.h"

#define MIB        (UINT64_C(1) << 20)
#define PAGE_BYTES UINT64_C(4096)
#define PAGE_MOST  UINT64_C(65536) /* the largest page of any kernel */
#define STEP_BYTES MIB             /* takes 0.4 ms */

static int memory_create_sealed(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, (off_t)bytes) != 0 ||
	                       fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static void *memory_map_buffer(int fd, uint64_t bytes)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (address == MAP_FAILED)
		return NULL;
	madvise(address, bytes, MADV_DONTDUMP);
	return address;
}

/* Maps the whole control memory if possible: address space is practically unlimited unless
 * fxtrun is confined. If it is confined, many providers may leave no room for that, and
 * only parts are mapped. */
static void memory_map_control(struct fxt_memory *m, int fd)
{
	errno = fxt_control_map_whole(
	        &m->map, fd, MAP_SHARED, m->control_bytes > FXT_CONTROL_BYTES, m->buffer);
	m->control = m->map.control;
}

/* Resets the layout: nothing is recorded, and no page of the rolling buffers exists. */
static void memory_begin(struct fxt_memory *m, enum fxt_buffering_mode mode)
{
	fxt_buffer_layout(mode, m->buffer_bytes, &m->layout);
	m->populated = m->layout.rolling_offset[0] & ~(PAGE_MOST - 1);
	store_release(&m->control->pages_end, m->populated);
}

int fxt_memory_create(
        struct fxt_memory *m, uint64_t buffer_bytes, enum fxt_buffering_mode mode, bool elides_calls)
{
	*m = (struct fxt_memory){.buffer_bytes = buffer_bytes,
	        .control_bytes = fxt_control_bytes(elides_calls),
	        .control_fd = -1};
	m->buffer_fd = memory_create_sealed("fxt-buffer", buffer_bytes);
	if (m->buffer_fd >= 0)
		m->buffer = memory_map_buffer(m->buffer_fd, buffer_bytes);
	if (m->buffer)
		m->control_fd = memory_create_sealed("fxt-control", m->control_bytes);
	if (m->control_fd >= 0)
		memory_map_control(m, m->control_fd);
	if (!m->control) {
		int error = errno;

		fxt_memory_free(m);
		return error;
	}
	memory_begin(m, mode);
	return 0;
}

int fxt_memory_adopt(struct fxt_memory *m, int buffer_fd, int control_fd, enum fxt_buffering_mode mode)
{
	struct stat buffer, control;

	if (fstat(buffer_fd, &buffer) != 0 || fstat(control_fd, &control) != 0)
		return errno;
	*m = (struct fxt_memory){.buffer_bytes = (uint64_t)buffer.st_size,
	        .control_bytes = (uint64_t)control.st_size,
	        .buffer_fd = -1,
	        .control_fd = -1};
	m->buffer = memory_map_buffer(buffer_fd, m->buffer_bytes);
	if (m->buffer)
		memory_map_control(m, control_fd);
	if (!m->control) {
		int error = errno;

		fxt_memory_free(m);
		return error;
	}
	fxt_buffer_layout(mode, m->buffer_bytes, &m->layout);
	return 0;
}

/* True if a thread is stalled in the middle of a write: the agent then looks for its
 * chunk. */
static bool memory_has_stalled(const struct fxt_memory *m)
{
	uint32_t used = load_acquire(&m->control->slots_used);

	for (uint32_t i = 0; i < used && i < FXT_SLOTS; i++)
		if (load_relaxed(&fxt_control_slot(m->control, i)->late_record))
			return true;
	return false;
}

void fxt_memory_release(const struct fxt_memory *m)
{
	/* The first page has the header. */
	if (!memory_has_stalled(m))
		madvise(m->buffer + PAGE_BYTES, m->buffer_bytes - PAGE_BYTES, MADV_REMOVE);
	if (m->control_bytes > FXT_CONTROL_BYTES) /* this part may not be mapped here although
	                                           * the agent uses it */
		fallocate(m->control_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FXT_ELIDED_OFFSET,
		        (off_t)(m->control_bytes - FXT_ELIDED_OFFSET));
}

void fxt_memory_renew(struct fxt_memory *m, enum fxt_buffering_mode mode)
{
	fxt_buffer_clear((struct fxt_buffer_header *)m->buffer, mode, m->buffer_bytes);
	memory_begin(m, mode);
}

void fxt_memory_free(struct fxt_memory *m)
{
	if (!m->buffer_bytes)
		return;
	if (m->buffer)
		munmap(m->buffer, m->buffer_bytes);
	fxt_control_unmap(&m->map);
	if (m->buffer_fd >= 0)
		close(m->buffer_fd);
	if (m->control_fd >= 0)
		close(m->control_fd);
	*m = (struct fxt_memory){0};
}

/* Returns the used part of the rolling buffers, according to the header that the provider
 * writes. A wrong header causes pages to be allocated too early or too late, and no other
 * harm. */
static uint64_t memory_used_bytes(const struct fxt_memory *m)
{
	const struct fxt_buffer_header *header = (const struct fxt_buffer_header *)m->buffer;
	uint32_t wrapped = load_acquire(&header->wrapped_count);
	uint64_t data_end = load_relaxed(&header->rolling_data_end[wrapped & 1]);

	if (wrapped > 1 || data_end > m->layout.rolling_bytes)
		return m->buffer_bytes;
	return wrapped * m->layout.rolling_bytes + data_end;
}

bool fxt_memory_populate(struct fxt_memory *m)
{
	uint64_t wanted = m->layout.rolling_offset[0] + fxt_pages_wanted(memory_used_bytes(m));
	uint64_t target = wanted & ~(PAGE_MOST - 1), step;

	if (target > m->buffer_bytes)
		target = m->buffer_bytes;
	if (m->populated >= target)
		return m->populated < m->buffer_bytes;
	step = target - m->populated < STEP_BYTES ? target - m->populated : STEP_BYTES;
	/* If memory is short, the program's own writes will show it; nothing can be done
	 * here. An older kernel can only allocate pages; the first access then fills them
	 * with zeros. */
	if (madvise(m->buffer + m->populated, step, MADV_POPULATE_WRITE) != 0)
		fallocate(m->buffer_fd, 0, (off_t)m->populated, (off_t)step);
	/* Unmaps the pages here; they stay in the file. While mapped, they would count as
	 * the manager's own memory, and top would show the buffers of all programs as
	 * fxtrun's. */
	madvise(m->buffer + m->populated, step, MADV_DONTNEED);
	m->populated += step;
	/* Release: an agent that reads this value finds the pages there. */
	store_release(&m->control->pages_end, m->populated);
	return m->populated < m->buffer_bytes;
}

/*
 * Maps the control memory into a process, extends its areas, and replaces it in a forked
 * child. Runs on the thread that initializes the agent and on any thread that needs a slot
 * or a large stack, and in the manager. Must never map over memory that is not its own.
 */
#include "control_map.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "writer/engine/heap.h"
#include "sys.h"

#define DISTANCE (UINT64_C(64) << 30)
/* distance of two maps of a process, or of a process's and its forked child's */
#define SPACING (UINT64_C(4) << 30)
#define PLACES  1024

#ifndef MAP_FIXED_NOREPLACE
/* Linux 4.17; an older kernel takes the address as a hint */
#define MAP_FIXED_NOREPLACE 0x100000
#endif

struct control_area {
	uint64_t begin, end; /* offsets */
	uint64_t first;      /* this much is mapped at first */
	uint64_t step;       /* the area grows by multiples of this */
};

/* Each area has something mapped at first, because the mapping of a file can grow without
 * the file's descriptor. It suffices for four threads, so that children with other slots
 * than their parents' take no more than this. */
static const struct control_area areas[FXT_CONTROL_AREAS] = {
        {FXT_STACKS_OFFSET, FXT_LARGE_STACKS_OFFSET, 64 * FXT_SMALL_STACK_BYTES, 64 * FXT_SMALL_STACK_BYTES},
        {FXT_LARGE_STACKS_OFFSET, FXT_CONTROL_BYTES, FXT_CONTROL_ALIGNMENT, FXT_LARGE_STACK_BYTES},
        {FXT_ELIDED_OFFSET, FXT_ELIDED_END, 5 * FXT_ELIDED_BYTES, FXT_ELIDED_BYTES},
};
_Static_assert(FXT_ELIDED_END < SPACING, "");

static int control_areas(const struct fxt_control_map *map)
{
	return map->elides_calls ? FXT_CONTROL_AREAS : FXT_CONTROL_AREAS - 1;
}

/* Maps at that address and no other; NULL: it is not free, unless `flags` have
 * MAP_FIXED. */
static void *control_map_at(uint64_t address, uint64_t bytes, int flags, int fd, uint64_t offset)
{
	int place = flags & MAP_FIXED ? 0 : MAP_FIXED_NOREPLACE;
	long result = sys_call6(SYS_mmap, (long)address, (long)bytes, PROT_READ | PROT_WRITE,
	        flags | place | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, (long)offset);

	if (sys_is_error(result))
		return NULL;
	if ((uint64_t)result != address) {
		sys_unmap((void *)result, bytes);
		return NULL;
	}
	sys_advise((void *)result, bytes, MADV_DONTDUMP);
	return (void *)result;
}

static struct fxt_control_map control_map_begun(int fd, int flags, bool elides_calls)
{
	return (struct fxt_control_map){.elides_calls = elides_calls, .is_anonymous = fd < 0, .flags = flags};
}

static int control_map_parts(struct fxt_control_map *map, int fd, uint64_t place)
{
	map->control = control_map_at(place, FXT_STACKS_OFFSET, map->flags, fd, 0);
	for (int i = 0; map->control && i < control_areas(map); i++) {
		if (!control_map_at(place + areas[i].begin, areas[i].first, map->flags, fd, areas[i].begin)) {
			fxt_control_unmap(map);
			return ENOMEM;
		}
		map->ends[i] = areas[i].begin + areas[i].first;
	}
	return map->control ? 0 : ENOMEM;
}

static int control_map_all(struct fxt_control_map *map, int fd)
{
	uint64_t bytes = fxt_control_bytes(map->elides_calls);

	map->control = sys_map(
	        bytes, PROT_READ | PROT_WRITE, map->flags | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd);
	if (!map->control)
		return ENOMEM;
	sys_advise(map->control, bytes, MADV_DONTDUMP);
	for (int i = 0; i < control_areas(map); i++)
		map->ends[i] = areas[i].end;
	return 0;
}

/* A forked child goes on counting, because it has the maps of its parent. */
static uint64_t control_place(const void *other)
{
	static uint32_t count;
	uint64_t number = add_relaxed(&count, 1) % PLACES;

	return ((uint64_t)(uintptr_t)other - DISTANCE - number * SPACING) & ~(FXT_CONTROL_ALIGNMENT - 1);
}

int fxt_control_map(struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other)
{
	const struct fxt_control_map begun = control_map_begun(fd, flags, elides_calls);

	*map = begun;
	if (control_map_parts(map, fd, control_place(other)) == 0)
		return 0;
	*map = begun;
	return control_map_all(map, fd);
}

int fxt_control_map_whole(
        struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other)
{
	*map = control_map_begun(fd, flags, elides_calls);
	if (control_map_all(map, fd) == 0)
		return 0;
	return control_map_parts(map, fd, control_place(other));
}

int fxt_control_replace(struct fxt_control_map *map, int fd)
{
	uint64_t base = (uint64_t)(uintptr_t)map->control;
	int flags = map->flags | MAP_FIXED;

	if (!control_map_at(base, FXT_STACKS_OFFSET, flags, fd, 0))
		return ENOMEM;
	for (int i = 0; i < control_areas(map); i++)
		if (!control_map_at(
		            base + areas[i].begin, map->ends[i] - areas[i].begin, flags, fd, areas[i].begin))
			return ENOMEM;
	return 0;
}

bool fxt_control_detach(struct fxt_control_map *map)
{
	struct fxt_control_map private = *map;
	uint8_t *copy = (uint8_t *)map->control, *parents;
	/* An old length of 0 maps the same pages once more. */
	long result = sys_call(SYS_mremap, map->control, 0, FXT_STACKS_OFFSET, MREMAP_MAYMOVE);

	if (sys_is_error(result))
		return false;
	parents = (uint8_t *)result;
	private.flags = MAP_PRIVATE;
	if (fxt_control_replace(&private, -1) != 0) {
		sys_unmap(parents, FXT_STACKS_OFFSET);
		return false;
	}
	memcpy(copy, parents, sizeof(struct fxt_control));
	uint64_t sums = map->control->slots_used > FXT_HEAP_SHARED_SUMS ? map->control->slots_used
	                                                                : FXT_HEAP_SHARED_SUMS;

	memcpy(copy + FXT_HEAP_SUMS_OFFSET, parents + FXT_HEAP_SUMS_OFFSET, sums * FXT_HEAP_SUM_BYTES);
	sys_unmap(parents, FXT_STACKS_OFFSET);
	return true;
}

static bool control_grow(
        struct fxt_control_map *map, const struct control_area *area, uint64_t *mapped, uint64_t end)
{
	uint64_t base = (uint64_t)(uintptr_t)map->control, bytes = *mapped - area->begin;
	uint64_t wanted = (end - area->begin + area->step - 1) / area->step * area->step;

	if (map->is_anonymous) {
		/* Shared memory cannot grow beyond the size it was mapped with. */
		if (!control_map_at(base + *mapped, wanted - bytes, map->flags, -1, 0))
			return false;
	} else {
		long result = sys_call(SYS_mremap, base + area->begin, bytes, wanted, 0);

		if (sys_is_error(result))
			return false;
	}
	*mapped = area->begin + wanted;
	return true;
}

bool fxt_control_reach(struct fxt_control_map *map, uint64_t end)
{
	if (!map)
		return true;
	for (int i = 0; i < control_areas(map); i++)
		if (end > areas[i].begin && end <= areas[i].end)
			return end <= map->ends[i] || control_grow(map, &areas[i], &map->ends[i], end);
	return false;
}

bool fxt_control_reach_slot(struct fxt_control_map *map, uint32_t number)
{
	uint64_t stack = FXT_STACKS_OFFSET + (number + 1) * FXT_SMALL_STACK_BYTES;
	uint64_t sums = FXT_ELIDED_OFFSET + (number + 2) * FXT_ELIDED_BYTES;

	if (!fxt_control_reach(map, stack))
		return false;
	return !map || !map->elides_calls || number >= FXT_ELIDED_THREADS || fxt_control_reach(map, sums);
}

void fxt_control_reach_all(struct fxt_control_map *map)
{
	struct rlimit64 limit = {0};

	sys_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit);
	for (int i = 0; map && limit.rlim_cur == RLIM64_INFINITY && i < control_areas(map); i++)
		fxt_control_reach(map, areas[i].end);
}

void fxt_control_unmap(struct fxt_control_map *map)
{
	uint8_t *control = (uint8_t *)map->control;

	if (!control)
		return;
	sys_unmap(control, FXT_STACKS_OFFSET);
	for (int i = 0; i < control_areas(map); i++)
		if (map->ends[i])
			sys_unmap(control + areas[i].begin, map->ends[i] - areas[i].begin);
	*map = (struct fxt_control_map){0};
}

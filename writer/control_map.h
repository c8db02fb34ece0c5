/*
 * The control memory as a process has it mapped: what is fixed as a whole, and of its three areas (stacks,
 * large stacks, sums of calls left out) as much as was needed so far. All of it would take a gigabyte of
 * address space, more than a program may have that is confined by RLIMIT_AS, now or later.
 *
 *   control, slots, ...      | stacks          | large stacks    | sums of calls left out
 *   ======================== |======>          |=>               |====>
 *                              grow in their places, so that offsets are the same in all processes
 *
 * What is not mapped is nobody's, and the kernel may give it to others; so all lies far below the other
 * memory of the process, where the kernel looks last. Where an area cannot grow nothing happens to others: a
 * thread gets no slot, or its deep calls are lost.
 */
#ifndef FXT_WRITER_CONTROL_MAP_H
#define FXT_WRITER_CONTROL_MAP_H

#include "control.h"

enum { FXT_CONTROL_AREAS = 3 };

struct fxt_control_map {
	struct fxt_control *control; /* NULL: nothing is mapped */
	bool elides_calls;           /* whether it has that area */
	bool is_anonymous;
	int flags;                        /* MAP_SHARED or MAP_PRIVATE */
	uint64_t ends[FXT_CONTROL_AREAS]; /* how far each is mapped: offsets in the memory */
};

/*
 * Maps the memory of a descriptor, or with fd -1 memory of its own, shared by forked children or not as
 * `flags` says (MAP_SHARED, MAP_PRIVATE), far below `other`, which is some memory of the process. Where there
 * is no such place all of it is mapped, wherever it may be. Returns 0, or ENOMEM. The descriptor is not
 * needed any more.
 */
int fxt_control_map(struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other);

/* The same, with all of it mapped if that is possible. */
int fxt_control_map_whole(
        struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other);

/*
 * In a forked child, whose parent's memory the map is: maps another one of the same kind in its place, as far
 * as that was mapped. So no generation of a family takes more address space than the one before. Returns 0,
 * or ENOMEM: what is there is the parent's, in part perhaps.
 */
int fxt_control_replace(struct fxt_control_map *map, int fd);

/*
 * In a forked child: has private memory in the place of its parent's, as far as that is mapped: a copy of the
 * block and of the sums of the heap, and zeros else. False: nothing has changed.
 */
bool fxt_control_detach(struct fxt_control_map *map);

/* Has an area reach up to an offset in it. NULL is the map of a memory that is mapped as a whole. */
bool fxt_control_reach(struct fxt_control_map *map, uint64_t end);

/* The same for the stack of a slot, and its sums of calls left out if there are any. */
bool fxt_control_reach_slot(struct fxt_control_map *map, uint32_t number);

/* All of it, as far as that is possible, unless address space is limited: nothing more can be mapped later
 * on.
 */
void fxt_control_reach_all(struct fxt_control_map *map);

void fxt_control_unmap(struct fxt_control_map *map);

#endif

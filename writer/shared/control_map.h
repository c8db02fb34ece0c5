/*
 * The control memory as one process has it mapped. The fixed part is mapped as a whole. The
 * three areas (stacks, large stacks, sums of elided calls) are mapped as far as they were
 * needed so far. All of it would take a gigabyte of address space, which is more than a
 * program confined by RLIMIT_AS, now or later, may have.
 *
 *   control, slots, ...      | stacks          | large stacks    | sums of elided calls
 *   ======================== |======>          |=>               |====>
 *                     grow in their places, so that offsets are the same in all processes
 *
 * Address space that is not mapped is free, and the kernel may give it to others. Therefore
 * all lies far below the other memory of the process, at addresses that the kernel tries
 * last. If an area cannot grow, other memory is not harmed: a thread gets no slot, or its
 * deep calls are lost.
 */
#ifndef FXT_WRITER_CONTROL_MAP_H
#define FXT_WRITER_CONTROL_MAP_H

#include "control.h"

enum { FXT_CONTROL_AREAS = 3 };

struct fxt_control_map {
	struct fxt_control *control; /* NULL: nothing is mapped */
	bool elides_calls;           /* whether it has the area of elided calls */
	bool is_anonymous;
	int flags; /* MAP_SHARED or MAP_PRIVATE */
	/* how far each area is mapped: offsets in the memory */
	uint64_t ends[FXT_CONTROL_AREAS];
};

/*
 * Maps the memory of a descriptor, or with fd -1 memory of its own. `flags` (MAP_SHARED,
 * MAP_PRIVATE) say whether forked children share it. The place is far below `other`, which
 * is some memory of the process. If no such place is free, all of it is mapped, at any
 * address. Returns 0, or ENOMEM. The descriptor is not needed any more.
 */
int fxt_control_map(struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other);

/* The same, with all of it mapped if that is possible. */
int fxt_control_map_whole(
        struct fxt_control_map *map, int fd, int flags, bool elides_calls, const void *other);

/*
 * In a forked child with its parent's map: maps another memory of the same kind in its
 * place, as far as that one was mapped. No generation of a family therefore takes more
 * address space than the one before. Returns 0, or ENOMEM: the parent's memory may then
 * still be mapped in part.
 */
int fxt_control_replace(struct fxt_control_map *map, int fd);

/*
 * In a forked child: puts private memory in the place of its parent's, as far as that is
 * mapped. It is a copy of struct fxt_control and of the sums of the heap, and zeros
 * elsewhere. False: nothing has changed.
 */
bool fxt_control_detach(struct fxt_control_map *map);

/* Extends an area up to an offset in it. A NULL map is that of a memory that is mapped as a
 * whole. */
bool fxt_control_reach(struct fxt_control_map *map, uint64_t end);

/* The same for the stack of a slot, and for its sums of elided calls if there are any. */
bool fxt_control_reach_slot(struct fxt_control_map *map, uint32_t number);

/* Maps as much of it as possible, unless address space is limited: nothing more can be
 * mapped later on. */
void fxt_control_reach_all(struct fxt_control_map *map);

void fxt_control_unmap(struct fxt_control_map *map);

#endif

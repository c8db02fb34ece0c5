/*
 * The calls of one thread between two moments: those around the whole stretch, and those
 * inside, each with the time that lies in the stretch.
 *
 *   rank 1    |-------------- MPI_Recv ---------------|
 *   rank 2  ------------------ main ------------------------      around
 *           - MPI_Init -|  |--- prepares_late ---| |MPI_Send|     inside
 */
#ifndef FXT_READER_MEANWHILE_H
#define FXT_READER_MEANWHILE_H

#include "reader/slices/walk.h"

/* Times are in units of the scan. */
struct fxt_meanwhile_call {
	uint32_t name; /* id of a string */
	uint64_t time; /* in the stretch */
	uint64_t calls;
};

struct fxt_meanwhile {
	struct fxt_meanwhile_call *items; /* by function, the longest first */
	size_t count, room;
	uint32_t *around; /* names, outermost first */
	size_t around_count, around_room;
	uint64_t own; /* the time of the stretch in which the thread was in none of `items` */
};

/* Reads what a thread did from a moment to another, whatever the scan's filter shows.
 * Returns false if not all of the file could be read again. */
bool fxt_meanwhile_read(struct fxt_meanwhile *meanwhile, const struct fxt_scan *scan, uint32_t thread,
        uint64_t from, uint64_t to);

void fxt_meanwhile_free(struct fxt_meanwhile *meanwhile);

#endif

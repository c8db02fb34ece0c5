/*
 * Tells apart the locks that lived at one address one after the other. An instant "lock
 * ends" of category "sync" ends the life of the lock at its argument "object"
 * (agent/interpose/lock_lives.h).
 *
 *   wait for X    lock ends: X    wait for X    wait for X
 *   life 0                        life 1        life 1
 */
#ifndef FXT_READER_LOCK_LIVES_H
#define FXT_READER_LOCK_LIVES_H

#include "reader/trace/spill.h"

/* A lock ends, or a wait for it begins. */
struct fxt_lock_moment {
	uint64_t process; /* koid */
	uint64_t object, ns;
	uint64_t id; /* of moments of one kind at most one has it */
};

/* Gives each of the waits (struct fxt_wait) its life, and sorts the ends. */
void fxt_lock_lives_count(struct fxt_spill *ends, struct fxt_spill *waits);

#endif

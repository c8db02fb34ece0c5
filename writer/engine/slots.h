/*
 * Slots: giving them to threads and taking them back from threads that ended. All functions
 * are called with the lock held.
 */
#ifndef FXT_WRITER_SLOTS_H
#define FXT_WRITER_SLOTS_H

#include "engine.h"

/* Adds the agent's table by slot number: memory of fxt_reserve_map(). Takes the lock
 * itself. False: there is no room for the slots in use. */
bool fxt_slots_add_table(struct fxt_engine *e, void *memory, uint64_t entry_bytes);

/* Makes the entry of a thread id writable. False: there is no room, and that is counted. */
bool fxt_slot_reach_tid(struct fxt_engine *e, int tid);

/* Returns an empty slot's writer, with a shadow stack, counted as live. NULL: all slots are
 * taken, or there is no room, and that is counted. The caller gives the slot an identity
 * and opens it. */
struct fxt_thread_writer *fxt_slot_take(struct fxt_engine *e);

/* Puts a slot to use, once its identity is complete. */
void fxt_slot_open(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot);

/* Resets a slot and its writer. */
void fxt_slot_reset(struct fxt_engine *e, struct fxt_thread_writer *writer, struct fxt_thread_slot *slot);

/* Links a slot into the chain of its thread id, so that a later thread of the same id finds
 * it. */
void fxt_slot_chain(struct fxt_engine *e, struct fxt_thread_writer *writer, int tid);

/* Finds threads that ended. `tid` has just been given to a new thread. */
void fxt_slot_reclaim_dead(struct fxt_engine *e, int tid);

/* Returns the index that another slot of the same thread has; 0 = there is none. */
uint32_t fxt_slot_thread_index(const struct fxt_engine *e, uint64_t koid);

#endif

/*
 * Checks whether the engine's state is consistent: the rules between its fields, its
 * writers and its slots that every function of writer/ relies on and keeps. Tests call it.
 * A DEBUG=1 build (FXT_DEBUG) calls it whenever the engine's lock is released. If a rule is
 * broken it ends the program with a line that says where.
 */
#ifndef FXT_WRITER_VALID_H
#define FXT_WRITER_VALID_H

#include <stdbool.h>
#include <stdint.h>

struct fxt_engine;

/* Whether the engine, every writer, and every live slot keep their rules. With the engine's
 * lock held, or while no thread is inside the engine. Always true in a forked child,
 * because the kernel wiped its writers. */
bool fxt_engine_is_valid(const struct fxt_engine *e);

/* The same for one slot in use and its writer. */
bool fxt_thread_writer_is_valid(const struct fxt_engine *e, uint32_t number);

#ifdef FXT_DEBUG
void fxt_assertion_failed(const char *what) __attribute__((noreturn));
#define FXT_STRINGIFY(text) #text
#define FXT_LINE(line)      FXT_STRINGIFY(line)
#define FXT_ASSERT(condition)  \
	((condition) ? (void)0 \
	             : fxt_assertion_failed(__FILE__ ":" FXT_LINE(__LINE__) ": not so: " #condition "\n"))
#else
#define FXT_ASSERT(condition) ((void)0)
#endif

/* Somebody holds the engine's lock, or the engine is being set up and no other thread knows
 * it. A confined process may have to pass the lock by. */
#define FXT_ASSERT_LOCKED(e)                                                         \
	FXT_ASSERT(load_relaxed(&(e)->lock.word) || (e)->state == FXT_ENGINE_NONE || \
	           load_relaxed(&sys_confinement) == SYS_UNLOCKED)

/* The thread itself works on its writer, outside the hooks' fast path. */
#define FXT_ASSERT_SLOW_PATH(writer) FXT_ASSERT(load_relaxed(&(writer)->busy) == FXT_SLOW_PATH)

#endif

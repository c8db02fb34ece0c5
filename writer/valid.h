/*
 * Whether the engine's state holds together: the rules between its fields, its blocks and its slots that
 * every function of writer/ relies on and keeps. Tests ask; a DEBUG=1 build (FXT_DEBUG) asks whenever the
 * engine's lock is given back, and ends the program, with a line that says where, if a rule is broken.
 */
#ifndef FXT_WRITER_VALID_H
#define FXT_WRITER_VALID_H

#include <stdbool.h>
#include <stdint.h>

struct fxt_engine;

/* Whether the engine, every block, and every live slot keep their rules. With the engine's lock held, or
 * while no thread is inside the engine. Always true in a forked child, whose blocks the kernel wiped. */
bool fxt_engine_is_valid(const struct fxt_engine *e);

/* The same of one slot in use and its block. */
bool fxt_block_is_valid(const struct fxt_engine *e, uint32_t number);

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

#endif

/*
 * Return addresses that prepared entries (prepared.h) have replaced, by their place on the
 * stack. A place is the address of the word that holds a return address.
 *
 *     place   bits 47..31      30..16        15..3
 *             agent_returns -> middle ----> leaf  ----> struct agent_return
 *
 * By their place they need no order: a call's address is found however its stack was left,
 * switched or interrupted. A list in the order of the calls fails there: a signal handler
 * beside swapcontext() takes an entry of another stack.
 *
 * Each thread remembers the leaf that it used last. The way down the tables is a chain of
 * loads, and the processor would wait for its end where a hook reads the clock.
 *
 * An entry is valid while its place holds the address of a thunk. The call that replaces
 * an address is the only writer of its entry until it returns.
 */
#ifndef FXT_AGENT_RETURNS_H
#define FXT_AGENT_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "agent/base/attributes.h"
#include "agent/base/self.h"
#include "writer/shared/atomics.h"

/* prepared.c has these as instructions for unwinders, too. */
enum {
	AGENT_RETURNS_LEAF_BITS = 16,   /* bytes of stack that a leaf is for */
	AGENT_RETURNS_MIDDLE_BITS = 31, /* and a middle table */
	AGENT_RETURNS_BITS = 47,        /* of an address of the program's */
};

struct agent_return {
	uint64_t address;  /* where the call returns to */
	uint64_t function; /* which it is a call of */
};

struct agent_returns {
	struct agent_return entries[1 << (AGENT_RETURNS_LEAF_BITS - 3)];
	uint64_t part; /* its places, without their lowest AGENT_RETURNS_LEAF_BITS bits */
};

/* Lies beside the thunks (thunks.c). */
extern HIDDEN struct agent_returns **agent_returns[1 << (AGENT_RETURNS_BITS - AGENT_RETURNS_MIDDLE_BITS)];

/* Lets the table be written to. Before, it is empty. Called before the first thunk is. */
bool agent_returns_prepare(void);

/* The index of a place's leaf in its middle table. */
static inline uint64_t agent_return_leaf(uint64_t place)
{
	return place >> AGENT_RETURNS_LEAF_BITS &
	       ((1 << (AGENT_RETURNS_MIDDLE_BITS - AGENT_RETURNS_LEAF_BITS)) - 1);
}

/* The index of a place's entry in its leaf. */
static inline uint64_t agent_return_number(uint64_t place)
{
	return place % (1 << AGENT_RETURNS_LEAF_BITS) / 8;
}

/* The leaf of a place; NULL: there is none yet. */
static inline struct agent_returns *agent_returns_of(uint64_t place)
{
	struct agent_returns **middle;

	if (unlikely(place >> AGENT_RETURNS_BITS))
		return NULL;
	/* Acquire: pairs with the exchange in agent_table_make(). */
	middle = load_acquire(&agent_returns[place >> AGENT_RETURNS_MIDDLE_BITS]);
	return likely(middle) ? load_acquire(&middle[agent_return_leaf(place)]) : NULL;
}

/* The entry of a place that has one. */
static inline struct agent_return *agent_return_at(uint64_t place)
{
	return &agent_returns_of(place)->entries[agent_return_number(place)];
}

/* The thread uses this leaf, of that place, from now on. */
static inline void agent_returns_use(struct agent_returns *leaf, uint64_t place)
{
	store_relaxed(&leaf->part, place >> AGENT_RETURNS_LEAF_BITS);
	store_relaxed(&agent_self.returns, leaf);
}

/* The entry of a place in the leaf that the thread uses. NULL: it is in another. */
static inline struct agent_return *agent_return_near(uint64_t place)
{
	struct agent_returns *leaf = load_relaxed(&agent_self.returns);

	if (unlikely(!leaf || load_relaxed(&leaf->part) != place >> AGENT_RETURNS_LEAF_BITS))
		return NULL;
	return &leaf->entries[agent_return_number(place)];
}

/* Finds a place's leaf, makes it if there is none, and lets the thread use it from now on.
 * False: there is no memory, the process may make no system call, or the place is no word
 * of the program's. From any context. */
COLD bool agent_returns_make(uint64_t place);

/* The address that a place has there, when a signal handler or a walk comes upon it; 0:
 * none. */
uint64_t agent_return_address(uint64_t place);

/*
 * The same look-up for unwinders, as operations of a DWARF expression that begin with a
 * place and end with its address (37 bytes). They find agent_returns by the program
 * counter, register 16: the page of code begins with the distance from there. An address of
 * its own would have to be relocated, and unwind tables are read-only.
 */
/* clang-format off */
#define AGENT_RETURNS_RULE                                                                             \
	"0x12, 0x08,0x1f, 0x25, 0x33, 0x24,"        /* dup, const1u 31, shr, lit3, shl */    \
	"0x80,0x00, 0x0b,0x00,0xf0, 0x1a,"          /* breg16 0, const2s -4096, and: page */ \
	"0x12, 0x06, 0x22,"                         /* dup, deref, plus: agent_returns */    \
	"0x22, 0x06,"                               /* plus, deref: middle */                \
	"0x14, 0x40, 0x25, 0x0a,0xff,0x7f, 0x1a, 0x33, 0x24," /* over, lit16, shr, 0x7fff, and, lit3, shl */ \
	"0x22, 0x06,"                               /* plus, deref: leaf */                  \
	"0x16, 0x0a,0xf8,0xff, 0x1a, 0x31, 0x24,"   /* swap, const2u 0xfff8, and, lit1, shl */ \
	"0x22, 0x06"                                /* plus, deref */
/* clang-format on */

#endif

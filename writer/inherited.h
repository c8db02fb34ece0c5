/*
 * Inherited calls: those that a forked child's thread was inside of when it was made, and returns from like
 * its parent does. Their frames lie on the child's shadow stack, below those of its own calls, and their
 * slices have a category of their own: they are calls of the parent, where they are counted, and here only
 * tell what the child's calls are inside of.
 */
#ifndef FXT_WRITER_INHERITED_H
#define FXT_WRITER_INHERITED_H

#include "buffer.h"
#include "format.h"
#include "function_table.h"

#define FXT_INHERITED_CATEGORY "inherited"

/* Set in the index of such a frame's word; the index is 0 where the name has none that lasts. To the hook of
 * the exit it is no index, which is the slow path's business. */
#define FXT_INHERITED_BIT FXT_STRING_INLINE_BIT

/* Whether a frame's word is of such a call. Behind these are the words of waits (waits.h). */
static inline bool fxt_is_inherited(uint64_t word)
{
	uint64_t index = word & FXT_INDEX_LOCAL;

	return index >= FXT_INHERITED_BIT && index < (FXT_INHERITED_BIT | FXT_STRING_LOCAL_FIRST);
}

/* The string index in the word of a call's frame, inherited or not; FXT_INDEX_LOCAL = it has none that lasts.
 */
static inline uint64_t fxt_frame_index(uint64_t word)
{
	uint64_t index = word & FXT_INDEX_LOCAL;

	if (!fxt_is_inherited(word))
		return index;
	return index == FXT_INHERITED_BIT ? FXT_INDEX_LOCAL : index & ~(uint64_t)FXT_INHERITED_BIT;
}

/* The word of an inherited frame for a function's word. */
static inline uint64_t fxt_inherited_word(uint64_t word)
{
	return ((word & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL ? word & ~FXT_INDEX_LOCAL : word) |
	       FXT_INHERITED_BIT;
}

#endif

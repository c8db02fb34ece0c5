/*
 * Inherited calls: those that a forked child's thread was inside of when it was created,
 * and returns from as its parent does. Their frames lie on the child's shadow stack, below
 * those of its own calls. Their slices have a category of their own: they count as calls of
 * the parent, and in the child they only show what its calls are inside of.
 */
#ifndef FXT_WRITER_INHERITED_H
#define FXT_WRITER_INHERITED_H

#include "writer/shared/buffer.h"
#include "format.h"
#include "writer/engine/function_table.h"

#define FXT_INHERITED_CATEGORY "inherited"

/* Set in the index of such a frame's reference; the index is 0 if the name has no durable
 * one. The exit hook's fast path does not take it for an index, so the slow path handles
 * it. */
#define FXT_INHERITED_BIT FXT_STRING_INLINE_BIT

/* Whether a frame's reference belongs to such a call. The words of waits follow behind
 * these (waits.h). */
static inline bool fxt_is_inherited(uint64_t ref)
{
	uint64_t index = ref & FXT_INDEX_LOCAL;

	return index >= FXT_INHERITED_BIT && index < (FXT_INHERITED_BIT | FXT_STRING_LOCAL_FIRST);
}

/* Returns the string index in the reference of a call's frame, inherited or not;
 * FXT_INDEX_LOCAL = it has no durable one. */
static inline uint64_t fxt_frame_index(uint64_t ref)
{
	uint64_t index = ref & FXT_INDEX_LOCAL;

	if (!fxt_is_inherited(ref))
		return index;
	return index == FXT_INHERITED_BIT ? FXT_INDEX_LOCAL : index & ~(uint64_t)FXT_INHERITED_BIT;
}

/* Returns the reference of an inherited frame for a function's reference. */
static inline uint64_t fxt_inherited_ref(uint64_t ref)
{
	return ((ref & FXT_INDEX_LOCAL) == FXT_INDEX_LOCAL ? ref & ~FXT_INDEX_LOCAL : ref) |
	       FXT_INHERITED_BIT;
}

#endif

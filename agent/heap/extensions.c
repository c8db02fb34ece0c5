#include "extensions.h"
#include "allocator.h"
#include "heap_record.h"
#include "agent/base/symbols.h"

enum kind { NEW, NEW_AT, RESIZE, RESIZE_HERE, RESIZE_OR_FREE, RESIZE_AT, FREE };

enum {
#define X(name, ...) EXTENSION_##name,
	AGENT_EXTENSIONS(X)
#undef X
	        EXTENSIONS
};

static const struct extension {
	const char *name;
	uint8_t kind, block, size, count;
} extensions[EXTENSIONS] = {
#define X(name, kind, block, size, count) {#name, kind, block, size, count},
        AGENT_EXTENSIONS(X)
#undef X
};

typedef uintptr_t function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static struct next {
	function *call;
	/* its allocator, if that is the one behind ours; else NULL: not recorded */
	const void *allocator;
} next[EXTENSIONS];

/* Two threads may do this at once: both store the same values. */
static const struct next *extension_next(unsigned which)
{
	struct next *n = &next[which];

	if (!load_acquire(&n->call)) {
		const void *object = agent_next_object(extensions[which].name);

		store_relaxed(&n->allocator,
		        object == agent_next_object("malloc") && !agent_allocator_obstacle() ? object : NULL);
		/* Release: pairs with the acquire above. */
		store_release(&n->call, (function *)agent_next_symbol(extensions[which].name));
	}
	return n;
}

/* True if one function of the allocator calls another one, or jumps to it after we called
 * it (the caller is then our own object). The outer call records the block. */
static bool extension_is_inner(const struct next *n, const void *caller)
{
	return agent_object_has(n->allocator, caller) || agent_object_has(agent_own_object(), caller);
}

static uintptr_t extension_parameter(const uintptr_t *parameters, unsigned place, uintptr_t without)
{
	return place ? parameters[place - 1] : without;
}

/* The block before the call, as a parameter gives it, and below, the block after the
 * call. */
static void *extension_block_before(const struct extension *e, const uintptr_t *parameters)
{
	uintptr_t block = extension_parameter(parameters, e->block, 0);

	if (e->kind == RESIZE_AT)
		return *(void **)block;
	return e->kind == NEW_AT ? NULL : (void *)block;
}

static void *extension_block_after(const struct extension *e, const uintptr_t *parameters, uintptr_t result)
{
	switch (e->kind) {
	case FREE:
		return NULL;
	case RESIZE_HERE:
		return (void *)parameters[e->block - 1];
	case NEW_AT:
	case RESIZE_AT:
		return (int)result == 0 ? *(void **)parameters[e->block - 1] : NULL;
	default:
		return (void *)result;
	}
}

static uintptr_t extension_call(unsigned which, const void *caller, uintptr_t a, uintptr_t b, uintptr_t c,
        uintptr_t d, uintptr_t last)
{
	const struct next *n = extension_next(which);
	const struct extension *e = &extensions[which];
	const uintptr_t parameters[] = {a, b, c, d, last};
	uint64_t ticks;
	size_t before = 0, after, size;
	uintptr_t result;
	void *old, *block;

	if (!n->allocator || extension_is_inner(n, caller) || !agent_allocator_is_known() ||
	        load_relaxed(&agent_heap.mode) == FXT_HEAP_OFF)
		return n->call(a, b, c, d, last);
	old = extension_block_before(e, parameters);
	before = old ? agent_usable_size(old) : 0;
	ticks = fxt_clock_ticks(agent_engine.clock);
	if (e->kind == FREE && old && !agent_heap_freed_while_stopped(before))
		agent_heap_freed(old, before, ticks);
	result = n->call(a, b, c, d, last);
	block = extension_block_after(e, parameters, result);
	if (!block) {
		/* A resize to no bytes frees the block, as with the standard functions. */
		bool is_freed = old && (e->kind == RESIZE_OR_FREE ||
		                               (e->kind == RESIZE && parameters[e->size - 1] == 0));

		if (is_freed && !agent_heap_freed_while_stopped(before))
			agent_heap_freed(old, before, ticks);
		return result;
	}
	after = agent_usable_size(block);
	if (e->kind == RESIZE_HERE && after == before)
		return result;
	if (old && !agent_heap_freed_while_stopped(before))
		agent_heap_freed(old, before, ticks);
	size = extension_parameter(parameters, e->size, after) * extension_parameter(parameters, e->count, 1);
	agent_heap_allocated(block, size, after, caller);
	return result;
}

#define X(name, ...)                                                                                    \
	EXPORT function name;                                                                           \
	EXPORT uintptr_t name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t last)       \
	{                                                                                               \
		return extension_call(EXTENSION_##name, __builtin_return_address(0), a, b, c, d, last); \
	}
AGENT_EXTENSIONS(X)

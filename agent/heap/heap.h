/*
 * The heap: every allocation is an instant "allocate" that carries the pointer, the size and the number of
 * its call path (callpath.h); every free is an instant "free" with the pointer. A resized block is freed and
 * allocated. An allocation has its time after the allocator returned, a free before it is called, so that
 * what reuses an address comes later than what it was freed by. Live bytes and objects are summed in the
 * thread's slot; there a block counts with the bytes that the allocator gave for it. They are of all that
 * lives, from the constructor on: while nothing is recorded too, and in a forked child with what its parent
 * had.
 *
 * An event that cannot be recorded is counted as lost, like a call. Nothing of this calls the allocator.
 */
#ifndef FXT_AGENT_HEAP_H
#define FXT_AGENT_HEAP_H

/* Once, in the constructor, before recording begins: whether this program's heap is to be recorded and can
 * be, by the manager's choice, what code and what allocator it has. Of a program that has no instrumented
 * code yet it may be from the first call of such code on. */
void agent_heap_prepare(void);

/* The engine has started: registers names and begins to record. In a forked child too. */
void agent_heap_begin(void);

/* Around a fork for which libc calls no handlers, in the process that forks. */
void agent_heap_before_fork(void);
void agent_heap_in_parent(void);

/* In a forked child, whose heap is its own from here on: until it begins, nothing is recorded. */
void agent_heap_forget(void);

/* In a forked child that has an engine of its own: what lived in its parent lives in it. */
void agent_heap_inherit(void);

#endif

/*
 * The heap. Every allocation is an instant "allocate" that carries the pointer, the size
 * and the number of its call path (callpath.h). Every free is an instant "free" with the
 * pointer. A resized block is freed and allocated.
 *
 * An allocation is stamped after the allocator returns and a free before it is called, so a
 * reuse of an address is always later than the free before it.
 *
 * Live bytes and objects are summed in the thread's slot. A block counts there with the
 * bytes that the allocator gave for it. The sums cover everything that lives, from the
 * constructor on: also while nothing is recorded, and in a forked child including its
 * parent's blocks. An event that cannot be recorded is counted as lost, like a call.
 * Nothing here calls the allocator.
 */
#ifndef FXT_AGENT_HEAP_H
#define FXT_AGENT_HEAP_H

/*
 * Once, in the constructor, before recording begins: decides whether this program's heap is
 * recorded. That depends on the manager's choice, on the program's code and on its
 * allocator. In a program without instrumented code, recording may begin with the first
 * call of such code.
 */
void agent_heap_prepare(void);

/* The engine has started: registers names and begins to record. In a forked child too. */
void agent_heap_begin(void);

/* Before and after a fork without libc's handlers, in the process that forks. */
void agent_heap_before_fork(void);
void agent_heap_in_parent(void);

/* In a forked child, which has a heap of its own from here on. Nothing is recorded until it
 * begins. */
void agent_heap_forget(void);

/* In a forked child that has an engine of its own: the parent's live blocks are live in it
 * too. */
void agent_heap_inherit(void);

#endif

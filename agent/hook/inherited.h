/*
 * The calls that a thread has open when it forks are open in the child too: the child's
 * only thread returns from them like its parent. The child shows them from its birth on, as
 * inherited (writer/format/inherited.h). Otherwise the calls of the child would have no
 * callers.
 *
 *   parent   main |------ serve |---- fork() ----- ... --|--|     counts main and serve
 *   child                             main |serve |handle||  |    counts handle
 *
 * The parent continues while the child is being made, on a shadow stack that both see.
 * Therefore every fork of libc's copies the calls first: fork(), daemon(), forkpty(),
 * _Fork(). A child of the program's own clone() has no inherited calls.
 */
#ifndef FXT_AGENT_INHERITED_H
#define FXT_AGENT_INHERITED_H

/* Called by the constructor. */
void agent_inherited_prepare(void);

/* Around a fork without libc's handlers. */
void agent_inherited_before_fork(void);
void agent_inherited_in_parent(void);
void agent_inherited_in_child(void);

/* In a forked child that is being reborn, before its parent's control memory is gone. */
void agent_inherited_look(void);

/* Opens the inherited calls in a forked child that has been reborn, if the calling thread
 * is the forked one. Any thread may call it, without the engine's lock. */
void agent_inherit(void);

#endif

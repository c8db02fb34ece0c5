/*
 * The calls that a thread has open when it forks are open in the child too, whose only thread returns from
 * them like its parent. The child shows them from its birth on, as inherited (writer/inherited.h): else what
 * it does would be called by nobody.
 *
 *   parent   main |------ serve |---- fork() ----- ... --|--|     counts main and serve
 *   child                             main |serve |handle||  |    counts handle
 *
 * The parent goes on while the child is being made, on a shadow stack that both see. So it is copied before,
 * by every fork of libc's: fork(), daemon(), forkpty(), _Fork(). A child of a clone() of the program's own
 * has none.
 */
#ifndef FXT_AGENT_INHERITED_H
#define FXT_AGENT_INHERITED_H

/* From the constructor. */
void agent_inherited_prepare(void);

/* Around a fork for which libc calls no handlers. */
void agent_inherited_before_fork(void);
void agent_inherited_in_parent(void);
void agent_inherited_in_child(void);

/* In a forked child that is being born again, before its parent's control memory is gone. */
void agent_inherited_look(void);

/* In a forked child that has been born again, by any thread: if it is the one that was forked, the calls it
 * was inside of are open from now on. Without the engine's lock. */
void agent_inherit(void);

#endif

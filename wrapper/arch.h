/*
 * The facts about processors that fxt-cc needs.
 */
#ifndef FXT_WRAPPER_ARCH_H
#define FXT_WRAPPER_ARCH_H

/* True if the agent records prepared entries (-fpatchable-function-entry) on the processor
 * that this program is for. */
#if defined(__x86_64__)
#define ARCH_HAS_PREPARED true
#else
#define ARCH_HAS_PREPARED false
#endif

#endif

/*
 * Notes the agent's changes of the program, so that a detach (agent/process/attach.h) can
 * undo them. They are bytes of code, and slots (redirect.h). Each note holds the bytes
 * before the change. A preloaded agent notes nothing, because it stays as long as the
 * process.
 *
 * Under the engine's lock, and with the memory of this process open (code.h).
 */
#ifndef FXT_AGENT_CHANGES_H
#define FXT_AGENT_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AGENT_CHANGE_BYTES = 32 };

/* Writes code over at most AGENT_CHANGE_BYTES. Later one of these bytes may change again,
 * when recording begins or ends. False: there is no memory, or it cannot be written. */
bool agent_change_code(uint64_t address, const void *bytes, size_t count);

/* Writes the address of a function into a slot. */
bool agent_change_slot(uint64_t address, uint64_t function);

/* Whether a stopped thread is in the middle of changed code (stopped.h). */
bool agent_changes_are_entered(void);

/* The first puts back everything that is still as the agent left it. It forgets slots, and
 * keeps the notes about code. The second writes this code again where the memory holds the
 * bytes from before it. */
void agent_changes_put_back(void);
void agent_changes_repeat(void);

/* This code is about to be unmapped, or is gone. */
void agent_changes_retire(uint64_t start, uint64_t end);

#endif

/*
 * What the agent has changed in the program, for a detach (agent/process/attach.h): bytes of
 * code, and slots (redirect.h). Each change is noted with the bytes before it. An agent that
 * was preloaded notes nothing, because it stays as long as the process.
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

/* Puts back all that is still as the agent left it. Slots are forgotten; code is kept in
 * mind, and the second writes it again if the code is as it was at first. */
void agent_changes_put_back(void);
void agent_changes_repeat(void);

/* This code is about to be unmapped, or is gone. */
void agent_changes_retire(uint64_t start, uint64_t end);

#endif

/*
 * Probes of <sys/sdt.h> (fxtrun --usdt): instructions that do nothing, with notes in the
 * file that say where they are. The manager makes a plan of them
 * (writer/shared/probe_plan.h). The agent carries it out before any thread executes the
 * module's code:
 *
 *     function: ...
 *               jmp --> moved: instructions
 *               rest <--.      call *way       way: agent_probe_enter, or only a return
 *                       '----- jmp
 *
 * The jump stays. A program may compute a probe's arguments only while the probe's
 * semaphore is not 0. So the semaphore is one higher while the probe is recorded. All
 * functions need the engine's lock.
 */
#ifndef FXT_AGENT_PROBES_H
#define FXT_AGENT_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include "agent/process/modules.h"

/* Asks for the plan of the module's probes, and carries it out. Leaves out modules that the
 * agent itself needs. */
void agent_probes_take(const struct agent_module_tables *module);

/* Recording, or the recorded categories, have changed. */
void agent_probes_follow(void);

/* This code is about to be unmapped. */
void agent_probes_retire(uint64_t start, uint64_t end);

#endif

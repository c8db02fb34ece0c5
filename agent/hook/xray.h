/*
 * The event source of XRay sleds: room for instructions that clang leaves at each entry and
 * exit of a function (-fxray-instrument). agent/patch/entries.h finds the sleds and writes
 * calls there, which lead here. Clang's own runtime is not needed, and takes no part.
 *
 * Nothing on the stack is replaced. The place of a call is the place of its return address:
 * at each of its sleds the stack pointer is there.
 */
#ifndef FXT_AGENT_XRAY_H
#define FXT_AGENT_XRAY_H

#include "agent/patch/sleds.h"

/* The code that sleds call. */
struct agent_sled_code agent_xray_code(void);

#endif

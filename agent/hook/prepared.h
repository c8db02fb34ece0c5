/*
 * The event source of prepared entries: functions that the compiler gave room at their
 * entry (-fpatchable-function-entry=5). agent/patch/entries.h finds these and writes a jump
 * there, which leads to a thunk (thunks.h). The thunk enters and leaves calls here.
 */
#ifndef FXT_AGENT_PREPARED_H
#define FXT_AGENT_PREPARED_H

#include "thunks.h"

/* The code that thunks call. */
struct agent_thunk_code agent_prepared_code(void);

#endif

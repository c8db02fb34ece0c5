/*
 * The event sources: each calls the hooks (hooks.h) at a call's begin and end, with the
 * function, the call site and a stack pointer that belongs to the call's frame.
 *
 *   finstrument.c   the compiler calls at each entry and exit (-finstrument-functions)
 *   prepared.c      jumps, written into room at entries (-fpatchable-function-entry),
 *                   and calls of functions of other modules, by the slots that the loader
 *                   fills with their addresses (fxtrun --library-calls)
 *   xray.c          calls, written into sleds at entries and exits (-fxray-instrument)
 *
 * Behind the hooks a call is a call, whatever its source: frames, filters, triggers and the
 * heap's call paths are the same, and a program may have all sources at once.
 */
#ifndef FXT_AGENT_SOURCES_H
#define FXT_AGENT_SOURCES_H

#include "agent/patch/entries.h"
#include "agent/patch/imports.h"
#include "finstrument.h"
#include "prepared.h"
#include "xray.h"

/* Called before the first module is examined. */
static inline void agent_sources_prepare(void)
{
	agent_entries_prepare(agent_prepared_code(), agent_xray_code());
}

/* Whether the program, as it starts, has code with a source of events. Libraries that are
 * loaded later may have some. */
static inline bool agent_is_instrumented(void)
{
	return agent_entries_count() > 0 || agent_finstrument_is_used();
}

/* Switches the sources that are written into the program, after the recording of calls
 * began or ended. Runs in the helper's thread, or, with `is_helper` false, before there is
 * one. */
static inline void agent_sources_follow_recording(bool is_helper)
{
	agent_entries_follow_recording(is_helper);
	agent_imports_follow_recording(is_helper);
}

#endif

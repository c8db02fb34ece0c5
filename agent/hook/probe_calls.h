/*
 * The code that the sites of probes call (agent/patch/probes.h). It reads the probe's
 * arguments by its plan, and records an event as <fxt/trace.h> does (said.h). The event's
 * category is the probe's provider.
 *
 * Probes that begin and end a duration need not come in pairs: after an error the program
 * may never reach the second one. Each thread keeps its open durations. An end also ends
 * those that began later. An end without a begin is an instant.
 */
#ifndef FXT_AGENT_PROBE_CALLS_H
#define FXT_AGENT_PROBE_CALLS_H

#include <stdbool.h>
#include "agent/base/attributes.h"
#include "said_names.h"
#include "writer/shared/probe_plan.h"

/* A probe of a module. The code at its site pushes `self` and calls `way`. */
struct agent_probe {
	struct agent_probe *self;
	const uint8_t *way; /* agent_probe_enter while it is recorded, else agent_probe_pass */
	struct fxt_trace_site site;
	uint16_t texts[2 + FXT_PROBE_ARGUMENTS];
	uint64_t base; /* of the module */
	const struct fxt_probe *plan;
	const char *plan_texts;
};

extern HIDDEN const uint8_t agent_probe_enter[], agent_probe_pass[];

#endif

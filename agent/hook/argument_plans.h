/*
 * The argument plans of modules (writer/shared/argument_plan.h): which functions have
 * arguments to record. Only such functions have thunks that look at registers (thunks.h),
 * so all other calls cost what they cost without plans.
 *
 * Plans are added and retired under the engine's lock, and found without it: a thunk keeps
 * the address of its function's part.
 */
#ifndef FXT_AGENT_ARGUMENT_PLANS_H
#define FXT_AGENT_ARGUMENT_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "writer/shared/argument_plan.h"

/* The plan of a module. */
struct agent_argument_plan {
	const struct fxt_argument_plan *plan;
	uint64_t bytes, base;
	uint64_t low, high; /* of the module; 0: the place is free */
	/* For each value, the index of its name's string in the lower 16 bits, and above it
	 * the table that it is valid for (agent_said_texts()). */
	uint64_t *names;
};

/* A function of a plan. */
struct agent_planned_arguments {
	const struct agent_argument_plan *of;
	const struct fxt_planned_call *call; /* NULL: nothing of its calls is recorded */
};

/* Takes over a module's plan. The caller has checked it. False: there is no room. */
bool agent_argument_plan_add(
        const struct fxt_argument_plan *plan, uint64_t bytes, uint64_t base, uint64_t low, uint64_t high);

struct agent_planned_arguments agent_arguments_planned(uint64_t function);

/* This code is about to be unmapped. */
void agent_argument_plans_retire(uint64_t start, uint64_t end);

#endif

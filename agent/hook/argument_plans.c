/* Keeps argument plans (argument_plans.h), for threads that enter and leave calls. */
#include "argument_plans.h"
#include <sys/mman.h>
#include "writer/shared/atomics.h"
#include "writer/shared/search.h"
#include "writer/shared/sys.h"

#define MODULES 256

static struct agent_argument_plan plans[MODULES];
static uint32_t used; /* the number of places that were ever used */

bool agent_argument_plan_add(
        const struct fxt_argument_plan *plan, uint64_t bytes, uint64_t base, uint64_t low, uint64_t high)
{
	struct agent_argument_plan *at = plans;
	uint64_t *names;

	while (at < plans + MODULES && at->high)
		at++;
	if (at == plans + MODULES)
		return false;
	names = sys_map(
	        (plan->values + 1) * sizeof(*names), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!names)
		return false;
	*at = (struct agent_argument_plan){
	        .plan = plan, .bytes = bytes, .base = base, .low = low, .names = names};
	/* Release: pairs with the acquire in agent_arguments_planned(). */
	store_release(&at->high, high);
	if (at == plans + used)
		store_release(&used, used + 1);
	return true;
}

static const struct fxt_planned_call *plan_find(const struct fxt_argument_plan *plan, uint64_t address)
{
	const struct fxt_planned_call *calls = fxt_planned_calls(plan);
	uint64_t at = partition_point(i, plan->calls, calls[i].address < address);

	return at < plan->calls && calls[at].address == address ? &calls[at] : NULL;
}

struct agent_planned_arguments agent_arguments_planned(uint64_t function)
{
	uint32_t count = load_acquire(&used);

	for (const struct agent_argument_plan *at = plans; at < plans + count; at++)
		if (function < load_acquire(&at->high) && function >= at->low)
			return (struct agent_planned_arguments){at, plan_find(at->plan, function - at->base)};
	return (struct agent_planned_arguments){NULL, NULL};
}

void agent_argument_plans_retire(uint64_t start, uint64_t end)
{
	for (struct agent_argument_plan *at = plans; at < plans + used; at++) {
		if (!at->high || at->low >= end || at->high <= start)
			continue;
		store_release(&at->high, 0);
		sys_unmap(at->names, (at->plan->values + 1) * sizeof(*at->names));
		sys_unmap((void *)(uintptr_t)at->plan, at->bytes);
	}
}

/* Makes the tables of return addresses (returns.h), on the program's threads. They stay as
 * long as the process, as does the memory of stacks in general. */
#include "returns.h"
#include <stddef.h>
#include <sys/mman.h>
#include "agent/base/tables.h"
#include "writer/shared/sys.h"

#define MIDDLE_BYTES (sizeof(struct agent_returns *) << (AGENT_RETURNS_MIDDLE_BITS - AGENT_RETURNS_LEAF_BITS))

bool agent_returns_prepare(void)
{
	static bool is_done;

	is_done = is_done || !sys_is_error(sys_call6(SYS_mmap, (long)agent_returns, sizeof(agent_returns),
	                             PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
	return is_done;
}

bool agent_returns_make(uint64_t place)
{
	void **middle;
	struct agent_returns *leaf;

	if (place >> AGENT_RETURNS_BITS || place % 8)
		return false;
	middle = agent_table_make((void **)&agent_returns[place >> AGENT_RETURNS_MIDDLE_BITS], MIDDLE_BYTES);
	leaf = middle ? agent_table_make(&middle[agent_return_leaf(place)], sizeof(*leaf)) : NULL;
	if (leaf)
		agent_returns_use(leaf, place);
	return leaf;
}

uint64_t agent_return_address(uint64_t place)
{
	const struct agent_returns *leaf = place % 8 ? NULL : agent_returns_of(place);

	return leaf ? leaf->entries[agent_return_number(place)].address : 0;
}

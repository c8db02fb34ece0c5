/* Finds room for code near a module (near.h). */
#include "near.h"
#include <sys/mman.h>
#include "writer/shared/sys.h"

#define REACH  (UINT64_C(0x7fffffff) - (1 << 20)) /* what a jump reaches, less a margin */
#define STEP   (UINT64_C(64) << 10)
#define LOWEST (UINT64_C(64) << 10) /* no program maps memory below */

bool agent_is_near(uint64_t low, uint64_t high, uint64_t start, size_t bytes)
{
	uint64_t end = start + bytes;

	return (high < end ? end : high) - (low < start ? low : start) < REACH;
}

/* Maps memory for code at a free place. */
static uint8_t *near_map_at(uint64_t address, size_t bytes)
{
	long result = sys_call6(SYS_mmap, (long)address, (long)bytes, PROT_READ | PROT_EXEC,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (sys_is_error(result))
		return NULL;
	if ((uint64_t)result == address)
		return (uint8_t *)result;
	sys_unmap((void *)result, bytes); /* a kernel older than Linux 4.17 */
	return NULL;
}

/* Tries places downwards from `end`, in growing steps. */
static uint8_t *near_map_below(uint64_t low, uint64_t high, uint64_t end, size_t bytes)
{
	uint64_t step = STEP;

	for (end &= ~(STEP - 1); end > LOWEST + bytes; end -= step) {
		uint8_t *memory;

		if (!agent_is_near(low, high, end - bytes, bytes))
			return NULL;
		memory = near_map_at(end - bytes, bytes);
		if (memory)
			return memory;
		if (step < STEP << 8)
			step += STEP;
	}
	return NULL;
}

uint8_t *agent_map_near(uint64_t low, uint64_t high, size_t bytes)
{
	uint8_t *memory = near_map_below(low, high, low, bytes);

	return memory ? memory : near_map_below(low, high, low + REACH - 1, bytes);
}

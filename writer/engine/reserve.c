#include "reserve.h"
#include <sys/mman.h>
#include "writer/shared/sys.h"

static uint64_t reserve_round_up(uint64_t bytes)
{
	return (bytes + FXT_RESERVE_STEP - 1) / FXT_RESERVE_STEP * FXT_RESERVE_STEP;
}

void *fxt_reserve_map(uint64_t bytes)
{
	bytes = reserve_round_up(bytes);
	void *memory = sys_map(bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!memory)
		return NULL;
	if (sys_advise(memory, bytes, MADV_WIPEONFORK) < 0) {
		sys_unmap(memory, bytes);
		return NULL;
	}
	sys_advise(memory, bytes, MADV_DONTDUMP);
	return memory;
}

void fxt_reserve_unmap(void *memory, uint64_t bytes)
{
	if (memory)
		sys_unmap(memory, reserve_round_up(bytes));
}

void fxt_reserve_wipe(void *memory, uint64_t bytes)
{
	sys_advise(memory, reserve_round_up(bytes), MADV_DONTNEED);
}

static bool reserve_make_writable(void *memory, uint64_t offset, uint64_t bytes)
{
	return sys_call(SYS_mprotect, (uint8_t *)memory + offset, bytes, PROT_READ | PROT_WRITE, 0) == 0;
}

bool fxt_reserve_reach(struct fxt_reserve *reserve, uint64_t count)
{
	uint64_t bytes = count * reserve->entry_bytes;

	if (bytes <= reserve->writable)
		return true;
	bytes = reserve_round_up(bytes) - reserve->writable;
	if (!reserve_make_writable(reserve->memory, reserve->writable, bytes))
		return false;
	reserve->writable += bytes;
	return true;
}

bool fxt_reserve_reach_step(void *memory, uint64_t offset)
{
	return reserve_make_writable(memory, offset / FXT_RESERVE_STEP * FXT_RESERVE_STEP, FXT_RESERVE_STEP);
}

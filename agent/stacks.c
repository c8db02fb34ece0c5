#include "stacks.h"
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include "frames.h"
#include "notice.h"

#define COROUTINES 2048
#define MAIN_STACK_LEAST \
	(UINT64_C(128) << 20) /* the kernel maps nothing of its own so near below the main stack */
#define PAGE        UINT64_C(4096)
#define STACK_LEAST 2048

/* Of a stack with unknown bounds: a call is taken for the next one of it if it is at most so many bytes below
 * its newest call, or above the highest address seen of it. */
#define NEAR UINT64_C(8192)

static struct coroutine {
	uint64_t low, high; /* not exact: what was seen of it */
	bool exact;
	struct fxt_block *block; /* NULL until its first call */
} coroutines[COROUTINES];
static uint32_t coroutine_count; /* under the lock, as the table */
static uint32_t coroutine_number;
bool agent_stacks_on_stacks;
static struct fxt_lock lock;

/* ---- a thread's own ---- */

void agent_set_main_stack(void)
{
	struct rlimit limit = {0, 0};
	uint64_t high =
	        (getauxval(AT_EXECFN) + PAGE) & ~(PAGE - 1); /* a string just below the end of the stack */
	uint64_t bytes = MAIN_STACK_LEAST, usable = bytes;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		usable = limit.rlim_cur & ~(PAGE - 1);
	if (usable > bytes)
		bytes = usable;
	if (high > bytes)
		agent_set_stack(high - bytes, bytes, high - usable);
}

/* Where on the signal stack that this thread runs on now an address is; UINT64_MAX: elsewhere. */
static uint64_t signal_stack_offset(uint64_t address)
{
	stack_t stack = {.ss_flags = 0};
	uint64_t stack_offset;

	sys_call(SYS_sigaltstack, 0, &stack, 0, 0);
	stack_offset = address - (uint64_t)(uintptr_t)stack.ss_sp;
	return (stack.ss_flags & SS_ONSTACK) && stack_offset < stack.ss_size ? stack_offset : UINT64_MAX;
}

bool agent_is_on_signal_stack(uint64_t address)
{
	return signal_stack_offset(address) != UINT64_MAX;
}

/* How many bytes a hook at that address still has of its stack; UINT64_MAX: nobody knows. */
static uint64_t stack_bytes_left(uint64_t address)
{
	if (agent_stack_offset(address) >= agent_self.stack_bytes)
		return signal_stack_offset(address);
	return address > agent_self.stack_end ? address - agent_self.stack_end : 0;
}

bool agent_stack_is_short(void)
{
	return stack_bytes_left((uint64_t)(uintptr_t)__builtin_frame_address(0)) < STACK_LEAST;
}

/* ---- coroutines ---- */

/* Whether a call at that address may be the next one of a coroutine whose bounds are not known. */
static bool coroutine_is_near(const struct coroutine *c, uint64_t address)
{
	const struct fxt_frame *newest = slot_top(fxt_slot(&agent_engine, c->block->number)) - 1;
	uint64_t stack_offset = is_sentinel(newest) ? c->high : newest->stack_offset;

	return address > c->high ? address - c->high < NEAR
	                         : address >= stack_offset || stack_offset - address < NEAR;
}

/* With the lock held: the coroutine on whose stack the address is, or NULL. One with exact bounds is sure. Of
 * the others, which may reach over each other, it is the one that ends at the lowest address above this one,
 * else the highest below it. */
static struct coroutine *coroutine_find(uint64_t address)
{
	struct coroutine *best = NULL;

	for (struct coroutine *c = coroutines; c < coroutines + coroutine_count; c++) {
		if (c->exact) {
			if (address - c->low < c->high - c->low)
				return c;
		} else if (c->block && coroutine_is_near(c, address) && address >= c->low - NEAR &&
		           (!best || (best->high < address && c->high > best->high) ||
		                   (c->high >= address && c->high < best->high))) {
			best = c;
		}
	}
	return best;
}

/* With the lock held: an entry of the table, when it is full that of a coroutine without calls. */
static struct coroutine *coroutine_new(void)
{
	if (coroutine_count < COROUTINES)
		return &coroutines[coroutine_count++];
	for (struct coroutine *c = coroutines; c < coroutines + COROUTINES; c++)
		if (c->block && is_sentinel(slot_top(fxt_slot(&agent_engine, c->block->number)) - 1))
			return c;
	return NULL;
}

static struct fxt_block *coroutine_attach(void)
{
	static const char word[] = " coroutine ";
	char name[64], digits[24];
	size_t length = strnlen(agent_self.slot->name, 16);
	const char *number = agent_number(digits, ++coroutine_number);
	struct fxt_block *block;

	memcpy(name, agent_self.slot->name, length);
	memcpy(name + length, word, sizeof(word) - 1);
	strcpy(name + length + sizeof(word) - 1, number);
	block = fxt_thread_attach_coroutine(&agent_engine, agent_self.block->number, name);
	return block;
}

struct fxt_block *agent_coroutine_at(uint64_t stack_pointer, bool create)
{
	uint64_t mask = fxt_lock(&lock);
	struct coroutine *c = coroutine_find(stack_pointer);

	if (!c && create) {
		c = coroutine_new();
		if (c)
			*c = (struct coroutine){stack_pointer, stack_pointer, false, c->block};
		else
			add_relaxed(&agent_engine.control->lost_without_slot, 1);
	}
	if (c && !c->block && create && agent_self.block)
		c->block = coroutine_attach();
	if (c && !c->exact) {
		c->high = c->high > stack_pointer ? c->high : stack_pointer;
		c->low = c->low < stack_pointer ? c->low : stack_pointer;
	}
	fxt_unlock(&lock, mask);
	return c ? c->block : NULL;
}

void agent_coroutine_bounds(uint64_t low, uint64_t bytes)
{
	uint64_t mask = fxt_lock(&lock);
	struct coroutine *c = coroutines, *end = coroutines + coroutine_count;

	if (agent_stack_offset(low) < agent_self.stack_bytes) {
		store_relaxed(&agent_stacks_on_stacks, true);
		/* The hooks' fast path takes every call for the thread's: the slow path looks at the stack.
		 */
		agent_force_slow_path(agent_self.block);
	}
	while (c < end && !(c->exact && low < c->high && c->low < low + bytes))
		c++;
	if (c == end)
		c = coroutine_new();
	if (c)
		*c = (struct coroutine){low, low + bytes, true, c->block};
	fxt_unlock(&lock, mask);
}

void agent_coroutines_forget(void)
{
	memset(coroutines, 0, sizeof(coroutines));
	coroutine_count = coroutine_number = 0;
	agent_stacks_on_stacks = false;
	lock = (struct fxt_lock){0};
}

#include "inherited.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "claim.h"
#include "agent/process/modules.h"
#include "shadow.h"

/* The parent maps this before the fork, so each process has its own copy. */
struct agent_inheritance {
	uint64_t bytes;
	uint64_t birth;          /* of the child, in ticks */
	const uint32_t *command; /* the command word of the parent's session */
	uint32_t commanded;      /* and its value at the fork */
	bool is_birth_recorded;  /* no start since then discards the calls before it */
	uint64_t count;
	struct fxt_frame frames[]; /* oldest first */
};

static void inherited_forget(void)
{
	struct agent_inheritance *inheritance = agent_self.inheritance;

	agent_self.inheritance = NULL;
	if (inheritance)
		sys_unmap(inheritance, inheritance->bytes);
}

/* Whether the shadow stack has all calls that the calling thread is inside of. False in a
 * handler inside a hook: that hook continues in the child as if nothing had happened. */
static bool inherited_is_known(void)
{
	const struct fxt_thread_writer *writer = agent_self.writer;

	return agent_records_calls() && agent_thread_state() == AGENT_THREAD_OUTSIDE &&
	       writer->run == load_relaxed(&agent_engine.run) && !writer->is_full && !writer->frameless_calls;
}

/* NULL: there are none, or no memory for them. */
static struct agent_inheritance *inherited_copy(void)
{
	const struct fxt_frame *frames = fxt_slot_frames(&agent_engine, agent_self.slot);
	uint64_t count = (uint64_t)(slot_top(agent_self.slot) - frames);
	struct agent_inheritance *inheritance;
	uint64_t bytes = sizeof(*inheritance) + count * sizeof(*frames);

	inheritance = count ? sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) : NULL;
	if (!inheritance)
		return NULL;
	inheritance->bytes = bytes;
	/* For a child that a handler of the program makes reborn before
	 * agent_inherited_in_child(). */
	inheritance->birth = fxt_clock_ticks(agent_engine.clock);
	inheritance->command = &agent_engine.control->session_command;
	inheritance->commanded = load_relaxed(inheritance->command);
	inheritance->count = count;
	memcpy(inheritance->frames, frames, count * sizeof(*frames));
	return inheritance;
}

/* The thread is about to fork. If it is itself in a child before its rebirth, the
 * grandchild inherits the child's calls. */
void agent_inherited_before_fork(void)
{
	agent_self_before_fork(true);
	if (agent_thread_state() == AGENT_THREAD_FORKED)
		return;
	agent_child_before_fork();
	inherited_forget();
	if (!inherited_is_known())
		return;
	/* Keeps signal handlers from moving the shadow stack during the copy. */
	store_relaxed(&agent_self.writer->busy, FXT_SLOW_PATH);
	compiler_barrier();
	agent_self.inheritance = inherited_copy();
	store_release(&agent_self.writer->busy, FXT_IDLE);
}

void agent_inherited_in_parent(void)
{
	agent_self_in_parent();
	if (agent_thread_state() != AGENT_THREAD_FORKED)
		inherited_forget();
}

void agent_inherited_in_child(void)
{
	agent_self_in_child();
	agent_child_made();
	if (agent_self.inheritance)
		agent_self.inheritance->birth = fxt_clock_ticks(agent_engine.clock);
}

void agent_inherited_prepare(void)
{
	/* Registered first: the program's handlers, which may make the agent record, then
	 * run after these in a child and before these in its parent. */
	pthread_atfork(agent_inherited_before_fork, agent_inherited_in_parent, agent_inherited_in_child);
}

/* A call that was open at the fork. The child does not inherit the parent's waits. */
static void inherited_push(struct fxt_thread_writer *writer, const struct fxt_frame *inherited)
{
	uint64_t address = inherited->function >> FXT_FRAME_INDEX_BITS, ref;

	if (fxt_is_wait(inherited->function))
		return;
	ref = agent_function_ref(address);
	if (fxt_function_is(ref, address))
		agent_push_inherited(writer, inherited, ref);
}

void agent_inherited_look(void)
{
	struct agent_inheritance *inheritance = agent_self.inheritance;

	if (inheritance)
		inheritance->is_birth_recorded = load_relaxed(inheritance->command) == inheritance->commanded;
}

void agent_inherit(void)
{
	const struct agent_inheritance *inheritance = agent_self.inheritance;
	struct fxt_thread_writer *writer =
	        inheritance && agent_records_calls() ? agent_claim_for_wait() : NULL;

	if (writer) {
		struct fxt_thread_slot *slot = fxt_slot(&agent_engine, writer->number);

		/* The child has recorded nothing of it yet. Records from before its rebirth
		 * are gone if there was a start since. */
		if (writer->last == slot->began && inheritance->is_birth_recorded)
			store_relaxed(&writer->last, slot->began = inheritance->birth);
		for (uint64_t i = 0; i < inheritance->count; i++)
			inherited_push(writer, &inheritance->frames[i]);
		agent_release(writer);
	}
	inherited_forget();
}

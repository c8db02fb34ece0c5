/*
 * Call paths against stacks that are known here: a path's number must stand for exactly one
 * stack, and the records of its nodes must lead back to every function of that stack,
 * outermost last.
 */
#include "agent_rig.h"

#include "agent/heap/callpath.h"
#include "agent/heap/heap_state.h"
#include "agent/heap/unwind.h"

#define FUNCTIONS 60
#define STACKS    4000
#define DEEPEST   30
#define PARENT    9 /* the string index of "parent"; any will do */

static uint64_t function(unsigned number)
{
	return 0x10000 + number * 64;
}

/* ---- what was written: nodes by their ids ---- */

static struct {
	struct written {
		uint64_t id, parent, function;
	} * nodes;
	size_t count, room;
	uint64_t functions[32768]; /* by string index */
} trace;

static int take(void *context, const void *records, uint64_t bytes)
{
	const uint64_t *record = records, *end = record + bytes / 8;

	(void)context;
	for (; record < end; record += record[0] >> 4 & 0xfff) {
		uint64_t type = record[0] & 15, words = record[0] >> 4 & 0xfff;

		assert_true(words > 0 && words <= (uint64_t)(end - record));
		if (type == 2) {
			char text[64] = "";

			memcpy(text, record + 1,
			        (record[0] >> 32 & 0x7fff) < 63 ? record[0] >> 32 & 0x7fff : 63);
			sscanf(text, "{{{pc:%" SCNx64 ":", &trace.functions[record[0] >> 16 & 0x7fff]);
		}
		if (type != 6)
			continue;
		if (trace.count == trace.room)
			trace.nodes = realloc(
			        trace.nodes, (trace.room = trace.room * 2 + 1024) * sizeof(*trace.nodes));
		uint64_t arguments = record[0] >> 40 & 15;

		assert_int_equal(words, arguments ? 4 : 2);
		if (arguments)
			assert_int_equal(record[2] >> 16 & 0xffff, PARENT);
		trace.nodes[trace.count++] = (struct written){
		        record[1], arguments ? record[3] : 0, trace.functions[record[0] >> 24 & 0x7fff]};
	}
	return 0;
}

static void collect(struct rig *rig)
{
	free(trace.nodes);
	memset(&trace, 0, sizeof(trace));
	assert_int_equal(fxt_engine_stop(&agent_engine), 0);
	fxt_collector_init(&rig->collector, rig->buffer, rig->buffer_bytes, rig->control, take, NULL);
	assert_int_equal(fxt_collect_rest(&rig->collector, FXT_ENDED_NORMALLY, arch_counter()), 0);
	assert_null(rig->collector.reason);
}

static const struct written *node_of(uint64_t id)
{
	const struct written *found = NULL;

	for (size_t i = 0; i < trace.count; i++) {
		if (trace.nodes[i].id != id)
			continue;
		assert_null(found); /* written once */
		found = &trace.nodes[i];
	}
	return found;
}

/* ---- stacks ---- */

static struct stack {
	unsigned depth;
	unsigned functions[DEEPEST]; /* outermost first */
	uint32_t path;
} stacks[STACKS];

static bool is_same(const struct stack *a, const struct stack *b)
{
	return a->depth == b->depth &&
	       memcmp(a->functions, b->functions, a->depth * sizeof(*a->functions)) == 0;
}

static uint64_t at_random(uint64_t below)
{
	static uint64_t state = 7;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % below;
}

static void paths_lead_back(void)
{
	for (size_t i = 0; i < STACKS; i++) {
		uint64_t id = stacks[i].path | UINT64_C(1) << 63; /* as no address is */

		for (unsigned depth = stacks[i].depth; depth-- > 0;) {
			const struct written *node = node_of(id);

			assert_non_null(node);
			assert_true(node->function == function(stacks[i].functions[depth]));
			id = node->parent;
		}
		assert_true(id == 0);
	}
	for (size_t i = 0; i < STACKS; i += 7)
		for (size_t j = 0; j < i; j++)
			assert_true((stacks[i].path == stacks[j].path) == is_same(&stacks[i], &stacks[j]));
}

/* The stack of before, some calls of it returned from, and others begun. */
static void next_stack(const struct stack *before, struct stack *stack)
{
	unsigned kept = before ? (unsigned)at_random(before->depth + 1) : 0;

	*stack = (struct stack){.depth = kept + (unsigned)at_random(4)};
	if (stack->depth == 0)
		stack->depth = 1;
	if (stack->depth > DEEPEST)
		stack->depth = DEEPEST;
	if (kept > stack->depth)
		kept = stack->depth;
	if (before)
		memcpy(stack->functions, before->functions, kept * sizeof(*stack->functions));
	for (unsigned i = kept; i < stack->depth; i++)
		stack->functions[i] = (unsigned)at_random(FUNCTIONS);
}

static void begin(struct rig *rig)
{
	agent_rig_begin(rig);
	assert_true(agent_paths_prepare());
	agent_heap.parent_argument = 8 | 2 << 4 | (uint64_t)PARENT << 16; /* a pointer of that name */
	assert_non_null(agent_attach());
	agent_self.writer->busy = FXT_SLOW_PATH;
}

static void end(struct rig *rig)
{
	agent_self.writer->busy = FXT_IDLE;
	agent_paths_forget();
	agent_rig_end(rig);
}

/* ---- the tests ---- */

static void paths_of_calls(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig);
	assert_true(agent_path_of_calls(agent_self.writer, 0) == 0);
	for (size_t i = 0; i < STACKS; i++) {
		struct fxt_frame *first = fxt_slot_frames(&agent_engine, agent_self.slot);
		unsigned same = 0;

		next_stack(i ? &stacks[i - 1] : NULL, &stacks[i]);
		while (i && same < stacks[i].depth && same < stacks[i - 1].depth &&
		        stacks[i].functions[same] == stacks[i - 1].functions[same])
			same++;
		set_top(agent_self.slot, first + same);
		for (unsigned depth = same; depth < stacks[i].depth; depth++)
			agent_call(function(stacks[i].functions[depth]), 1000000 - depth * 64);
		agent_self.writer->busy = FXT_SLOW_PATH;
		stacks[i].path = agent_path_of_calls(agent_self.writer, 0);
		assert_true(agent_path_of_calls(agent_self.writer, 0) == stacks[i].path);
	}
	collect(&rig);
	paths_lead_back();
	end(&rig);
}

/* A walk finds return addresses; without an unwind table there, the function is the byte
 * before. */
static struct agent_walk walk_of(const struct stack *stack)
{
	struct agent_walk walk = {.count = stack->depth};

	for (unsigned i = 0; i < stack->depth; i++)
		walk.addresses[stack->depth - 1 - i] = function(stack->functions[i]) + 1;
	return walk;
}

static void paths_of_walks(void **state)
{
	struct agent_walk walk;
	struct rig rig;

	(void)state;
	begin(&rig);
	for (size_t i = 0; i < STACKS; i++) {
		next_stack(i ? &stacks[i - 1] : NULL, &stacks[i]);
		walk = walk_of(&stacks[i]);
		uint32_t known = agent_path_of_known_walk(&walk);

		stacks[i].path = agent_path_of_walk(agent_self.writer, 0, &walk);
		assert_true(known == 0 || known == stacks[i].path);
		assert_true(agent_path_of_known_walk(&walk) == stacks[i].path);
	}
	walk.count = 0;
	assert_true(agent_path_of_known_walk(&walk) == 0);
	collect(&rig);
	paths_lead_back();
	end(&rig);
}

/* Records were dropped with their buffer: every node is written again before it is used. */
static void dropped_nodes_are_written_again(void **state)
{
	struct stack stack = {.depth = 3, .functions = {1, 2, 3}};
	struct agent_walk walk = walk_of(&stack);
	struct rig rig;
	uint32_t id;

	(void)state;
	begin(&rig);
	id = agent_path_of_walk(agent_self.writer, 0, &walk);
	agent_engine.drops++;
	assert_true(agent_path_of_known_walk(&walk) == 0);
	assert_true(agent_path_of_walk(agent_self.writer, 0, &walk) == id);
	collect(&rig);
	assert_int_equal(trace.count, 6);
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(&trace.nodes[i], &trace.nodes[i + 3], sizeof(trace.nodes[i]));
	end(&rig);
}

/* A module was unloaded and another took its addresses: what is called there now are other
 * functions. */
static void retired_code_has_other_paths(void **state)
{
	struct stack stack = {.depth = 3, .functions = {1, 2, 3}};
	struct agent_walk walk = walk_of(&stack), outermost = {.count = 1, .addresses = {walk.addresses[2]}};
	struct rig rig;
	uint32_t ids[3];

	(void)state;
	begin(&rig);
	ids[0] = agent_path_of_walk(agent_self.writer, 0, &walk);
	agent_paths_retire(0x900000, 0xa00000); /* elsewhere */
	assert_true(agent_path_of_known_walk(&walk) == ids[0]);
	for (int i = 1; i < 3; i++) {
		agent_paths_retire(function(2), function(3));
		assert_true(agent_path_of_known_walk(&walk) == 0);
		assert_true(agent_path_of_known_walk(&outermost) != 0); /* that call is not there */
		ids[i] = agent_path_of_walk(agent_self.writer, 0, &walk);
	}
	assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(paths_of_calls),
	        cmocka_unit_test(paths_of_walks),
	        cmocka_unit_test(dropped_nodes_are_written_again),
	        cmocka_unit_test(retired_code_has_other_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Finds the coroutine of a stack pointer, and gives coroutines tracks (coroutines.h). Runs
 * on the threads of the program, on the slow path of hooks and around context switches,
 * under one lock. It never calls malloc, and never keeps the lock while it records calls.
 */
#include "coroutines.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/notice.h"
#include "shadow.h"

/* For a stack with unknown bounds: a call belongs to it if its stack pointer is within this
 * many bytes below the newest call's, or above the highest address seen. */
#define NEAR UINT64_C(8192)

/* Limits of the searches: overlapping stacks, and tracks tried for one that no thread
 * uses. */
enum { OVERLAPS = 4, TRACKS_TRIED = 64 };

/* A slot for coroutines, in a list by time of last use. Free tracks come first. */
struct track {
	struct fxt_thread_writer *writer;
	struct agent_coroutine *coroutine; /* NULL: it is free */
	struct track *older, *newer;
};

/* A node of a tree that is ordered by `high`, and a heap by `priority` (a treap). */
struct agent_coroutine {
	uint64_t low, high; /* of its stack, up to the byte before `high` */
	bool is_exact;      /* false: the bounds are those seen so far */
	bool is_there;      /* false: this is free, and `right` is the next free one */
	uint32_t priority;
	struct agent_coroutine *parent, *left, *right;
	struct agent_coroutine *outer; /* the coroutine with this stack inside its own */
	uint32_t inner;                /* the number of stacks inside its own */
	struct track *track;           /* NULL: it has none */

	/* The calls it has open while it has no track. */
	struct fxt_frame *calls; /* room for 2^room_bits of them; NULL: no room */
	uint64_t count, frameless_calls;
	uint32_t room_bits;
	uint32_t run; /* the fxt_engine.run that they belong to */
};

bool agent_stacks_on_stacks;
static struct fxt_lock lock; /* protects everything here */
static struct agent_coroutine *root;
static struct track tracks[AGENT_TRACKS], *oldest, *newest;
static uint32_t track_count;
static uint64_t seed;

/* ---- memory ---- */

#define PART_BYTES (UINT64_C(256) << 10)
enum { ROOM_BITS_LEAST = 2, ROOM_BITS_MOST = 20 };

/* Memory comes in parts that are never freed, except in a forked child. */
static struct part {
	struct part *next;
	uint64_t bytes;
} * parts;
static uint8_t *unused;
static uint64_t unused_bytes;
static struct agent_coroutine *free_coroutines;
static struct fxt_frame *free_calls[ROOM_BITS_MOST + 1]; /* linked by their first word */

static void *coroutines_allocate(uint64_t bytes)
{
	uint64_t part_bytes =
	        bytes + sizeof(struct part) > PART_BYTES ? bytes + sizeof(struct part) : PART_BYTES;

	if (bytes > unused_bytes) {
		struct part *part =
		        sys_map(part_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

		if (!part)
			return NULL;
		*part = (struct part){parts, part_bytes};
		parts = part;
		unused = (uint8_t *)(part + 1);
		unused_bytes = part_bytes - sizeof(*part);
	}
	unused_bytes -= bytes;
	unused += bytes;
	return unused - bytes;
}

static void coroutine_give_calls(struct agent_coroutine *c)
{
	if (c->calls) {
		memcpy((void *)c->calls, &free_calls[c->room_bits], sizeof(*free_calls));
		free_calls[c->room_bits] = c->calls;
	}
	c->calls = NULL;
	c->count = c->frameless_calls = 0;
}

/* Makes room for the calls of a coroutine that has none open there. */
static bool coroutine_take_calls(struct agent_coroutine *c, uint64_t count)
{
	uint32_t bits = ROOM_BITS_LEAST;

	while (UINT64_C(1) << bits < count)
		bits++;
	if (c->calls && c->room_bits >= bits)
		return true;
	coroutine_give_calls(c);
	if (bits > ROOM_BITS_MOST)
		return false;
	c->room_bits = bits;
	c->calls = free_calls[bits];
	if (c->calls)
		memcpy(&free_calls[bits], (void *)c->calls, sizeof(*free_calls));
	else
		c->calls = coroutines_allocate(sizeof(struct fxt_frame) << bits);
	return c->calls != NULL;
}

/* ---- the tree ---- */

static void tree_put_below(
        struct agent_coroutine *parent, struct agent_coroutine *old, struct agent_coroutine *c)
{
	if (!parent)
		root = c;
	else if (parent->left == old)
		parent->left = c;
	else
		parent->right = c;
	if (c)
		c->parent = parent;
}

/* Swaps places with its parent. */
static void tree_rotate(struct agent_coroutine *c)
{
	struct agent_coroutine *parent = c->parent;

	tree_put_below(parent->parent, parent, c);
	if (parent->left == c) {
		parent->left = c->right;
		if (c->right)
			c->right->parent = parent;
		c->right = parent;
	} else {
		parent->right = c->left;
		if (c->left)
			c->left->parent = parent;
		c->left = parent;
	}
	parent->parent = c;
}

static void tree_add(struct agent_coroutine *c)
{
	struct agent_coroutine *parent = NULL, *at = root;

	while (at) {
		parent = at;
		at = c->high < at->high ? at->left : at->right;
	}
	c->left = c->right = c->parent = NULL;
	if (!parent)
		root = c;
	else if (c->high < parent->high)
		parent->left = c;
	else
		parent->right = c;
	c->parent = parent;
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	c->priority = (uint32_t)(seed >> 32);
	while (c->parent && c->parent->priority < c->priority)
		tree_rotate(c);
}

static void tree_remove(struct agent_coroutine *c)
{
	while (c->left || c->right)
		tree_rotate(!c->left || (c->right && c->right->priority > c->left->priority) ? c->right
		                                                                             : c->left);
	tree_put_below(c->parent, c, NULL);
}

/* The lowest stack that ends above that address. */
static struct agent_coroutine *tree_above(uint64_t address)
{
	struct agent_coroutine *found = NULL;

	for (struct agent_coroutine *c = root; c;) {
		if (c->high > address) {
			found = c;
			c = c->left;
		} else {
			c = c->right;
		}
	}
	return found;
}

/* The highest stack that ends at that address or below it. */
static struct agent_coroutine *tree_below(uint64_t address)
{
	struct agent_coroutine *found = NULL;

	for (struct agent_coroutine *c = root; c;) {
		if (c->high <= address) {
			found = c;
			c = c->right;
		} else {
			c = c->left;
		}
	}
	return found;
}

static struct agent_coroutine *tree_next(struct agent_coroutine *c)
{
	if (c->right) {
		for (c = c->right; c->left;)
			c = c->left;
		return c;
	}
	while (c->parent && c->parent->right == c)
		c = c->parent;
	return c->parent;
}

/* ---- tracks ---- */

static struct fxt_thread_slot *track_slot(const struct track *track)
{
	return fxt_slot(&agent_engine, track->writer->number);
}

static bool track_has_calls(const struct track *track)
{
	return !is_sentinel(slot_top(track_slot(track)) - 1);
}

static void track_unlink(struct track *track)
{
	*(track->older ? &track->older->newer : &oldest) = track->newer;
	*(track->newer ? &track->newer->older : &newest) = track->older;
}

static void track_is_newest(struct track *track)
{
	if (track == newest)
		return;
	if (track->older || track->newer || oldest == track)
		track_unlink(track);
	track->older = newest;
	track->newer = NULL;
	*(newest ? &newest->newer : &oldest) = track;
	newest = track;
}

static void track_is_free(struct track *track)
{
	track->coroutine = NULL;
	if (track == oldest)
		return;
	track_unlink(track);
	track->newer = oldest;
	track->older = NULL;
	oldest->older = track;
	oldest = track;
}

static struct track *track_attach(void)
{
	static const char word[] = " coroutine ";
	char name[64], digits[24];
	size_t length = strnlen(agent_self.slot->name, 16);
	const char *number = agent_number(digits, track_count + 1);
	struct track *track = &tracks[track_count];

	memcpy(name, agent_self.slot->name, length);
	memcpy(name + length, word, sizeof(word) - 1);
	strcpy(name + length + sizeof(word) - 1, number);
	track->writer = fxt_thread_attach_coroutine(&agent_engine, agent_self.writer->number, name);
	if (!track->writer)
		return NULL;
	track_count++;
	return track;
}

/* The track's coroutine keeps the calls that are open on the track, without its waits. */
static void track_keep_calls(const struct track *track)
{
	const struct fxt_frame *frame = fxt_slot_frames(&agent_engine, track_slot(track)),
	                       *top = slot_top(track_slot(track));
	struct agent_coroutine *c = track->coroutine;

	c->track = NULL;
	c->run = track->writer->run;
	c->count = 0;
	if (frame == top || !coroutine_take_calls(c, (uint64_t)(top - frame)))
		return;
	c->frameless_calls = track->writer->frameless_calls;
	for (; frame < top; frame++)
		if (!fxt_is_wait(frame->function))
			c->calls[c->count++] = *frame;
}

/* Returns a track for a coroutine, its writer SLOW_PATH. Another coroutine's calls may
 * still be open on it. */
static struct track *track_take(void)
{
	struct track *track = oldest;
	int tried = 0;

	if (track && !track->coroutine && load_relaxed(&track->writer->busy) == FXT_IDLE)
		goto taken;
	if (track_count < AGENT_TRACKS) {
		track = track_attach();
		if (track)
			goto taken;
		return NULL;
	}
	while (track && tried++ < TRACKS_TRIED &&
	        (load_relaxed(&track->writer->busy) != FXT_IDLE || track->writer->is_full))
		track = track->newer;
	if (!track || tried > TRACKS_TRIED) {
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
		return NULL;
	}
	if (track->coroutine)
		track_keep_calls(track);
taken:
	store_relaxed(&track->writer->busy, FXT_SLOW_PATH);
	return track;
}

/* ---- which coroutine ---- */

/* The stack pointer of its newest call; `high` if it has none open. */
static uint64_t coroutine_newest(const struct agent_coroutine *c)
{
	const struct fxt_frame *call = c->track ? slot_top(track_slot(c->track)) - 1 : NULL;

	if (call && !is_sentinel(call))
		return call->stack_offset;
	return !call && c->count ? c->calls[c->count - 1].stack_offset : c->high;
}

/* Whether a call there may be the next one of a coroutine with unknown bounds. */
static bool coroutine_is_near(const struct agent_coroutine *c, uint64_t address)
{
	uint64_t call = coroutine_newest(c);

	if (address >= c->high)
		return address - c->high < NEAR;
	return address >= c->low - NEAR && (address >= call || call - address < NEAR);
}

/*
 * Returns the innermost stack that holds the address, or NULL. All stacks inside a stack
 * end at its end or below it. Therefore the lowest stack that ends above the address is the
 * innermost one that holds it, or lies inside that one. Stacks with unknown bounds may
 * overlap: then the result is the stack with the lowest end above the address, otherwise
 * the highest below it.
 */
static struct agent_coroutine *coroutine_find(uint64_t address)
{
	struct agent_coroutine *above = tree_above(address), *c;
	int tried = 0;

	for (c = above; c && c->is_exact; c = c->outer)
		if (address >= c->low)
			return c;
	for (c = above; c && tried++ < OVERLAPS; c = tree_next(c))
		if (!c->is_exact && coroutine_is_near(c, address))
			return c;
	c = tree_below(address);
	return c && !c->is_exact && coroutine_is_near(c, address) ? c : NULL;
}

/* The coroutine is gone, and its track is free. Calls open there end when another coroutine
 * takes the track. */
static void coroutine_drop(struct agent_coroutine *c)
{
	while (c->inner)
		for (struct agent_coroutine *inner = tree_above(c->low); inner != c; inner = tree_next(inner))
			if (inner->outer == c) {
				coroutine_drop(inner);
				break;
			}
	if (c->outer)
		c->outer->inner--;
	tree_remove(c);
	if (c->track)
		track_is_free(c->track);
	coroutine_give_calls(c);
	*c = (struct agent_coroutine){.right = free_coroutines};
	free_coroutines = c;
}

static struct agent_coroutine *coroutine_add(uint64_t low, uint64_t high, bool is_exact)
{
	struct agent_coroutine *c = free_coroutines;

	if (c)
		free_coroutines = c->right;
	else
		c = coroutines_allocate(sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct agent_coroutine){.low = low, .high = high, .is_exact = is_exact, .is_there = true};
	tree_add(c);
	return c;
}

/* The coroutine that the thread ran last. NULL: it ran on its own stack, or the coroutine
 * is gone. */
static struct agent_coroutine *coroutine_running(void)
{
	return agent_self.coroutine && agent_self.coroutine->is_there ? agent_self.coroutine : NULL;
}

static bool is_on_threads_stack(const struct agent_coroutine *c)
{
	return c->low - agent_self.stack_low < agent_self.stack_bytes;
}

/* Returns the coroutine on whose stack the thread runs at that address; NULL: none is
 * known. If that stack is part of the one on which the thread ran last, frames of the outer
 * stack cover it now, and its coroutine is dropped. */
static struct agent_coroutine *coroutine_at(uint64_t address)
{
	struct agent_coroutine *running = coroutine_running(), *c = running;

	if (!c || !c->is_exact || c->inner || address - c->low >= c->high - c->low)
		c = coroutine_find(address);
	while (c && c != running && c->outer == running && c->is_exact &&
	        (running || is_on_threads_stack(c))) {
		coroutine_drop(c);
		c = coroutine_find(address);
	}
	return c;
}

/* ---- claims ---- */

static void coroutine_restore_calls(struct agent_coroutine *c)
{
	struct fxt_thread_writer *writer = c->track->writer;

	if (c->run == load_relaxed(&agent_engine.run)) {
		for (uint64_t i = 0; i < c->count; i++)
			if (!agent_push_inherited(writer, &c->calls[i], c->calls[i].function))
				writer->frameless_calls++;
		writer->frameless_calls += c->frameless_calls;
	}
	c->count = c->frameless_calls = 0;
}

/* Gives the coroutine a track. The lock is held; it is released for a while to record the
 * calls that are open on the track. */
static bool coroutine_take_track(struct agent_coroutine *c, uint64_t *mask)
{
	struct track *track = track_take();
	bool was_left;

	if (!track)
		return false;
	was_left = !track->coroutine;
	track->coroutine = c;
	track_is_newest(track);
	c->track = track;
	if (track_has_calls(track) || track->writer->frameless_calls) {
		agent_self.claimed = track->writer;
		fxt_unlock(&lock, *mask);
		(was_left ? agent_abandon_all : agent_suspend_all)(track->writer);
		*mask = fxt_lock(&lock);
		if (!agent_self.claimed) /* in a child that a handler forked */
			return false;
		if (c->track != track) { /* another thread runs on its stack, or on its former stack */
			store_release(&track->writer->busy, FXT_IDLE);
			return false;
		}
	}
	if (c->count || c->frameless_calls)
		coroutine_restore_calls(c);
	return true;
}

/* Returns the coroutine's writer, for the calling thread. The lock is held, and released
 * here. */
static struct fxt_thread_writer *coroutine_claim(struct agent_coroutine *c, bool is_call, uint64_t mask)
{
	bool is_lost = false, has_calls = c->count || c->frameless_calls;
	struct fxt_thread_writer *writer = NULL;

	agent_self.coroutine = c;
	if (c->track && load_relaxed(&c->track->writer->busy) != FXT_IDLE) {
		is_lost = is_call;
	} else if (c->track) {
		track_is_newest(c->track);
		writer = c->track->writer;
		store_relaxed(&writer->busy, FXT_SLOW_PATH);
	} else if ((is_call || has_calls) && coroutine_take_track(c, &mask)) {
		writer = c->track->writer;
	}
	agent_self.claimed = writer;
	fxt_unlock(&lock, mask);
	if (is_lost)
		add_relaxed(&agent_engine.control->lost_without_slot, 1);
	return writer;
}

bool agent_coroutine_claim(uint64_t stack_pointer, bool is_call, struct fxt_thread_writer **writer)
{
	uint64_t mask = fxt_lock(&lock);
	struct agent_coroutine *c = coroutine_at(stack_pointer);

	if (!c) {
		if (agent_stack_offset(stack_pointer) < agent_self.stack_bytes)
			agent_self.coroutine = NULL;
		fxt_unlock(&lock, mask);
		return false;
	}
	if (!c->is_exact) {
		c->high = c->high > stack_pointer ? c->high : stack_pointer + 1;
		c->low = c->low < stack_pointer ? c->low : stack_pointer;
	}
	*writer = coroutine_claim(c, is_call, mask);
	return true;
}

struct fxt_thread_writer *agent_coroutine_claim_new(uint64_t stack_pointer)
{
	uint64_t mask = fxt_lock(&lock);
	struct agent_coroutine *c = coroutine_add(stack_pointer, stack_pointer + 1, false);

	if (c)
		return coroutine_claim(c, true, mask);
	fxt_unlock(&lock, mask);
	add_relaxed(&agent_engine.control->lost_without_slot, 1);
	return NULL;
}

struct fxt_thread_writer *agent_coroutine_claim_interrupted(void)
{
	uint64_t mask = fxt_lock(&lock);
	struct agent_coroutine *c = coroutine_running();

	if (c && (c->track ? track_has_calls(c->track) : c->count != 0))
		return coroutine_claim(c, false, mask);
	fxt_unlock(&lock, mask);
	return NULL;
}

void agent_coroutine_release(struct fxt_thread_writer *writer)
{
	if (writer != agent_self.claimed)
		return;
	agent_self.claimed = NULL;
	store_release(&writer->busy, FXT_IDLE);
}

/* ---- stacks that the program sets ---- */

/* Whether a function of the coroutine may have a stack that ends at `high` in a local
 * array: the thread runs in the coroutine, or a call is open above the array. */
static bool coroutine_is_around(const struct agent_coroutine *c, uint64_t high)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	const struct fxt_frame *oldest_call =
	        c->track ? fxt_slot_frames(&agent_engine, track_slot(c->track)) : c->calls;
	bool has_calls = c->track ? track_has_calls(c->track) : c->count != 0;

	return here - c->low < c->high - c->low || (has_calls && oldest_call->stack_offset >= high);
}

/* Adds a stack that the program has made. Other stacks that it overlaps are gone, except
 * those that contain it. */
static struct agent_coroutine *coroutine_made(uint64_t low, uint64_t high)
{
	struct agent_coroutine *c = tree_above(low), *outer = NULL;

	while (c) {
		struct agent_coroutine *next = tree_next(c);
		bool is_inside = c->low <= low && c->high > high && c->is_exact;

		if (is_inside && coroutine_is_around(c, high)) {
			outer = c;
			break;
		}
		if (c->low < high) { /* all stacks inside it go too, so the search starts again */
			coroutine_drop(c);
			next = tree_above(low);
		} else if (!c->outer) {
			break;
		} else {
			next = c->outer;
		}
		c = next;
	}
	c = coroutine_add(low, high, true);
	if (c && outer) {
		c->outer = outer;
		outer->inner++;
	}
	return c;
}

bool agent_coroutine_runs(uint64_t low, uint64_t bytes, uint64_t stack_pointer)
{
	uint64_t mask = fxt_lock(&lock);
	struct agent_coroutine *c;
	bool leaves_calls;

	if (bytes) {
		c = coroutine_running();
		if (!c || !c->is_exact || c->low != low || c->high != low + bytes)
			for (c = tree_above(stack_pointer); c && !(c->low == low && c->high == low + bytes);)
				c = c->outer;
		if (!c || !c->is_exact)
			c = coroutine_made(low, low + bytes);
		if (c && is_on_threads_stack(c))
			store_relaxed(&agent_stacks_on_stacks, true);
	} else {
		c = coroutine_find(stack_pointer);
	}
	agent_self.coroutine = c;
	leaves_calls = c && coroutine_newest(c) < stack_pointer;
	fxt_unlock(&lock, mask);
	return leaves_calls;
}

void agent_coroutines_leave(uint64_t low, uint64_t bytes)
{
	uint64_t mask;

	if (!load_relaxed(&root))
		return;
	mask = fxt_lock(&lock);
	for (struct agent_coroutine *c = tree_above(low); c && c->low < low + bytes; c = tree_above(low))
		coroutine_drop(c);
	fxt_unlock(&lock, mask);
}

void agent_coroutines_forget(void)
{
	for (struct part *part = parts, *next; part; part = next) {
		next = part->next;
		sys_unmap(part, part->bytes);
	}
	parts = NULL;
	unused_bytes = 0;
	root = free_coroutines = NULL;
	memset(free_calls, 0, sizeof(free_calls));
	memset(tracks, 0, track_count * sizeof(tracks[0]));
	oldest = newest = NULL;
	track_count = 0;
	agent_stacks_on_stacks = false;
	agent_self.coroutine = NULL;
	agent_self.claimed = NULL;
	lock = (struct fxt_lock){0};
}

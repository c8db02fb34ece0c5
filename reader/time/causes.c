/*
 * Turns accounts of calls into parts with explanations, and follows waits to the threads
 * that held what was waited for. Runs on the caller's thread. The work per account must
 * stay bounded: at most WAITS_FOLLOWED waits of a stretch are followed, and a path is
 * climbed once.
 */
#include "causes.h"

#include <stdlib.h>

enum { WAITS_FOLLOWED = 64 }; /* of one stretch: its longest waits */

/* ---- parts ---- */

static struct fxt_part *causes_part(struct fxt_parts *parts, const struct fxt_part *key)
{
	for (size_t i = 0; i < parts->count; i++) {
		struct fxt_part *part = &parts->items[i];

		if (part->kind == key->kind && part->name == key->name && part->object == key->object &&
		        part->symbol == key->symbol && part->life == key->life &&
		        part->holder == key->holder && part->path == key->path && part->koid == key->koid)
			return part;
	}
	fxt_make_room(parts->items, parts->count, parts->room);
	parts->items[parts->count] = *key;
	return &parts->items[parts->count++];
}

static void causes_free_parts(struct fxt_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		causes_free_parts(&parts->items[i].inside);
	free(parts->items);
	*parts = (struct fxt_parts){0};
}

static int causes_longest_first(const void *left, const void *right)
{
	const struct fxt_part *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->usual_ns != b->usual_ns)
		return a->usual_ns > b->usual_ns ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

static void causes_sort(struct fxt_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		causes_sort(&parts->items[i].inside);
	if (parts->count > 1)
		qsort(parts->items, parts->count, sizeof(*parts->items), causes_longest_first);
}

/* ---- of an account ---- */

static bool causes_is_allocator(struct fxt_span name)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "reallocarray", "free",
	        "aligned_alloc", "posix_memalign", "memalign", "operator new", "operator delete"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t bytes = strlen(names[i]);
		bool is_operator = names[i][0] == 'o';

		/* Names of operators include their parameters. */
		if (fxt_begins_with(name, names[i]) &&
		        (name.bytes == bytes || (is_operator && strchr("[(", name.data[bytes]))))
			return true;
	}
	return false;
}

/* The relation of a path to the call of an account, cached: a recursion of many thousand
 * calls has as many cells, and climbing from each of them to the call would take the square
 * of that. */
struct place {
	uint32_t account;   /* for which this is known; 0: none, as accounts are counted
	                       from 1 */
	uint32_t callee;    /* the node directly below the call on the way to the path, or
	                       the path itself */
	uint32_t allocator; /* the outermost function of an allocator on that way;
	                       FXT_NOTHING: none */
	uint32_t inner;     /* while the way is climbed: its next node inward */
};

struct places {
	const struct fxt_accounts *accounts;
	struct place *items; /* by path */
	uint32_t account;    /* number of accounts begun */
};

static void causes_place_below(struct places *places, uint32_t path, uint32_t call)
{
	const struct fxt_path *node = &places->accounts->paths.items[path];
	const struct place *above = &places->items[node->parent];
	struct place *place = &places->items[path];

	place->callee = node->parent == call ? path : above->callee;
	place->allocator = above->allocator;
	if (above->allocator == FXT_NOTHING &&
	        causes_is_allocator(places->accounts->scan->tables.strings[node->name]))
		place->allocator = node->name;
	place->account = places->account;
}

/* The relation of a path at or below a call. */
static const struct place *causes_place(struct places *places, uint32_t path, uint32_t call)
{
	uint32_t node = path;

	while (places->items[node].account != places->account && node != call && node != 0) {
		uint32_t parent = places->accounts->paths.items[node].parent;

		places->items[parent].inner = node;
		node = parent;
	}
	if (places->items[node].account != places->account)
		places->items[node] = (struct place){.account = places->account,
		        .callee = node,
		        .allocator = FXT_NOTHING,
		        .inner = places->items[node].inner};
	while (node != path) {
		node = places->items[node].inner;
		causes_place_below(places, node, call);
	}
	return &places->items[path];
}

/* The innermost call of a path. */
static uint32_t causes_innermost(const struct fxt_accounts *a, uint32_t path)
{
	while (path != 0 && a->paths.items[path].kind != FXT_PATH_CALL)
		path = a->paths.items[path].parent;
	return path ? a->paths.items[path].name : FXT_NOTHING;
}

static struct fxt_part causes_wait_part(
        const struct fxt_accounts *a, const struct fxt_cell_of_time *cell, enum fxt_part_kind kind)
{
	const struct fxt_wait wait = fxt_waits_item(a->waits, cell->wait - 1);
	uint32_t last = kind == FXT_PART_WOKEN ? wait.release
	                : cell->who            ? (uint32_t)(cell->who - 1)
	                                       : FXT_NO_RELEASE;
	struct fxt_part part = {.kind = kind,
	        .wait_kind = wait.kind,
	        .name = wait.name,
	        .symbol = wait.symbol,
	        .life = wait.life,
	        .object = wait.object};

	if (last != FXT_NO_RELEASE) {
		const struct fxt_release release = fxt_waits_release(a->waits, last);

		part.holder = release.thread;
		part.path = release.path;
	} else {
		part.koid = fxt_waits_keeper(a->waits, &wait);
	}
	return part;
}

static struct fxt_part causes_blocked_part(const struct fxt_accounts *a, const struct fxt_cell_of_time *cell)
{
	const struct fxt_blocker *blocker = cell->who ? &a->timeline->blockers[cell->who - 1] : NULL;

	if (!blocker)
		return (struct fxt_part){.kind = FXT_PART_BLOCKED, .name = causes_innermost(a, cell->path)};
	return (struct fxt_part){.kind = FXT_PART_SAMPLED,
	        .wait_kind = blocker->has_fd ? FXT_WAIT_DESCRIPTOR : FXT_WAIT_FUTEX,
	        .name = blocker->call,
	        .symbol = blocker->file,
	        .object = blocker->object};
}

static struct fxt_part causes_part_of(
        struct places *places, const struct fxt_account *account, const struct fxt_cell_of_time *cell)
{
	const struct fxt_accounts *a = places->accounts;
	const struct fxt_path *paths = a->paths.items;
	const struct place *place;

	switch (cell->kind) {
	case FXT_CELL_PREEMPTED:
		return (struct fxt_part){.kind = FXT_PART_PREEMPTED, .koid = cell->who};
	case FXT_CELL_WAITED:
		return causes_wait_part(a, cell, FXT_PART_WAITED);
	case FXT_CELL_WOKEN:
		return causes_wait_part(a, cell, FXT_PART_WOKEN);
	case FXT_CELL_BLOCKED:
		return causes_blocked_part(a, cell);
	case FXT_CELL_TRACER:
		return (struct fxt_part){.kind = FXT_PART_TRACER, .name = paths[cell->path].name};
	case FXT_CELL_RAN:
	case FXT_CELL_UNKNOWN:
		break;
	}
	place = causes_place(places, cell->path, account->path);
	if (place->allocator != FXT_NOTHING && cell->kind == FXT_CELL_RAN)
		return (struct fxt_part){.kind = FXT_PART_ALLOCATED, .name = place->allocator};
	struct fxt_part part = {.kind = cell->kind == FXT_CELL_RAN ? FXT_PART_RAN : FXT_PART_UNKNOWN};

	if (!account->offset)
		part.name = causes_innermost(a, cell->path);
	else if (place->callee != account->path)
		part.name = paths[place->callee].name;
	return part;
}

/* Returns the calls of a cell that are directly inside of the call. */
static uint64_t causes_calls(
        const struct fxt_accounts *a, const struct fxt_account *account, const struct fxt_cell_of_time *cell)
{
	bool is_direct = account->offset && a->paths.items[cell->path].parent == account->path;

	return is_direct ? cell->calls : 0;
}

/* Adds running time in a callee to the innermost functions inside it. */
static void causes_add_inside(
        struct fxt_part *part, const struct fxt_accounts *a, const struct fxt_cell_of_time *cell, bool usual)
{
	struct fxt_part key = {.kind = FXT_PART_RAN, .name = causes_innermost(a, cell->path)};
	struct fxt_part *inner = causes_part(&part->inside, &key);

	*(usual ? &inner->usual_ns : &inner->ns) += cell->ns;
	*(usual ? &inner->usual_calls : &inner->calls) += cell->calls;
	*(usual ? &inner->usual_faults : &inner->faults) += cell->faults;
}

/* The time of a call is without the tracer's waits (fxt_own_time()), and so are its parts. */
static bool causes_is_tracers_wait(const struct fxt_accounts *a, const struct fxt_cell_of_time *cell)
{
	return cell->kind == FXT_CELL_TRACER && a->paths.items[cell->path].name == a->scan->waited_name;
}

/* Adds what is known of a wait's file. The part stands for all waits for one descriptor: it
 * has a file if all waits whose file is known agree. */
static void causes_add_file(struct fxt_part *part, uint32_t file)
{
	if (file == FXT_NOTHING || file == part->file)
		return;
	part->file = part->has_file ? FXT_NOTHING : file;
	part->has_file = true;
}

static uint32_t causes_file_of(const struct fxt_accounts *a, const struct fxt_cell_of_time *cell)
{
	return cell->kind == FXT_CELL_WAITED ? fxt_waits_item(a->waits, cell->wait - 1).file : FXT_NOTHING;
}

static void causes_add_cell(struct fxt_parts *parts, struct places *places, const struct fxt_account *account,
        const struct fxt_cell_of_time *cell, bool usual)
{
	uint64_t calls = causes_calls(places->accounts, account, cell);

	if (cell->ns == 0 && cell->calls == 0 && cell->faults == 0)
		return;
	if (account->offset && causes_is_tracers_wait(places->accounts, cell))
		return;
	struct fxt_part key = causes_part_of(places, account, cell), *part = causes_part(parts, &key);

	if (!usual)
		causes_add_file(part, causes_file_of(places->accounts, cell));
	*(usual ? &part->usual_ns : &part->ns) += cell->ns;
	*(usual ? &part->usual_calls : &part->calls) += calls;
	*(usual ? &part->usual_faults : &part->faults) += cell->faults;
	if (part->kind == FXT_PART_RAN && part->name != FXT_NOTHING && account->offset)
		causes_add_inside(part, places->accounts, cell, usual);
}

static void causes_add_account(
        struct fxt_parts *parts, struct places *places, const struct fxt_account *account, bool usual)
{
	struct fxt_spill_window window = {0};

	places->account++;
	for (size_t i = 0; i < account->cell_count; i++)
		causes_add_cell(parts, places, account, &account->cells[i], usual);
	for (uint64_t i = 0; i < account->waited.count; i++)
		causes_add_cell(parts, places, account, fxt_spill_at(&account->waited, &window, i), usual);
}

/* ---- along the arrows ---- */

/* Why an account was requested: for the holder's activity while the thread of another
 * account waited. */
struct pursuit {
	size_t of, account; /* both are indices of accounts */
	struct fxt_part key;
};

struct pursuits {
	struct pursuit *items;
	size_t count, room;
};

/* The cells of waits that a thread ended, longest first. Most cells of an account are
 * waits. */
struct longest {
	struct fxt_cell_of_time cells[WAITS_FOLLOWED];
	size_t count;
};

static void causes_find_longest(struct longest *longest, const struct fxt_account *account)
{
	struct fxt_spill_window window = {0};

	longest->count = 0;
	for (uint64_t i = 0; i < account->waited.count; i++) {
		const struct fxt_cell_of_time *cell = fxt_spill_at(&account->waited, &window, i);
		size_t at = longest->count;

		if (cell->kind != FXT_CELL_WAITED || cell->who == 0)
			continue;
		if (at == WAITS_FOLLOWED && longest->cells[--at].ns >= cell->ns)
			continue;
		for (; at > 0 && longest->cells[at - 1].ns < cell->ns; at--)
			longest->cells[at] = longest->cells[at - 1];
		longest->cells[at] = *cell;
		longest->count += longest->count < WAITS_FOLLOWED;
	}
}

/* The time from which on the release's thread held the object, as the wait shows it. */
static uint64_t causes_held_from(const struct fxt_waits *waits, const struct fxt_wait *wait, uint32_t release)
{
	uint64_t moment = wait->start;

	while (moment < wait->end) {
		uint64_t until = wait->end;
		uint32_t holder = fxt_waits_holder(waits, wait, moment, &until);

		if (holder == release || holder == FXT_NO_RELEASE)
			return moment;
		moment = until;
	}
	return wait->start;
}

/* True if a longer cell has the same wait and the same thread: the account of that thread
 * is requested once. */
static bool causes_is_asked_for(const struct longest *longest, size_t place)
{
	const struct fxt_cell_of_time *cell = &longest->cells[place];

	for (size_t i = 0; i < place; i++)
		if (longest->cells[i].wait == cell->wait && longest->cells[i].who == cell->who)
			return true;
	return false;
}

/* Requests accounts of all threads that the threads of some accounts waited for. */
static void causes_pursue(struct fxt_accounts *a, size_t first, size_t last, struct pursuits *pursuits)
{
	for (size_t of = first; of < last; of++) {
		uint64_t start = a->items[of].start, end = a->items[of].end;
		struct longest longest;

		causes_find_longest(&longest, &a->items[of]);
		for (size_t i = 0; i < longest.count; i++) {
			const struct fxt_cell_of_time *cell = &longest.cells[i];

			if (causes_is_asked_for(&longest, i))
				continue;
			const struct fxt_wait wait = fxt_waits_item(a->waits, cell->wait - 1);
			uint32_t number = (uint32_t)(cell->who - 1);
			const struct fxt_release release = fxt_waits_release(a->waits, number);
			uint64_t from = causes_held_from(a->waits, &wait, number), to = release.ns;

			from = from > start ? from : start;
			to = to < end ? to : end;
			fxt_make_room(pursuits->items, pursuits->count, pursuits->room);
			pursuits->items[pursuits->count++] =
			        (struct pursuit){of, fxt_accounts_add_stretch(a, release.thread, from, to),
			                causes_wait_part(a, cell, FXT_PART_WAITED)};
		}
	}
}

static void causes_gather(
        struct fxt_parts *parts, struct places *places, size_t of, const struct pursuits *pursuits)
{
	for (size_t i = 0; i < pursuits->count; i++) {
		const struct pursuit *pursuit = &pursuits->items[i];

		if (pursuit->of != of)
			continue;
		struct fxt_part *part = causes_part(parts, &pursuit->key);

		causes_add_account(&part->inside, places, &places->accounts->items[pursuit->account], false);
		causes_gather(&part->inside, places, pursuit->account, pursuits);
	}
}

bool fxt_causes_read(struct fxt_causes *causes, const struct fxt_scan *scan,
        const struct fxt_timeline *timeline, const struct fxt_faults *faults, struct fxt_waits *waits,
        const struct fxt_slice *const *calls, size_t count, const struct fxt_slice *usual, unsigned depth)
{
	struct fxt_accounts *a = &causes->accounts;
	struct pursuits pursuits = {0};
	size_t first = 0, last;
	bool complete;

	fxt_accounts_init(a, scan, timeline, faults, waits);
	for (size_t i = 0; i < count; i++)
		fxt_accounts_add_call(a, calls[i]);
	if (usual)
		fxt_accounts_add_call(a, usual);
	complete = fxt_accounts_walk(a);
	last = count;
	for (; depth > 0; depth--) {
		size_t next = a->count;

		causes_pursue(a, first, last, &pursuits);
		if (a->count == next)
			break;
		complete &= fxt_accounts_walk(a);
		first = next;
		last = a->count;
	}
	struct places places = {.accounts = a, .items = fxt_allocate(a->paths.count * sizeof(*places.items))};

	causes->count = count;
	causes->calls = fxt_allocate((count + 1) * sizeof(*causes->calls));
	causes->names = fxt_allocate((count + 1) * sizeof(*causes->names));
	for (size_t i = 0; i < count; i++) {
		causes->names[i] = calls[i]->name;
		causes_add_account(&causes->calls[i], &places, &a->items[i], false);
		if (usual)
			causes_add_account(&causes->calls[i], &places, &a->items[count], true);
		causes_gather(&causes->calls[i], &places, i, &pursuits);
		causes_sort(&causes->calls[i]);
	}
	free(places.items);
	free(pursuits.items);
	return complete;
}

void fxt_causes_free(struct fxt_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		causes_free_parts(&causes->calls[i]);
	free(causes->calls);
	free(causes->names);
	fxt_accounts_free(&causes->accounts);
	*causes = (struct fxt_causes){0};
}

const struct fxt_part *fxt_causes_main(const struct fxt_parts *parts)
{
	const struct fxt_part *main = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct fxt_part *part = &parts->items[i];

		if (part->ns > part->usual_ns && part->ns - part->usual_ns > most) {
			most = part->ns - part->usual_ns;
			main = part;
		}
	}
	return main;
}

/* ---- telling ---- */

struct telling {
	uint64_t whole, left;
	bool folds;
	struct fxt_part others;
	fxt_part_visit *visit;
	void *context;
};

static bool causes_is_small(const struct telling *telling, const struct fxt_part *part)
{
	return telling->folds && part->ns * 200 < telling->whole && part->usual_ns * 200 < telling->whole;
}

static void causes_fold(struct telling *telling, const struct fxt_part *part)
{
	telling->others.ns += part->ns;
	telling->others.calls += part->calls;
	telling->others.faults += part->faults;
	telling->others.usual_ns += part->usual_ns;
	telling->others.usual_calls += part->usual_calls;
	telling->others.usual_faults += part->usual_faults;
	telling->others.others++;
}

static void causes_report_part(struct telling *telling, const struct fxt_part *part, unsigned level)
{
	telling->visit(telling->context, part, level);
	telling->left--;
	/* Otherwise the parts inside say no more than the part itself. */
	if (part->inside.count <= 1 && part->kind != FXT_PART_WAITED)
		return;
	for (size_t i = 0; telling->left > 0 && i < part->inside.count; i++) {
		if (part->inside.items[i].ns * 100 < telling->whole)
			break;
		causes_report_part(telling, &part->inside.items[i], level + 1);
	}
}

void fxt_causes_report(const struct fxt_parts *parts, uint64_t whole, uint64_t most, bool folds,
        fxt_part_visit *visit, void *context)
{
	struct telling telling = {.whole = whole,
	        .left = most,
	        .folds = folds,
	        .others = {.kind = FXT_PART_OTHERS,
	                .name = FXT_NOTHING,
	                .symbol = FXT_NOTHING,
	                .holder = FXT_NOTHING},
	        .visit = visit,
	        .context = context};
	size_t small = 0;

	for (size_t i = 1; i < parts->count; i++)
		small += causes_is_small(&telling, &parts->items[i]);
	for (size_t i = 0; i < parts->count; i++) {
		const struct fxt_part *part = &parts->items[i];

		/* The longest part is shown even among hundreds that are small. A single small
		 * part takes no more lines than the part that would replace it. */
		if (telling.left == 0 || (i > 0 && small > 1 && causes_is_small(&telling, part)))
			causes_fold(&telling, part);
		else
			causes_report_part(&telling, part, 0);
	}
	if (folds && telling.others.others > 0)
		visit(context, &telling.others, 0);
}

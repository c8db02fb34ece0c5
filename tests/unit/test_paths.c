/*
 * The tree of calls merged by path, against numbers worked out by hand, and against a
 * random tree. The generator of that tree knows the stack at every moment and sums up for
 * itself.
 */
#include "random.h"
#include "trace.h"

#include "reader/stats/recursion.h"

static struct trace trace;
static struct fxt_scan scan;
static struct fxt_source source;
static struct fxt_paths paths; /* in ns */

/* Several blocks and ranges of everything, and spills that do not stay in memory. */
static const struct fxt_scan_sizes small = {.block_bytes = 64, .range_bytes = 256, .memory_bytes = 1024};

static void read_words(const uint64_t *words, size_t count, enum fxt_paths_by by,
        const struct fxt_scan_sizes *sizes, unsigned workers)
{
	source = source_of(words, count * 8);
	fxt_scan(&scan, &source, sizes);
	assert_true(fxt_paths_read(&paths, &scan, by, NULL, workers));
	fxt_paths_to_ns(&paths, &scan);
}

static void forget_trace(void)
{
	fxt_paths_free(&paths);
	fxt_scan_free(&scan);
	fxt_source_close(&source);
}

static void complete(struct fxt_thread thread, const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, thread, INDEX(FUNCTION), fxt_string_text(name), start,
	        NO_ARGUMENTS, end);
}

/* The node of a path such as "main;f;g" below a node, of that kind; all before it are
 * calls. It must exist, once, and stand behind its parent. */
static uint32_t node_of(const struct fxt_paths *p, uint32_t node, const char *path, enum fxt_path_kind kind)
{
	while (*path) {
		size_t bytes = strcspn(path, ";");
		uint32_t name = fxt_tables_intern(&scan.tables, (struct fxt_span){path, bytes}), found = 0;

		for (uint32_t i = node + 1; i < p->count; i++)
			if (p->items[i].parent == node && p->items[i].name == name &&
			        p->items[i].kind == (path[bytes] ? FXT_PATH_CALL : kind)) {
				assert_int_equal(found, 0);
				found = i;
			}
		if (found == 0)
			fail_msg("no node for the rest of a path: %s", path);
		node = found;
		path += bytes + (path[bytes] == ';');
	}
	return node;
}

static void node_is(
        const struct fxt_paths *p, uint32_t top, const char *path, const struct fxt_path *expected)
{
	const struct fxt_path *node = &p->items[node_of(p, top, path, expected->kind)];

	if (node->kind != expected->kind || node->calls != expected->calls || node->open != expected->open ||
	        node->total != expected->total || node->self != expected->self ||
	        node->min != expected->min || node->max != expected->max)
		fail_msg("%s: %" PRIu64 " calls, %" PRIu64 " open, total %" PRIu64 ", self %" PRIu64
		         ", min %" PRIu64 ", max %" PRIu64,
		        path, node->calls, node->open, node->total, node->self, node->min, node->max);
}

#define IS(top, path, ...) node_is(&paths, (top), (path), &(struct fxt_path){__VA_ARGS__})

/* The group of a thread, or of the process that the thread is of. */
static uint32_t group_of(uint64_t koid, enum fxt_paths_by by)
{
	for (uint32_t i = 1; i < paths.count; i++) {
		if (paths.items[i].kind != FXT_PATH_GROUP)
			continue;
		struct fxt_koids thread = scan.tables.threads[paths.items[i].name];

		assert_int_equal(paths.items[i].parent, 0);
		if (koid == (by == FXT_PATHS_BY_THREAD ? thread.thread : thread.process))
			return i;
	}
	fail_msg("no group for koid %" PRIu64, koid);
	return 0;
}

/*
 *  thread 101                                  thread 102                 thread 103, of another process
 *  main  0............................100      g 200..230                 main  0..........50
 *    f     10......50  g 60..90  f 92..94        h 300................      f    10.......50
 *      f     20..40      *g 70.75  *f 96.97        f 310..320
 *        g     25.35                           (* is no call; *f is in main)
 */
static void put_trace(void)
{
	struct fxt_thread first = fxt_thread_index(1), second = fxt_thread_inline(PROCESS, 102),
	                  third = fxt_thread_inline(PROCESS + 1, 103);

	begin_trace(&trace);
	complete(second, "g", 200, 230);
	complete(first, "g", 25, 35);
	complete(first, "f", 20, 40);
	complete(third, "f", 10, 50);
	complete(first, "f", 10, 50);
	PUT(&trace, event, FXT_EVENT_DURATION_BEGIN, second, INDEX(FUNCTION), TEXT("h"), 300, NO_ARGUMENTS,
	        0);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, first, INDEX(TRACER), TEXT("g"), 70, NO_ARGUMENTS,
	        75);
	complete(first, "g", 60, 90);
	complete(third, "main", 0, 50);
	complete(second, "f", 310, 320);
	complete(first, "f", 92, 94);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, first, INDEX(TRACER), TEXT("f"), 96, NO_ARGUMENTS,
	        97);
	complete(first, "main", 0, 100);
	PUT(&trace, event, FXT_EVENT_INSTANT, first, INDEX(FUNCTION), INDEX(NAME), 400, NO_ARGUMENTS, 0);
}

static void check_first_thread(uint32_t top)
{
	IS(top, "main;f;f", .calls = 1, .total = 20, .self = 10, .min = 20, .max = 20);
	IS(top, "main;f;f;g", .calls = 1, .total = 10, .self = 10, .min = 10, .max = 10);
	IS(top, "main;g", .calls = 1, .total = 30, .self = 25, .min = 30, .max = 30);
	IS(top, "main;f", .kind = FXT_PATH_OTHER, .calls = 1, .total = 1, .self = 1, .min = 1, .max = 1);
	IS(top, "main;g;g", .kind = FXT_PATH_OTHER, .calls = 1, .total = 5, .self = 5, .min = 5, .max = 5);
}

static void check_second_thread(uint32_t top)
{
	IS(top, "g", .calls = 1, .total = 30, .self = 30, .min = 30, .max = 30);
	IS(top, "h", .calls = 1, .open = 1, .total = 100, .self = 90, .min = 100, .max = 100);
	IS(top, "h;f", .calls = 1, .total = 10, .self = 10, .min = 10, .max = 10);
}

#define GROUP(sum) .kind = FXT_PATH_GROUP, .total = (sum), .min = UINT64_MAX

static void by_hand(void **state)
{
	(void)state;
	put_trace();
	for (unsigned workers = 1; workers < 4; workers++) {
		read_words(trace.words, trace.count, FXT_PATHS_TOGETHER, &small, workers);
		assert_int_equal(paths.count, 11);
		IS(0, "", GROUP(280));
		IS(0, "main", .calls = 2, .total = 150, .self = 37, .min = 50, .max = 100);
		IS(0, "main;f", .calls = 3, .total = 82, .self = 62, .min = 2, .max = 40);
		check_first_thread(0);
		check_second_thread(0);
		forget_trace();
	}
}

static void by_thread_and_process(void **state)
{
	(void)state;
	put_trace();
	read_words(trace.words, trace.count, FXT_PATHS_BY_THREAD, &small, 2);
	uint32_t first = group_of(101, FXT_PATHS_BY_THREAD), second = group_of(102, FXT_PATHS_BY_THREAD);

	assert_int_equal(paths.count, 16);
	IS(0, "", GROUP(280));
	IS(first, "", GROUP(100));
	IS(first, "main", .calls = 1, .total = 100, .self = 27, .min = 100, .max = 100);
	IS(first, "main;f", .calls = 2, .total = 42, .self = 22, .min = 2, .max = 40);
	check_first_thread(first);
	IS(second, "", GROUP(130));
	check_second_thread(second);
	IS(group_of(103, FXT_PATHS_BY_THREAD), "main", .calls = 1, .total = 50, .self = 10, .min = 50,
	        .max = 50);
	forget_trace();
	read_words(trace.words, trace.count, FXT_PATHS_BY_PROCESS, &small, 2);
	assert_int_equal(paths.count, 15);
	IS(group_of(PROCESS, FXT_PATHS_BY_PROCESS), "", GROUP(230));
	check_first_thread(group_of(PROCESS, FXT_PATHS_BY_PROCESS));
	check_second_thread(group_of(PROCESS, FXT_PATHS_BY_PROCESS));
	IS(group_of(PROCESS + 1, FXT_PATHS_BY_PROCESS), "main;f", .calls = 1, .total = 40, .self = 40,
	        .min = 40, .max = 40);
	forget_trace();
}

static void inherited(const char *name, uint64_t start, uint64_t end)
{
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_index(1), TEXT("inherited"),
	        fxt_string_text(name), start, NO_ARGUMENTS, end);
}

/* main and serve have only the time of the chosen calls inside them. */
static void inside_of_inherited(void **state)
{
	(void)state;
	begin_trace(&trace);
	complete(fxt_thread_index(1), "work", 30, 40);
	complete(fxt_thread_index(1), "work", 45, 47);
	complete(fxt_thread_index(1), "handle", 20, 60);
	complete(fxt_thread_index(1), "work", 62, 65);
	inherited("serve", 10, 70);
	inherited("main", 0, 90);
	for (unsigned workers = 1; workers < 4; workers++) {
		read_words(trace.words, trace.count, FXT_PATHS_TOGETHER, &small, workers);
		IS(0, "", GROUP(43));
		IS(0, "main", .total = 43, .min = UINT64_MAX);
		IS(0, "main;serve", .total = 43, .min = UINT64_MAX);
		IS(0, "main;serve;handle", .calls = 1, .total = 40, .self = 28, .min = 40, .max = 40);
		forget_trace();
	}
	for (unsigned workers = 1; workers < 4; workers++) {
		struct fxt_filter filter = {.to = UINT64_MAX};

		source = source_of(trace.words, trace.count * 8);
		fxt_scan(&scan, &source, &small);
		filter.names = fxt_allocate(scan.tables.string_count * sizeof(*filter.names));
		for (uint32_t i = 0; i < scan.tables.string_count; i++)
			filter.names[i] = !fxt_span_is(scan.tables.strings[i], "handle");
		scan.filter = &filter;
		assert_true(fxt_paths_read(&paths, &scan, FXT_PATHS_TOGETHER, NULL, workers));
		fxt_paths_to_ns(&paths, &scan);
		IS(0, "main", .total = 15, .min = UINT64_MAX);
		IS(0, "main;serve", .total = 15, .min = UINT64_MAX);
		IS(0, "main;serve;work", .calls = 3, .total = 15, .self = 15, .min = 2, .max = 10);
		free(filter.names);
		forget_trace();
	}
}

/* One thread's calls of a tree by thread, below a node of a tree with other name ids. */
static void add_part(void **state)
{
	struct fxt_paths sum;

	(void)state;
	put_trace();
	read_words(trace.words, trace.count, FXT_PATHS_BY_THREAD, NULL, 1);
	uint32_t *names = fxt_allocate((scan.tables.string_count + 2) * sizeof(*names));

	for (uint32_t i = 0; i < scan.tables.string_count; i++)
		names[i] = i;
	uint32_t f = fxt_tables_intern(&scan.tables, fxt_span("f")),
	         k = fxt_tables_intern(&scan.tables, fxt_span("k"));

	names[f] = k;
	fxt_paths_init(&sum);
	uint32_t top = fxt_paths_child(&sum, 0, FXT_PATH_CALL, f);

	for (int i = 0; i < 2; i++)
		fxt_paths_add(&sum, top, &paths, group_of(103, FXT_PATHS_BY_THREAD),
		        &(struct fxt_path_names){.of_calls = names});
	assert_int_equal(sum.count, 4);
	node_is(&sum, top, "main",
	        &(struct fxt_path){.calls = 2, .total = 100, .self = 20, .min = 50, .max = 50});
	node_is(&sum, top, "main;k",
	        &(struct fxt_path){.calls = 2, .total = 80, .self = 80, .min = 40, .max = 40});
	fxt_paths_free(&sum);
	free(names);
	forget_trace();
}

/* ---- a random tree ---- */

enum { FUNCTIONS = 7, TREE_CALLS = 20000 };

struct modelled {
	struct fxt_path sums;
	unsigned function;
	size_t parent;
	size_t children[FUNCTIONS];
};

static struct {
	struct modelled nodes[TREE_CALLS + 1];
	size_t node_count;
	uint64_t words[64 + 3 * TREE_CALLS];
	size_t word_count, calls;
	uint64_t now;
} tree;

/* Makes a call with calls inside; returns how long it took. */
static uint64_t grow(size_t parent, unsigned depth)
{
	unsigned function = (unsigned)(random_below(FUNCTIONS));
	uint64_t start = tree.now++, inside = 0;
	uint64_t children = depth < 2 ? UINT64_MAX : depth < 30 ? random_below(3) : 0;
	size_t node = tree.nodes[parent].children[function];

	if (node == 0) {
		node = tree.nodes[parent].children[function] = ++tree.node_count;
		tree.nodes[node] =
		        (struct modelled){.sums.min = UINT64_MAX, .function = function, .parent = parent};
	}
	for (uint64_t i = 0; i < children && tree.calls + depth + 1 < TREE_CALLS; i++)
		inside += grow(node, depth + 1);
	tree.now += random_below(100);

	uint64_t duration = tree.now - start;
	struct fxt_path *sums = &tree.nodes[node].sums;

	tree.calls++;
	tree.words[tree.word_count++] = fxt_duration_complete_header(1, FUNCTION) | (uint64_t)(10 + function)
	                                                                                    << 48;
	tree.words[tree.word_count++] = start;
	tree.words[tree.word_count++] = tree.now;
	sums->calls++;
	sums->total += duration;
	sums->self += duration - inside;
	sums->min = duration < sums->min ? duration : sums->min;
	sums->max = duration > sums->max ? duration : sums->max;
	return duration;
}

static void compare_with_model(const struct fxt_scan_sizes *sizes, unsigned workers)
{
	size_t *modelled_of;

	read_words(tree.words, tree.word_count, FXT_PATHS_TOGETHER, sizes, workers);
	assert_int_equal(paths.count, tree.node_count + 1);
	modelled_of = fxt_allocate(paths.count * sizeof(*modelled_of));
	for (size_t i = 1; i < paths.count; i++) {
		const struct fxt_path *path = &paths.items[i];
		unsigned function = (unsigned)(scan.tables.strings[path->name].data[0] - 'a');

		assert_true(path->parent < i);
		modelled_of[i] = tree.nodes[modelled_of[path->parent]].children[function];
		const struct fxt_path *sums = &tree.nodes[modelled_of[i]].sums;

		assert_true(modelled_of[i] > 0);
		assert_int_equal(path->calls, sums->calls);
		assert_int_equal(path->total, sums->total);
		assert_int_equal(path->self, sums->self);
		assert_int_equal(path->min, sums->min);
		assert_int_equal(path->max, sums->max);
	}
	free(modelled_of);
	forget_trace();
}

static void random_tree(void **state)
{
	static const struct fxt_scan_sizes some = {
	        .block_bytes = 4096, .range_bytes = 20000, .memory_bytes = 1 << 20};

	(void)state;
	random_state = 88172645463325252;
	begin_trace(&trace);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		put_text(&trace, 10 + i, (char[]){(char)('a' + i), '\0'});
	assert_true(trace.count < 64);
	memcpy(tree.words, trace.words, trace.count * 8);
	tree.word_count = trace.count;
	grow(0, 0);
	assert_int_equal(tree.calls, TREE_CALLS);
	compare_with_model(NULL, 1);
	compare_with_model(&some, 1);
	compare_with_model(&some, 2);
	compare_with_model(&small, 3);
}

/* ---- recursion ---- */

enum { NAMES = 5, DEEP = 3000, NODES = 20000, RARE = 3, DEEPER = 9 };

/* A tree with one path of DEEP nodes, and nodes in random places. The last names are rare
 * on each path. Totals are consistent: own time, and that of the children. */
static void make_deep_tree(struct fxt_paths *p, unsigned deep)
{
	uint32_t node = 0;

	fxt_paths_init(p);
	for (unsigned i = 0; i < NODES; i++) {
		uint32_t name = (uint32_t)random_below(RARE);

		if (random_below(100) == 0)
			name = (uint32_t)random_below(NAMES);
		node = fxt_paths_child(p, i < deep ? node : (uint32_t)random_below(p->count),
		        name == NAMES - 1 ? FXT_PATH_OTHER : FXT_PATH_CALL, name);
		p->items[node].calls++;
		p->items[node].self += random_below(1000);
	}
	for (size_t i = 1; i < p->count; i++)
		p->items[i].total = p->items[i].self;
	for (size_t i = p->count; i-- > 1;) {
		p->items[i].off = p->items[i].total / 2;
		p->items[p->items[i].parent].total += p->items[i].total;
	}
}

static void sum_by_name(const struct fxt_paths *p, struct fxt_path sums[NAMES])
{
	memset(sums, 0, NAMES * sizeof(*sums));
	for (size_t i = 1; i < p->count; i++) {
		sums[p->items[i].name].calls += p->items[i].calls;
		sums[p->items[i].name].self += p->items[i].self;
	}
}

/* The nodes of its function on the path to a node. */
static uint32_t level_of(const struct fxt_paths *p, size_t node)
{
	uint32_t level = 0;

	for (size_t at = node; at != 0; at = p->items[at].parent)
		level += p->items[at].name == p->items[node].name;
	return level;
}

static void totals_are_sums(const struct fxt_paths *p)
{
	uint64_t *own = fxt_allocate(p->count * sizeof(*own));

	for (size_t i = 0; i < p->count; i++) {
		own[i] += p->items[i].total;
		if (i > 0)
			own[p->items[i].parent] -= p->items[i].total;
	}
	for (size_t i = 0; i < p->count; i++)
		assert_int_equal(own[i], p->items[i].self);
	free(own);
}

static void deep_recursion_is_folded(void **state)
{
	struct fxt_path before[NAMES], after[NAMES];
	uint32_t most = 0, told = 0;
	struct fxt_paths p;

	(void)state;
	make_deep_tree(&p, DEEP);
	sum_by_name(&p, before);
	for (size_t i = 1; i < p.count; i++)
		if (p.items[i].name < RARE && level_of(&p, i) > most)
			most = level_of(&p, i);
	assert_true(most > DEEP / RARE / 2);

	uint64_t whole = p.items[0].total;
	uint64_t *twice = fxt_allocate(p.count * sizeof(*twice));

	for (size_t i = 0; i < p.count; i++)
		twice[i] = 2 * p.items[i].total;
	assert_int_equal(fxt_paths_fold_recursion(&p, UINT32_MAX, DEEPER, twice), most);
	sum_by_name(&p, after);
	for (unsigned i = 0; i < NAMES; i++) {
		assert_int_equal(after[i].calls, before[i].calls);
		assert_int_equal(after[i].self, before[i].self);
	}
	assert_int_equal(p.items[0].total, whole);
	totals_are_sums(&p);
	for (size_t i = 1; i < p.count; i++) {
		assert_true(p.items[i].parent < i);
		assert_true(level_of(&p, i) <= FXT_RECURSION_LEVELS);
		assert_int_equal(twice[i], 2 * p.items[i].total);
		told = p.items[i].levels > told ? p.items[i].levels : told;
	}
	assert_int_equal(told, most);
	free(twice);
	fxt_paths_free(&p);
}

static void other_paths_stay(void **state)
{
	struct fxt_paths p;

	(void)state;
	make_deep_tree(&p, FXT_RECURSION_LEVELS / 2);

	size_t count = p.count;
	struct fxt_path *items = fxt_allocate(count * sizeof(*items));

	memcpy(items, p.items, count * sizeof(*items));
	assert_int_equal(fxt_paths_fold_recursion(&p, UINT32_MAX, DEEPER, NULL), 0);
	assert_int_equal(p.count, count);
	assert_memory_equal(p.items, items, count * sizeof(*items));
	free(items);
	fxt_paths_free(&p);
}

/* Functions that each are there once: the path is cut. */
static void long_paths_end(void **state)
{
	struct fxt_paths p;
	uint32_t node = 0;

	(void)state;
	fxt_paths_init(&p);
	for (uint32_t i = 0; i < DEEP; i++) {
		node = fxt_paths_child(&p, node, FXT_PATH_CALL, DEEPER + 1 + i);
		p.items[node].calls = p.items[node].self = 1;
		p.items[node].total = DEEP - i;
	}
	p.items[0].total = DEEP;
	assert_int_equal(fxt_paths_fold_recursion(&p, 1000, DEEPER, NULL), 0);
	assert_int_equal(p.count, 1002);
	assert_int_equal(p.items[1001].name, DEEPER);
	assert_int_equal(p.items[1001].calls, DEEP - 1000);
	assert_int_equal(p.items[1001].self, DEEP - 1000);
	totals_are_sums(&p);
	fxt_paths_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(by_hand),
	        cmocka_unit_test(by_thread_and_process),
	        cmocka_unit_test(inside_of_inherited),
	        cmocka_unit_test(add_part),
	        cmocka_unit_test(random_tree),
	        cmocka_unit_test(deep_recursion_is_folded),
	        cmocka_unit_test(other_paths_stay),
	        cmocka_unit_test(long_paths_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

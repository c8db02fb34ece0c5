/*
 * The tables of fxt sql over handmade traces: what each row says, and that limits leave
 * nothing out.
 */
#include "random.h"
#include "trace.h"

#include "fxt/sql/database.h"
#include "fxt/sql/rewrite.h"

static struct trace trace;
static struct fxt_source source;
static struct fxt_sql_trace answering;
static sqlite3 *database;

static void open_trace(const struct fxt_scan_sizes *sizes)
{
	source = source_of(trace.words, trace.count * 8);
	fxt_sql_trace_open(&answering, "trace", &source, sizes);
	database = fxt_sql_open(&answering);
	assert_non_null(database);
}

static void close_trace(void)
{
	fxt_sql_close(database, &answering);
	fxt_sql_trace_close(&answering);
	fxt_source_close(&source);
}

static const struct fxt_scan_sizes small = {.block_bytes = 100, .range_bytes = 1 << 20, .memory_bytes = 1};

static char answered[1 << 20];

/* The rows of a query, their columns separated by '|', each ended by a blank. */
static const char *answer(const char *query)
{
	sqlite3_stmt *statement;
	size_t bytes = 0;

	if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", query, sqlite3_errmsg(database));
	int status = sqlite3_step(statement);

	for (; status == SQLITE_ROW; status = sqlite3_step(statement)) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *text = (const char *)sqlite3_column_text(statement, i);

			bytes += (size_t)snprintf(answered + bytes, sizeof(answered) - bytes, "%s%s",
			        i > 0 ? "|" : "", text ? text : "-");
			assert_true(bytes < sizeof(answered) - 2);
		}
		answered[bytes++] = ' ';
	}
	answered[bytes] = '\0';
	assert_int_equal(status, SQLITE_DONE);
	sqlite3_finalize(statement);
	return answered;
}

/* Both with one block and with as many as there can be. */
static void answers(const char *query, const char *expected)
{
	for (int i = 0; i < 2; i++) {
		open_trace(i ? &small : NULL);
		assert_string_equal(answer(query), expected);
		close_trace();
	}
}

static uint64_t put(uint64_t thread, const char *name, uint64_t start, uint64_t end)
{
	uint64_t id = 8 * trace.count;

	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, thread), INDEX(FUNCTION),
	        fxt_string_text(name), start, NO_ARGUMENTS, end);
	return id;
}

static void put_sync(const char *name, uint64_t start, uint64_t end, uint64_t object)
{
	struct fxt_argument arguments[] = {fxt_argument_pointer(TEXT("object"), object),
	        fxt_argument_string(TEXT("symbol"), TEXT("queue"))};

	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, 1), TEXT("sync"),
	        fxt_string_text(name), start, arguments, object ? 2u : 0u, end);
}

static void calls(void **state)
{
	struct fxt_argument abandoned = fxt_argument_bool(TEXT("abandoned"), true);

	(void)state;
	begin_trace(&trace);
	put(1, "g", 1025, 1035);
	put(1, "f", 1010, 1050);
	put(2, "h", 1005, 1015);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, 1), INDEX(FUNCTION),
	        TEXT("g"), 1060, &abandoned, 1, 1090);
	put(1, "main", 1000, 1100);
	PUT(&trace, event, FXT_EVENT_DURATION_BEGIN, fxt_thread_inline(PROCESS, 2), INDEX(FUNCTION),
	        TEXT("open"), 1020, NO_ARGUMENTS, 0);
	answers("SELECT function, start, end, duration, self, calls, depth, tid, caller_function, is_open, "
	        "is_abandoned FROM calls ORDER BY start",
	        "main|0|100|100|30|2|0|1|-|0|0 h|5|15|10|10|0|0|2|-|0|0 f|10|50|40|30|1|1|1|main|0|0 "
	        "open|20|100|80|80|0|0|2|-|1|0 g|25|35|10|10|0|2|1|f|0|0 g|60|90|30|30|0|1|1|main|0|1 ");
	answers("SELECT c.function, p.function FROM calls c JOIN calls p ON p.id = c.caller ORDER BY c.start",
	        "f|main g|f g|main ");
	answers("SELECT p.function, c.function, c.self FROM calls p JOIN calls c ON c.caller = p.id "
	        "WHERE p.function = 'main' ORDER BY c.start",
	        "main|f|30 main|g|30 ");
	answers("SELECT function, arguments ->> '$.abandoned' FROM calls WHERE arguments IS NOT NULL",
	        "g|1 ");
	answers("SELECT name, calls, total, self, open FROM functions ORDER BY name",
	        "f|1|40|30|0 g|2|40|40|0 h|1|10|10|0 main|1|100|30|0 open|1|80|80|1 ");
	answers("SELECT f.name, count(*) FROM functions f JOIN calls c ON c.function_id = f.id GROUP BY 1",
	        "f|1 g|2 h|1 main|1 open|1 ");
	answers("SELECT tid, pid, calls FROM threads WHERE calls > 0 ORDER BY tid", "1|100|4 2|100|2 ");
	answers("SELECT pid, threads, calls FROM processes", "100|3|6 ");
	answers("SELECT start, duration, lost FROM trace", "1000|100|0 ");
}

/* If the tracer made a thread wait, that time is in the thread's calls, and not in their
 * sums. */
static void tracer_waits(void **state)
{
	(void)state;
	begin_trace(&trace);
	put(1, "f", 1010, 1050);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, 1), INDEX(TRACER),
	        TEXT("fxt: waited"), 1060, NO_ARGUMENTS, 1075);
	PUT(&trace, event, FXT_EVENT_DURATION_COMPLETE, fxt_thread_inline(PROCESS, 2), INDEX(TRACER),
	        TEXT("fxt: waited"), 1020, NO_ARGUMENTS, 1030);
	put(1, "g", 1055, 1085);
	put(1, "main", 1000, 1100);
	answers("SELECT name, calls, total, self, min, max FROM functions ORDER BY name",
	        "f|1|40|40|40|40 g|1|15|15|15|15 main|1|85|30|85|85 ");
	answers("SELECT function, duration, self FROM calls ORDER BY start", "main|100|30 f|40|40 g|30|15 ");
}

/* Limits of a query by names, threads and the like, and values that can limit nothing. */
static void conditions(void **state)
{
	(void)state;
	begin_trace(&trace);
	for (uint64_t i = 0; i < 20; i++)
		put(1 + i % 3, (const char *[]){"alpha", "beta", "Alpha", "gamma"}[i % 4], 1000 + 10 * i,
		        1005 + 10 * i + i);
	answers("SELECT count(*) FROM calls WHERE function = 'alpha'", "5 ");
	answers("SELECT count(*) FROM calls WHERE function = 'ALPHA' COLLATE NOCASE", "10 ");
	answers("SELECT count(*) FROM calls WHERE function LIKE 'AL%'", "10 ");
	answers("SELECT count(*) FROM calls WHERE function GLOB 'al*'", "5 ");
	answers("SELECT count(*) FROM calls WHERE function IN ('beta', 'gamma', 3, NULL)", "10 ");
	answers("SELECT count(*) FROM calls WHERE function IN (SELECT name FROM functions WHERE name < 'b')",
	        "10 ");
	answers("SELECT count(*) FROM calls WHERE function = NULL", "0 ");
	answers("SELECT count(*) FROM calls WHERE tid IN (1, 3) AND tid <> 3", "7 ");
	answers("SELECT count(*) FROM calls WHERE tid = '2'", "7 ");
	answers("SELECT count(*) FROM calls WHERE tid = 'none'", "0 ");
	answers("SELECT count(*) FROM calls WHERE pid = 100 AND process = 'no name'", "0 ");
	answers("SELECT count(*) FROM calls WHERE category = 'function' AND category <> 'x'", "20 ");
	answers("SELECT count(*) FROM calls WHERE duration >= 20 AND duration < 22.5", "3 ");
	answers("SELECT count(*) FROM calls WHERE start > 9.5 AND start <= 30.0", "3 ");
	answers("SELECT count(*) FROM calls WHERE start > '10' AND start < 'x'", "18 ");
	answers("SELECT count(*) FROM calls WHERE start > 1e300 OR end < -1e300", "0 ");
	answers("SELECT count(*) FROM calls WHERE id = -8 OR id = 1 OR id = 8 OR caller = 99999999 OR id = "
	        "'x'",
	        "0 ");
	answers("SELECT count(*) FROM calls WHERE start BETWEEN -9223372036854775807 AND 9223372036854775807",
	        "20 ");
}

/* Waits, one of them written late. Marks at the ends of arrows are not waits. */
static void waits(void **state)
{
	(void)state;
	begin_trace(&trace);
	put_sync("woken", 41, 41, 0);
	put(1, "f", 30, 60);
	put_sync("pthread_mutex_lock", 10, 20, 0xabc);
	put_sync("sem_wait", 70, 75, 0xdef);
	put_sync("sem_post: wakes a waiter", 80, 82, 0);
	put(1, "main", 1, 100);
	answers("SELECT name, start, duration, object, symbol, caller_function FROM waits ORDER BY start",
	        "pthread_mutex_lock|9|10|0xabc|queue|main sem_wait|69|5|0xdef|queue|main ");
	answers("SELECT name, arguments FROM waits WHERE object = '0xabc'",
	        "pthread_mutex_lock|{\"object\": \"0xabc\", \"symbol\": \"queue\"} ");
	answers("SELECT count(*), min(duration) FROM slices", "6|0 ");
	answers("SELECT lock, waits, total FROM waits_by_lock", "queue|1|10 queue|1|5 ");
}

static void other_records(void **state)
{
	(void)state;
	every_record(&trace);
	answers("SELECT time, kind, name, tid, arguments ->> '$.key' FROM events WHERE arguments IS NOT NULL",
	        "0|instant|main|101|- ");
	answers("SELECT kind, async_id FROM events WHERE kind <> 'instant' ORDER BY time",
	        "async begin|77 async instant|77 async end|77 ");
	answers("SELECT name, counter, series, value, tid FROM counters ORDER BY value",
	        "main|9|key|-5000000000|102 main|9|key|-5|102 main|9|key|0.5|102 main|9|key|4000000000|102 "
	        "main|9|inline|10000000000|102 ");
	answers("SELECT kind, flow, tid FROM flow_events ORDER BY time",
	        "begin|77|101 step|77|101 end|77|101 ");
	answers("SELECT flow, start > 0, end - start, from_tid, to_tid FROM flows", "77|1|2|101|101 ");
	answers("SELECT kind, cpu, out_tid, out_state, in_tid FROM switches ORDER BY time",
	        "switch|3|101|blocked|102 wakeup|3|-|-|101 switch|3|101|dead|102 ");
	answers("SELECT fate, records, tid, duration FROM losses", "lost|12|102|1 ");
	answers("SELECT function, is_open, duration > 0 FROM calls ORDER BY start",
	        "b|0|1 main|0|1 main|1|1 ");
	answers("SELECT lost, overwritten, malformed FROM trace", "12|0|0 ");
	answers("SELECT count(*) FROM objects", "0 ");
	answers("SELECT count(*) FROM modules", "0 ");
}

static void modules(void **state)
{
	static const char *const texts[] = {"{{{module:3:/lib/a b:elf:0abc}}}",
	        "{{{mmap:0x2000:0x100:load:3:rx:0x0}}}", "{{{mmap:0x1000:0x80:load:3:r:0x0}}}",
	        "{{{module:4:/lib/c:elf:}}}", "hello"};

	(void)state;
	begin_trace(&trace);
	for (size_t i = 0; i < COUNT(texts); i++)
		PUT(&trace, log, 1, fxt_thread_index(1), texts[i], strlen(texts[i]));
	answers("SELECT module, build_id, pid, address, bytes FROM modules ORDER BY module",
	        "/lib/a b|0abc|100|0x1000|4352 /lib/c||100|-|- ");
}

static void put_block(uint64_t ns, uint64_t pointer, uint64_t size)
{
	struct fxt_argument at = fxt_argument_pointer(TEXT("pointer"), pointer);
	struct fxt_argument about[] = {fxt_argument_uint64(TEXT("size"), size),
	        fxt_argument_pointer(TEXT("path"), UINT64_C(1) << 63 | 2)};

	if (size > 0)
		PUT(&trace, userspace_object, fxt_thread_index(1), pointer, TEXT("block"), about, 2);
	PUT(&trace, event, FXT_EVENT_INSTANT, fxt_thread_index(1), TEXT("heap"),
	        size > 0 ? TEXT("allocate") : TEXT("free"), ns, &at, 1, 0);
}

static void objects(void **state)
{
	struct fxt_argument parent = fxt_argument_pointer(TEXT("parent"), UINT64_C(1) << 63 | 1);

	(void)state;
	begin_trace(&trace);
	PUT(&trace, userspace_object, fxt_thread_index(1), UINT64_C(1) << 63 | 1, TEXT("main"), NO_ARGUMENTS);
	PUT(&trace, userspace_object, fxt_thread_index(1), UINT64_C(1) << 63 | 2, TEXT("make"), &parent, 1);
	put_block(10, 0x100, 24);
	put_block(20, 0x200, 32);
	put_block(30, 0x200, 0);
	put_block(40, 0x300, 8);
	put_block(50, 0x300, 0);
	put_block(60, 0x300, 16);
	put_block(70, 0x100, 0);
	answers("SELECT address, size, start, end, fate, is_temporary, path, function FROM objects ORDER BY "
	        "start",
	        "0x100|24|0|60|freed|0|main;make|make 0x200|32|10|20|freed|1|main;make|make "
	        "0x300|8|30|40|freed|1|main;make|make 0x300|16|50|-|leaked|0|main;make|make ");
}

/* ---- random traces ---- */

static const char *const names[] = {"a", "b", "c"};

/* A call with what is inside it; some are written late, as waits are. Returns its end. */
static uint64_t put_tree(uint64_t thread, uint64_t start, unsigned depth)
{
	uint64_t now = start + 1 + random_below(5);

	for (uint64_t inside = depth > 0 ? random_below(4) : 0; inside > 0; inside--)
		now = put_tree(thread, now, depth - 1) + 1 + random_below(5);
	if (random_below(8) == 0)
		put(thread, names[random_below(3)], now, now + 2);
	put(thread, names[random_below(3)], start, now + 3);
	if (random_below(8) == 0)
		put(thread, names[random_below(3)], now + 1, now + 2);
	return now + 3;
}

static void random_trace(uint64_t seed)
{
	uint64_t now[3] = {1000, 1000, 1000};

	random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
	begin_trace(&trace);
	while (trace.count < 2000) {
		uint64_t thread = random_below(3);

		now[thread] =
		        put_tree(1 + thread, now[thread], (unsigned)random_below(5)) + 1 + random_below(50);
	}
}

/* ---- sums ---- */

/* Statements that are answered from sums give what the rows of calls give. */
static void sums(void **state)
{
	static const char *const statements[] = {
	        "select count(*) from calls",
	        "select count(*), sum(duration), avg(self) from calls where tid = 77",
	        "SELECT function, COUNT(*), Sum(duration), sum(self), avg(duration), min(duration), "
	        "max(duration) FROM calls GROUP BY function ORDER BY 1",
	        "select tid, function, count(*) as n from calls where function in ('a', 'c') and tid <> 2 "
	        "group by tid, function having n >= 2 order by n desc, tid, function limit 3;",
	        "select pid, printf('%d it''s', count(*)) from calls group by pid",
	        "select case when function = 'a' then 1 else 2 end as kind, round(sum(self) / 1e3, 1), "
	        "max(duration) - min(duration) from calls group by kind",
	        "select function from calls group by 1 order by sum(duration) desc, 1",
	        "select tid * 2, 3 * count(*) from calls group by tid",
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		random_trace(seed);
		for (size_t i = 0; i < COUNT(statements); i++) {
			static char expected[sizeof(answered)];
			const char *end = statements[i] + strlen(statements[i]);
			char *rewritten = fxt_sql_rewrite(statements[i], end);

			assert_non_null(rewritten);
			assert_non_null(strstr(rewritten, " call_sums "));
			open_trace(seed % 2 ? &small : NULL);
			strcpy(expected, answer(statements[i]));
			assert_string_equal(answer(rewritten), expected);
			close_trace();
			free(rewritten);
		}
	}
}

/* What may mean something else in the sums is answered from the rows. */
static void no_sums(void **state)
{
	static const char *const statements[] = {
	        "select function from calls",
	        "select distinct function from calls",
	        "select count(distinct function) from calls",
	        "select count(*) from calls where duration > 5",
	        "select sum(duration * 2) from calls",
	        "select max(duration, 5), count(*) from calls",
	        "select min(start) from calls group by function",
	        "select function, sum(duration) as duration from calls group by function order by duration",
	        "select * from calls group by function",
	        "select function, * from calls group by function",
	        "select function as end, count(*) from calls where end > 5 group by 1",
	        "select function, count(*) from calls c group by 1",
	        "select function, count(*) from calls, threads group by 1",
	        "select function, count(*) from calls where id in (select id from calls) group by 1",
	        "select count(*) from calls union select 1",
	        "select sum(duration) over () from calls",
	        "select count(*) filter (where tid = 1) from calls",
	        "select count(*) from slices",
	        "select count(*) from calls -- where",
	        "select count(*) /* all */ from calls",
	        "select \"count(*)\" from calls",
	        "select count(*) from calls where function = 'a",
	        "with x as (select 1) select count(*) from calls",
	        "",
	        ";",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(statements); i++)
		assert_null(fxt_sql_rewrite(statements[i], statements[i] + strlen(statements[i])));
}

/* ---- limits ---- */

#define ALL "id, start, end, self, calls, depth, tid, function, caller, caller_function"

/* A query with conditions that limit reading answers like one without: there they are
 * behind a LIMIT, and cannot be moved across it. */
static void limits(void **state)
{
	static const struct {
		const char *condition;
		bool reads_less;
	} conditions[] = {
	        {"start BETWEEN %d AND %d", true},
	        {"end BETWEEN %d AND %d", true},
	        {"start >= %d AND start < 500 AND end <= %d", true},
	        {"end > %d AND start < %d", true},
	        {"start = %d OR start = %d", true},
	        {"duration > %d / 30 AND duration < %d", false},
	};
	uint64_t all = 0, less = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		random_trace(seed);
		open_trace(&small);
		for (size_t i = 0; i < COUNT(conditions); i++) {
			int from = (int)random_below(1000), to = from + (int)random_below(40);
			char query[512], condition[256];
			static char expected[sizeof(answered)];

			snprintf(condition, sizeof(condition), conditions[i].condition, from, to);
			snprintf(query, sizeof(query),
			        "SELECT " ALL
			        " FROM (SELECT * FROM calls LIMIT -1 OFFSET 0) WHERE %s ORDER BY id",
			        condition);
			answering.bytes_read = 0;
			strcpy(expected, answer(query));
			all += conditions[i].reads_less ? answering.bytes_read : 0;
			snprintf(query, sizeof(query), "SELECT " ALL " FROM calls WHERE %s ORDER BY id",
			        condition);
			answering.bytes_read = 0;
			if (strcmp(answer(query), expected) != 0)
				fail_msg("seed %" PRIu64 ", %s:\n%s\nnot\n%s", seed, condition, answered,
				        expected);
			less += conditions[i].reads_less ? answering.bytes_read : 0;
		}
		close_trace();
	}
	if (less > all / 3)
		fail_msg("%" PRIu64 " bytes read, %" PRIu64 " without limits", less, all);
}

/* Looked up one by one, calls are what they are among all others. */
static void single_calls(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		random_trace(seed);
		open_trace(&small);
		assert_string_equal(
		        answer("SELECT count(*) FROM calls c CROSS JOIN calls d ON d.id = c.id "
		               "WHERE (c.start, c.end, c.self, c.calls, c.depth, c.caller, c.function, "
		               "c.tid) IS NOT "
		               "(d.start, d.end, d.self, d.calls, d.depth, d.caller, d.function, d.tid)"),
		        "0 ");
		assert_string_equal(answer("SELECT count(*) - (SELECT count(*) FROM calls) FROM calls c "
		                           "CROSS JOIN calls d "
		                           "ON d.id = c.id"),
		        "0 ");
		assert_string_equal(answer("SELECT count(*) FROM calls p WHERE (SELECT count(*) FROM calls c "
		                           "WHERE c.caller = p.id) "
		                           "<> p.calls"),
		        "0 ");
		close_trace();
	}
}

/* ---- what is refused ---- */

static void read_only(void **state)
{
	static const char *const refused[] = {
	        "ATTACH 'file' AS f",
	        "VACUUM INTO 'file'",
	        "DROP TABLE calls",
	        "UPDATE calls SET id = 1",
	        "DELETE FROM sqlite_schema",
	        "DELETE FROM waits",
	        "PRAGMA temp_store = MEMORY",
	        "PRAGMA database_list",
	        "PRAGMA journal_mode = WAL",
	        "SELECT load_extension('file')",
	        "CREATE VIRTUAL TABLE temp.t USING fxt_calls",
	};

	(void)state;
	begin_trace(&trace);
	put(1, "f", 1, 2);
	open_trace(NULL);
	for (size_t i = 0; i < COUNT(refused); i++)
		if (sqlite3_exec(database, refused[i], NULL, NULL, NULL) == SQLITE_OK)
			fail_msg("%s", refused[i]);
	if (sqlite3_exec(database, "CREATE TEMP TABLE t AS SELECT * FROM calls", NULL, NULL, NULL) !=
	        SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(database));
	assert_string_equal(answer("SELECT function FROM t"), "f ");
	assert_string_equal(answer("SELECT value FROM json_each('[1, 2]')"), "1 2 ");
	assert_string_equal(
	        answer("SELECT count(*) FROM pragma_table_info('calls') WHERE name = 'self'"), "1 ");
	close_trace();
}

/* Whatever a trace holds, its tables can be read. */
static void mutated_traces(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		random_state = seed * UINT64_C(0xbf58476d1ce4e5b9);
		every_record(&trace);
		for (uint64_t bits = 1 + random_below(12); bits > 0; bits--)
			trace.words[1 + random_below(trace.count - 1)] ^= UINT64_C(1) << random_below(64);
		open_trace(seed % 2 ? &small : NULL);
		for (const struct fxt_sql_table *table = fxt_sql_tables; table->name; table++) {
			char query[64];

			snprintf(query, sizeof(query), "SELECT * FROM %s", table->name);
			answer(query);
		}
		close_trace();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(calls),
	        cmocka_unit_test(tracer_waits),
	        cmocka_unit_test(conditions),
	        cmocka_unit_test(waits),
	        cmocka_unit_test(other_records),
	        cmocka_unit_test(modules),
	        cmocka_unit_test(objects),
	        cmocka_unit_test(sums),
	        cmocka_unit_test(no_sums),
	        cmocka_unit_test(limits),
	        cmocka_unit_test(single_calls),
	        cmocka_unit_test(read_only),
	        cmocka_unit_test(mutated_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

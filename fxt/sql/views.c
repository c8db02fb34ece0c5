#include "tables.h"

const struct fxt_sql_view fxt_sql_views[] = {
        {"report", "functions, most time first",
                "SELECT name, calls, total, self, average, min, max FROM functions ORDER BY total DESC"},
        {"slow_calls", "calls, longest first",
                "SELECT function, duration, self, start, thread, caller_function, id FROM calls "
                "ORDER BY duration DESC"},
        {"callers", "how often each function called each other one, and how long these calls took",
                "SELECT caller_function AS caller, function, count(*) AS calls, sum(duration) AS total "
                "FROM calls GROUP BY 1, 2 ORDER BY total DESC"},
        {"waits_by_lock", "how often and how long threads waited for each lock",
                /* The number of a lock at its address grows by each end that waits follow. */
                "SELECT lock || CASE WHEN number > 1 THEN ' #' || number ELSE '' END AS lock, name, "
                "count(*) AS waits, sum(duration) AS total, max(duration) AS longest FROM "
                "(SELECT *, 1 + sum(is_next) OVER past - first_value(is_end) OVER past AS number FROM "
                "(SELECT *, NOT is_end AND lag(is_end, 1, 0) OVER past AS is_next FROM "
                "(SELECT coalesce(symbol, object) AS lock, object, name, duration, start AS time, pid, "
                "0 AS is_end FROM waits WHERE object IS NOT NULL "
                "UNION ALL SELECT NULL, arguments ->> 'object', NULL, NULL, time, pid, 1 FROM events "
                "WHERE category = 'sync' AND name = 'lock ends') "
                "WINDOW past AS (PARTITION BY pid, object ORDER BY time, is_end DESC)) "
                "WINDOW past AS (PARTITION BY pid, object ORDER BY time, is_end DESC)) "
                "WHERE NOT is_end GROUP BY 1, 2 ORDER BY total DESC"},
        {"waits_by_function", "the same by the functions that waited",
                "SELECT caller_function AS function, name, count(*) AS waits, sum(duration) AS total, "
                "max(duration) AS longest FROM waits GROUP BY 1, 2 ORDER BY total DESC"},
        {"memory_by_function", "bytes that each function allocated, and those never freed",
                "SELECT function, sum(weight) AS blocks, sum(weight * size) AS bytes, "
                "sum(weight * size) FILTER (WHERE fate = 'leaked') AS leaked FROM objects "
                "GROUP BY 1 ORDER BY bytes DESC"},
        {"flows", "arrows from thread to thread: where each began and ended",
                "SELECT flow, name, category, max(time) FILTER (WHERE kind = 'begin') AS start, "
                "max(time) FILTER (WHERE kind = 'end') AS end, "
                "max(tid) FILTER (WHERE kind = 'begin') AS from_tid, "
                "max(thread) FILTER (WHERE kind = 'begin') AS from_thread, "
                "max(tid) FILTER (WHERE kind = 'end') AS to_tid, "
                "max(thread) FILTER (WHERE kind = 'end') AS to_thread FROM flow_events GROUP BY flow, pid"},
        {"async_spans", "asynchronous spans: when each began and ended",
                /* An id may be used again: a begin belongs to an end that follows at once. */
                "SELECT async_id, name, category, time AS start, CASE WHEN ends THEN next_time END AS end, "
                "CASE WHEN ends THEN next_time - time END AS duration, tid AS from_tid, "
                "CASE WHEN ends THEN next_tid END AS to_tid "
                "FROM (SELECT async_id, name, category, time, tid, kind, "
                "lead(kind) OVER later = 'async end' AS ends, lead(time) OVER later AS next_time, "
                "lead(tid) OVER later AS next_tid FROM events WHERE kind IN ('async begin', 'async end') "
                "WINDOW later AS (PARTITION BY name, category, async_id, pid ORDER BY time, id)) "
                "WHERE kind = 'async begin'"},
        {0},
};

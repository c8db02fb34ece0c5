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
                "SELECT coalesce(symbol, object) AS lock, name, count(*) AS waits, sum(duration) AS total, "
                "max(duration) AS longest FROM waits WHERE object IS NOT NULL GROUP BY 1, 2 ORDER BY total "
                "DESC"},
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

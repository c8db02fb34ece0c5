/*
 * Changes which calls a running session records: the times and counts that elide calls at
 * their end (writer/engine/elided.h), and the patterns that exclude functions. Each change
 * becomes an event in the trace of every provider, with its time.
 *
 * Every agent checks times and counts at each call, so such a change is one store per
 * provider. For patterns, the resolver decides on all functions again, and every agent
 * carries the decisions out (writer/engine/decisions.h). The change counts as made after
 * all agents have done so; until then calls are recorded by the old filter or the new one.
 *
 * Muting a function is such a change too (muting.h). It has its own event for every
 * function (writer/format/muted.h), and no other. A muted function stays muted under every
 * later filter.
 *
 * Only the main thread adds to the list of changes; other threads may read on from their
 * place at any time.
 */
#ifndef FXT_LAUNCHER_MANAGER_FILTER_CHANGE_H
#define FXT_LAUNCHER_MANAGER_FILTER_CHANGE_H

#include "call_counts.h"
#include "launcher/options.h"

#define FXT_FILTER_EVENT "fxt: filter"

/* The wait of a change for providers that may be stopped or confined: these carry it out
 * when they run again, or never. Running providers get to it however busy the machine is; a
 * change waits longer for them. */
#define FXT_FILTER_PATIENCE_NS         UINT64_C(1000000000)
#define FXT_FILTER_RUNNING_PATIENCE_NS UINT64_C(30000000000)

#define FXT_FILTER_TEXT_BYTES 2048

struct fxt_filter_change {
	struct fxt_filter_change *later; /* NULL = this is the latest change so far
	                                  * (release) */
	uint64_t ticks;
	struct fxt_call_limits limits;
	struct fxt_record_filter filter; /* empty if only limits were changed, and depth_limit
	                              * is 0 */
	uint32_t depth_limit;
	char *text; /* the settings from then on, as options of fxtrun, cut if long. Owned.
	             * Before the change is made: room for the longest text */
	/* Functions muted by the change, with the time at which it began; NULL: it mutes
	 * none. */
	struct fxt_counted_function **muted;
	size_t muted_count;
	uint64_t began_ticks;
};

struct fxt_session;

/* True if the session keeps the sums that eliding calls needs. Otherwise its limits cannot
 * be changed. */
bool fxt_filter_may_limit(const struct fxt_session *session);

/* True if a change is in progress: no other one can begin. */
bool fxt_filter_is_changing(const struct fxt_session *session);

/*
 * Applies these limits to all providers at once; and this filter with this depth limit
 * after all providers know it, which the session's listener is then notified of. Takes
 * ownership of `filter` and leaves it empty. NULL: filter and depth stay the same, and the
 * change is made at once. Returns 0, or ENOMEM: nothing is changed.
 */
int fxt_filter_change(struct fxt_session *session, const struct fxt_call_limits *limits,
        struct fxt_record_filter *filter, uint32_t depth_limit);

/* Mutes these functions in all providers, as a change like any other. Takes ownership of
 * `functions`. Returns the same. */
int fxt_filter_mute(struct fxt_session *session, struct fxt_counted_function **functions, size_t count);

/* Replaces the trigger of that index, in the same way; all zeros removes it. An index that
 * was used for a trigger raised by calls (had_calls) must not be used for another such
 * trigger. Returns the same. */
int fxt_filter_change_trigger(struct fxt_session *session, uint32_t index, const struct fxt_trigger *trigger);

/* Limits all providers to events of these categories from now on, in the same way. Open
 * calls end as they began. Returns the same. */
int fxt_filter_change_categories(struct fxt_session *session, const struct fxt_categories *categories);

/* Completes the change in progress if all providers have carried it out or its time is
 * over. */
void fxt_filter_look(struct fxt_session *session);

/* Frees the list. Call it after all providers and the resolver have ended. */
void fxt_filter_changes_free(struct fxt_session *session);

#endif

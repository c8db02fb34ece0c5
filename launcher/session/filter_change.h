/*
 * Changing which calls a running session records: the times and numbers by which calls are left out at their
 * end (writer/elided.h), and the patterns by which functions are. Of a provider's trace each change is an
 * event, with when it was.
 *
 * Each agent looks at times and numbers at every call, so such a change is a store for each provider. For
 * patterns the resolver decides anew on all functions, and each agent carries that out (writer/decisions.h):
 * the change is made once all have, and meanwhile calls are recorded by the one filter or the other.
 * Providers that come later begin with what holds then.
 *
 * Functions are muted by such a change too (muting.h), which is told function by function
 * (writer/muted.h), and in no other words: whatever filter comes later, they stay muted.
 *
 * The list of changes is the main thread's to add to; others may read on from where they are at any time.
 */
#ifndef FXT_LAUNCHER_SESSION_FILTER_CHANGE_H
#define FXT_LAUNCHER_SESSION_FILTER_CHANGE_H

#include "call_counts.h"
#include "launcher/options.h"

#define FXT_FILTER_EVENT "fxt: filter"

/* So long a change waits for providers that may be stopped or confined: those carry it out once they run, or
 * never. Others come to it however busy the machine is, and are waited for. */
#define FXT_FILTER_PATIENCE_NS         UINT64_C(1000000000)
#define FXT_FILTER_RUNNING_PATIENCE_NS UINT64_C(30000000000)

#define FXT_FILTER_TEXT_BYTES 2048

struct fxt_filter_change {
	struct fxt_filter_change *later; /* NULL = this is the last so far (release) */
	uint64_t ticks;
	struct fxt_call_limits limits;
	struct fxt_selection filter; /* empty where only limits were changed, as is the next */
	uint32_t depth_limit;
	char *text; /* what holds from then on, as options of fxtrun, cut if it is long. Owned; of a change
	               that is not made yet, room for the longest */
	/* That are muted by it, which began then; none: it is another change. */
	struct fxt_counted_function **muted;
	size_t muted_count;
	uint64_t began_ticks;
};

struct fxt_session;

/* Whether the session keeps the sums that leaving calls out takes; else its limits cannot be changed. */
bool fxt_filter_may_limit(const struct fxt_session *session);

/* Whether a change is under way: then no other can begin. */
bool fxt_filter_is_changing(const struct fxt_session *session);

/*
 * Has all providers record by these limits from now on, and by these functions, so many calls deep, once all
 * have heard of it: then the session's listener is told. `filter` is the session's then, and left empty;
 * NULL: it stays as it is, as does the depth, and the change is made. Returns 0, or ENOMEM: nothing is
 * changed.
 */
int fxt_filter_change(struct fxt_session *session, const struct fxt_call_limits *limits,
        struct fxt_selection *filter, uint32_t depth_limit);

/* Has all providers record no calls of these functions any more, as a change like any other. `functions` is
 * the change's then. Returns the same. */
int fxt_filter_mute(struct fxt_session *session, struct fxt_counted_function **functions, size_t count);

/* Has the trigger of that index be another, in the same way; one of zeros: there is none. An index that calls
 * have raised one of (had_calls) is for no other that they raise. Returns the same. */
int fxt_filter_change_trigger(struct fxt_session *session, uint32_t index, const struct fxt_trigger *trigger);

/* Has all providers record events of these categories alone from now on, in the same way. Calls that are open
 * end as they began. Returns the same. */
int fxt_filter_change_categories(struct fxt_session *session, const struct fxt_categories *categories);

/* Makes the change that is under way, if all providers have carried it out or its time is over. */
void fxt_filter_look(struct fxt_session *session);

/* Frees the list; no provider is there any more, nor the resolver. */
void fxt_filter_changes_free(struct fxt_session *session);

#endif

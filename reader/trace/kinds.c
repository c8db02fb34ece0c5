#include "kinds.h"

#define ANY -1

static const struct {
	enum fxt_record_type type;
	int subtype;
	const char *name;
} kinds[] = {
        {FXT_RECORD_METADATA, FXT_METADATA_TRACE_INFO, "magic"},
        {FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_INFO, "provider-info"},
        {FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_SECTION, "provider-section"},
        {FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_EVENT, "provider-event"},
        {FXT_RECORD_INITIALIZATION, ANY, "initialization"}, {FXT_RECORD_STRING, ANY, "string"},
        {FXT_RECORD_THREAD, ANY, "thread"}, {FXT_RECORD_KERNEL_OBJECT, ANY, "kernel-object"},
        {FXT_RECORD_EVENT, FXT_EVENT_DURATION_BEGIN, "duration-begin"},
        {FXT_RECORD_EVENT, FXT_EVENT_DURATION_END, "duration-end"},
        [FXT_KIND_DURATION_COMPLETE] = {FXT_RECORD_EVENT, FXT_EVENT_DURATION_COMPLETE, "duration-complete"},
        {FXT_RECORD_EVENT, FXT_EVENT_INSTANT, "instant"}, {FXT_RECORD_EVENT, FXT_EVENT_COUNTER, "counter"},
        {FXT_RECORD_EVENT, FXT_EVENT_ASYNC_BEGIN, "async-begin"},
        {FXT_RECORD_EVENT, FXT_EVENT_ASYNC_INSTANT, "async-instant"},
        {FXT_RECORD_EVENT, FXT_EVENT_ASYNC_END, "async-end"},
        {FXT_RECORD_EVENT, FXT_EVENT_FLOW_BEGIN, "flow-begin"},
        {FXT_RECORD_EVENT, FXT_EVENT_FLOW_STEP, "flow-step"},
        {FXT_RECORD_EVENT, FXT_EVENT_FLOW_END, "flow-end"}, {FXT_RECORD_EVENT, ANY, "event"},
        {FXT_RECORD_USERSPACE_OBJECT, ANY, "userspace-object"},
        {FXT_RECORD_SCHEDULING, FXT_SCHEDULING_CONTEXT_SWITCH, "context-switch"},
        {FXT_RECORD_SCHEDULING, FXT_SCHEDULING_THREAD_WAKEUP, "thread-wakeup"},
        {FXT_RECORD_SCHEDULING, FXT_SCHEDULING_LEGACY_CONTEXT_SWITCH, "legacy-context-switch"},
        {FXT_RECORD_LOG, ANY, "log"}, {FXT_RECORD_BLOB, ANY, "blob"}, {FXT_RECORD_LARGE, ANY, "large-blob"},
        [FXT_KINDS - 1] = {FXT_RECORD_METADATA, ANY, "unknown"}, /* any other kind */
};

_Static_assert(sizeof(kinds) / sizeof(*kinds) == FXT_KINDS, "FXT_KINDS counts the table");

static int kinds_subtype(const struct fxt_view *view)
{
	switch (view->type) {
	case FXT_RECORD_METADATA:
		return view->metadata.type;
	case FXT_RECORD_EVENT:
		return view->event.type;
	case FXT_RECORD_SCHEDULING:
		return view->scheduling.type;
	default:
		return ANY;
	}
}

unsigned fxt_kind(const struct fxt_view *view)
{
	unsigned kind = 0;

	while (kind < FXT_KINDS - 1 &&
	        (kinds[kind].type != view->type ||
	                (kinds[kind].subtype != ANY && kinds[kind].subtype != kinds_subtype(view))))
		kind++;
	return kind;
}

const char *fxt_kind_name(unsigned kind)
{
	return kinds[kind].name;
}

const char *fxt_record_type_name(enum fxt_record_type type)
{
	static const char *const names[16] = {"metadata", "initialization", "string", "thread", "event",
	        "blob", "userspace-object", "kernel-object", "scheduling", "log", [15] = "large"};

	return names[type] ? names[type] : "record";
}

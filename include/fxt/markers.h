/*
 * <fxt/markers.h>: common macros of Tracy and NVTX as events of <fxt/trace.h>, for programs that
 * are marked with these already. Include it instead of <tracy/Tracy.hpp> or <nvToolsExt.h>:
 *
 *     ZoneScoped, ZoneScopedN       a duration of the block, in category tracy
 *     FrameMark, FrameMarkNamed     a moment; FrameMarkStart and FrameMarkEnd: an async duration
 *     TracyPlot                     a counter
 *     TracyMessage, TracyMessageL   a line of the log
 *     nvtxRangePushA, nvtxRangePop  a duration of the thread, in category nvtx; its text is the
 *                                   argument "message"
 *     nvtxRangeStartA, nvtxRangeEnd the same as an async duration, from thread to thread
 *     nvtxMarkA, nvtxNameOsThreadA  a moment; the name of the calling thread
 *
 * Colours, values of zones and records of allocations are left out: fxt records allocations
 * itself.
 */
#ifndef FXT_MARKERS_H
#define FXT_MARKERS_H

#include "trace.h"

#ifndef FXT_NTRACE

/* A duration of the block. `name` need not be a literal, but must exist as long as the
 * program does. */
#define FXT_ZONE_(its_site, its_span, category, name)                                   \
	FXT_SITE_(its_site, category, name, 0);                                         \
	struct fxt_trace_span its_span __attribute__((cleanup(fxt_trace_span_end_)));   \
	its_span.begin = 0;                                                             \
	its_span.site = &its_site;                                                      \
	its_span.arguments = (const struct fxt_trace_argument *)0;                      \
	its_span.count = 0;                                                             \
	if (fxt_trace_is_on_(&its_site))                                                \
		fxt_trace_agent_()->span_begin(&its_span, __builtin_return_address(0)); \
	(void)0
#define FXT_ZONE_NUMBERED_(number, category, name) \
	FXT_ZONE_(FXT_PASTE_(fxt_zone_, number), FXT_PASTE_(fxt_zone_span_, number), category, name)

#else

#define FXT_ZONE_NUMBERED_(number, category, name) (void)0

#endif

/* ---- Tracy ---- */

#define ZoneScoped                 FXT_ZONE_NUMBERED_(__COUNTER__, "tracy", __func__)
#define ZoneScopedN(name)          FXT_ZONE_NUMBERED_(__COUNTER__, "tracy", name)
#define ZoneScopedC(color)         ZoneScoped
#define ZoneScopedNC(name, color)  ZoneScopedN(name)
#define FrameMark                  FXT_INSTANT("tracy", "frame", FXT_SCOPE_PROCESS)
#define FrameMarkNamed(name)       FXT_INSTANT("tracy", name, FXT_SCOPE_PROCESS)
#define FrameMarkStart(name)       FXT_ASYNC_BEGIN("tracy", name, 1)
#define FrameMarkEnd(name)         FXT_ASYNC_END("tracy", name, 1)
#define TracyPlot(name, value)     FXT_COUNTER("tracy", name, 0, "value", value)
#define TracyMessageL(text)        FXT_LOG(text)
#define TracyMessage(text, bytes)  FXT_LOG(FXT_TA_CHAR_ARRAY(text, bytes))
#define TracyAlloc(pointer, bytes) (void)0
#define TracyFree(pointer)         (void)0

/* ---- NVTX ---- */

#define nvtxRangePushA(text)        FXT_DURATION_BEGIN("nvtx", "range", "message", text)
#define nvtxRangePop()              FXT_DURATION_END("nvtx", "range")
#define nvtxMarkA(text)             FXT_INSTANT("nvtx", "mark", FXT_SCOPE_THREAD, "message", text)
#define nvtxRangeEnd(id)            FXT_ASYNC_END("nvtx", "range", id)
#define nvtxNameOsThreadA(id, name) FXT_THREAD_NAME(name)
#define nvtxRangeStartA(text)                                               \
	__extension__({                                                     \
		nvtxRangeId_t fxt_id_ = FXT_NONCE();                        \
		FXT_ASYNC_BEGIN("nvtx", "range", fxt_id_, "message", text); \
		fxt_id_;                                                    \
	})
typedef uint64_t nvtxRangeId_t;

#endif

/*
 * Traces as other tools read them: a file a format. What a format can hold is told: threads, arguments,
 * flows, counters, the heap; what it cannot is left out.
 *
 * A trace of any length is written as it is read. What is kept in memory grows with names, threads and call
 * paths.
 */
#ifndef FXT_FXT_EXPORT_EXPORT_H
#define FXT_FXT_EXPORT_EXPORT_H

#include <stdio.h>
#include "fxt/flame_tree.h"
#include "reader/trace/archive.h"
#include "reader/slices/scan.h"

/* What an exporter gets. */
struct fxt_export {
	const char *name;                /* of the trace, for messages */
	const struct fxt_source *source; /* stays open */
	struct fxt_flame_wanted wanted;  /* of formats that have call paths; the choice of all */
	const char *file;                /* where it goes */
	FILE *out;                       /* the same, to be written; NULL for FXT_EXPORT_OF_FILES */
	int status;                      /* the worst that was told on the way (commands.h) */
};

/* What a format may be. */
enum {
	FXT_EXPORT_OF_CHOICE = 1, /* of calls that can be chosen, if not of all events */
	FXT_EXPORT_OF_FILES = 2,  /* no stream: its function makes what is called `file` by itself */
};

/*
 * The formats: name, how a file's name ends by default, what it may be, and what it is for. Each has a
 * function fxt_export_NAME(), which writes the trace and notes in `status` what was wrong with it.
 */
#define FXT_EXPORTERS(EXPORTER)                                                                              \
	EXPORTER(chrome_json, "json", 0, "events, for Perfetto, Chrome's tracing and others")                \
	EXPORTER(perfetto, "perfetto-trace", 0, "the same in Perfetto's own packets")                        \
	EXPORTER(speedscope, "speedscope.json", FXT_EXPORT_OF_CHOICE, "calls by thread, for speedscope")     \
	EXPORTER(firefox, "firefox.json", FXT_EXPORT_OF_CHOICE, "calls by thread, for the Firefox Profiler") \
	EXPORTER(folded, "folded", FXT_EXPORT_OF_CHOICE, "a line a call path, for flame graph tools")        \
	EXPORTER(callgrind, "callgrind", FXT_EXPORT_OF_CHOICE, "for KCachegrind and callgrind_annotate")     \
	EXPORTER(                                                                                            \
	        pprof, "pb.gz", FXT_EXPORT_OF_CHOICE, "for go tool pprof, with the heap if it was recorded") \
	EXPORTER(csv, "csv", FXT_EXPORT_OF_FILES, "a directory with a file for each table of fxt sql")       \
	EXPORTER(sqlite, "sqlite", FXT_EXPORT_OF_FILES, "a database with the tables and views of fxt sql")

#define FXT_DECLARE_EXPORTER(name, ending, properties, summary) void fxt_export_##name(struct fxt_export *e);
FXT_EXPORTERS(FXT_DECLARE_EXPORTER)

/* ---- for exporters ---- */

/* Reads the tree of call paths by a cost. False: it could not be read, which was told. */
bool fxt_export_tree(struct fxt_export *e, enum fxt_flame_cost cost, struct fxt_flame_tree *tree);

/* The text of a node's name, at least one byte. */
struct fxt_span fxt_export_name(const struct fxt_flame_tree *tree, uint32_t name);

#endif

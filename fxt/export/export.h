/*
 * Exports traces for other tools: one file a format. An export has everything that its
 * format can hold: threads, arguments, flows, counters, the heap; anything else is left
 * out. A trace of any length is written as it is read. Memory grows with names, threads and
 * call paths.
 */
#ifndef FXT_FXT_EXPORT_EXPORT_H
#define FXT_FXT_EXPORT_EXPORT_H

#include <stdio.h>
#include "fxt/flame_tree.h"
#include "reader/trace/archive.h"
#include "reader/slices/scan.h"

/* The input of an exporter. */
struct fxt_export {
	const char *name;                /* the trace's, for messages */
	const struct fxt_source *source; /* stays open */
	struct fxt_flame_wanted wanted;  /* for formats that have call paths; its choice
	                                    is for all formats */
	const char *file;                /* the name of the output */
	FILE *out;                       /* the output, open for writing; NULL for
	                                    FXT_EXPORT_OF_FILES */
	bool tells_folded;               /* it was said that recursion is folded */
	int status;                      /* the worst status that was reported so far
	                                    (commands.h) */
};

/* Properties of a format. */
enum {
	FXT_EXPORT_OF_CHOICE = 1, /* has the calls that can be chosen, rather than all
	                             events */
	FXT_EXPORT_OF_FILES = 2,  /* has no stream: its function creates `file` by itself */
};

/*
 * The formats: name, default ending of the file's name, properties, and purpose. Each has a
 * function fxt_export_NAME(), which writes the trace and reports errors in `status`.
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
	EXPORTER(sqlite, "sqlite", FXT_EXPORT_OF_FILES, "a database with the tables and views of fxt sql")   \
	EXPORTER(fleet, "fleet", FXT_EXPORT_OF_FILES, "a folder with the tables of many traces, for DuckDB")

#define FXT_DECLARE_EXPORTER(name, ending, properties, summary) void fxt_export_##name(struct fxt_export *e);
FXT_EXPORTERS(FXT_DECLARE_EXPORTER)

/* ---- for exporters ---- */

/* Reads the tree of call paths by a cost. Returns false, after reporting it, if it could
 * not be read. */
bool fxt_export_tree(struct fxt_export *e, enum fxt_flame_cost cost, struct fxt_flame_tree *tree);

/* The same, with deep recursion folded (fxt_flame_tree_fold()), for formats that repeat the
 * whole path for each node. Says so once. */
bool fxt_export_folded_tree(struct fxt_export *e, enum fxt_flame_cost cost, struct fxt_flame_tree *tree);

/* The text of a node's name, at least one byte. */
struct fxt_span fxt_export_name(const struct fxt_flame_tree *tree, uint32_t name);

#endif

/*
 * The list `objects` of fxt sql: the blocks of the heap, read at the first query (sums.h).
 * Runs on the main thread, called by list_table.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "lists.h"
#include "reader/heap/heap_paths.h"
#include "sums.h"

enum {
	ADDRESS,
	SIZE,
	START,
	END,
	DURATION,
	FATE,
	IS_TEMPORARY,
	TID,
	THREAD,
	PID,
	PROCESS,
	FUNCTION,
	PATH,
	WEIGHT
};

static void object_text(sqlite3_context *context, const struct fxt_heap *heap, uint32_t string)
{
	struct fxt_span text = heap->tables.strings[string];

	if (string != FXT_NOTHING)
		sqlite3_result_text(context, text.bytes ? text.data : "", (int)text.bytes, SQLITE_STATIC);
}

static void object_address(sqlite3_context *context, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void object_path(sqlite3_context *context, const struct fxt_heap *heap, uint32_t node)
{
	const uint32_t *names;
	size_t count = fxt_heap_path(heap, node, FXT_HEAP_DEPTH, &names);
	sqlite3_str *text = sqlite3_str_new(sqlite3_context_db_handle(context));

	for (size_t i = 0; i < count; i++) {
		struct fxt_span name = heap->tables.strings[names[i]];

		sqlite3_str_appendall(text, i > 0 ? ";" : "");
		sqlite3_str_append(text, name.data, (int)name.bytes);
	}
	int bytes = sqlite3_str_length(text), error = sqlite3_str_errcode(text);
	char *whole = sqlite3_str_finish(text);

	if (error)
		sqlite3_result_error_code(context, error);
	else if (whole)
		sqlite3_result_text(context, whole, bytes, sqlite3_free);
}

static void object_of_thread(
        sqlite3_context *context, const struct fxt_heap *heap, const struct fxt_heap_block *block, int column)
{
	const struct fxt_koids *koids = &heap->tables.threads[block->thread];

	switch (column) {
	case TID:
		sqlite3_result_int64(context, (int64_t)koids->thread);
		break;
	case THREAD:
		object_text(context, heap,
		        fxt_tables_object_name(&heap->tables, FXT_OBJECT_THREAD, koids->thread));
		break;
	case PID:
		sqlite3_result_int64(context, (int64_t)koids->process);
		break;
	case PROCESS:
		object_text(context, heap, fxt_heap_process_name(heap, &heap->processes[block->process]));
		break;
	}
}

static size_t object_count(struct fxt_sql_trace *trace)
{
	return fxt_sql_blocks(trace)->blocks.count;
}

static void object_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	static const char *const fates[] = {"freed", "leaked", "replaced", "kept"};
	const struct fxt_sql_blocks *blocks = fxt_sql_blocks(trace);
	const struct fxt_heap *heap = &blocks->heap;
	struct fxt_heap_block block;

	fxt_spill_read(&blocks->blocks, row, 1, &block);
	switch (column) {
	case ADDRESS:
		object_address(context, block.pointer);
		break;
	case SIZE:
		sqlite3_result_int64(context, (int64_t)block.size);
		break;
	case START:
		sqlite3_result_int64(context, (int64_t)(block.start - trace->start_ns));
		break;
	case END:
		if (block.fate == FXT_HEAP_BLOCK_FREED)
			sqlite3_result_int64(context, (int64_t)(block.end - trace->start_ns));
		break;
	case DURATION:
		if (block.fate == FXT_HEAP_BLOCK_FREED)
			sqlite3_result_int64(context, (int64_t)(block.end - block.start));
		break;
	case FATE:
		sqlite3_result_text(context, fates[fxt_heap_fate(heap, &block)], -1, SQLITE_STATIC);
		break;
	case IS_TEMPORARY:
		sqlite3_result_int(context, block.is_temporary);
		break;
	case FUNCTION:
		object_text(context, heap, heap->nodes[block.node].name);
		break;
	case PATH:
		object_path(context, heap, block.node);
		break;
	case WEIGHT:
		sqlite3_result_double(context, block.weight);
		break;
	default:
		object_of_thread(context, heap, &block, column);
		break;
	}
}

const struct fxt_sql_list fxt_sql_objects = {object_count, object_value, NULL};

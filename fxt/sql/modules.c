/*
 * The table of modules: the files that each process announced as mapped into it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "lists.h"
#include "symbolizer/markup.h"

/* Addresses from 0 to 0 mean that no mapping was announced. */
struct fxt_sql_module {
	uint64_t pid, id, from, to;
	uint32_t path, build_id; /* fxt_sql_text() */
};

struct fxt_sql_modules {
	struct fxt_sql_module *items;
	size_t count, room;
	struct fxt_index index; /* by process and id */
};

static struct fxt_sql_module *module_find(struct fxt_sql_modules *modules, uint64_t pid, uint64_t id)
{
	uint32_t hash = fxt_hash_word(fxt_hash_mix(pid) ^ id);

	for (struct fxt_probe probe = fxt_probe(&modules->index, hash);
	        fxt_probe_next(&modules->index, &probe);)
		if (modules->items[probe.id].pid == pid && modules->items[probe.id].id == id)
			return &modules->items[probe.id];
	fxt_index_add(&modules->index, hash, (uint32_t)modules->count);
	fxt_make_room(modules->items, modules->count, modules->room);
	modules->items[modules->count] = (struct fxt_sql_module){.pid = pid, .id = id};
	return &modules->items[modules->count++];
}

static uint32_t module_text(struct fxt_sql_trace *trace, struct fxt_span text)
{
	return (uint32_t)trace->scan.tables.string_count + fxt_tables_intern(&trace->texts, text);
}

static void module_add(void *state, struct fxt_walker *walker, const struct fxt_view *view, uint64_t offset)
{
	struct fxt_sql_trace *trace = state;
	struct fxt_markup markup;

	(void)offset;
	if (view->type != FXT_RECORD_LOG || !fxt_markup_parse(view->log.text, &markup) ||
	        markup.kind == FXT_MARKUP_PC)
		return;
	/* may reallocate the table */
	uint32_t thread = fxt_tables_thread(&walker->tables, view->log.thread);
	uint64_t pid = walker->tables.threads[thread].process;
	struct fxt_sql_module *module = module_find(trace->modules, pid, markup.module);

	if (markup.kind == FXT_MARKUP_MODULE) {
		module->path = module_text(trace, markup.path);
		module->build_id = module_text(trace, markup.build_id);
	} else {
		if (module->to == 0 || markup.address < module->from)
			module->from = markup.address;
		if (markup.address + markup.bytes > module->to)
			module->to = markup.address + markup.bytes;
	}
}

static const struct fxt_visitor module_visitor = {.record = module_add, .looks_near = true};

static size_t module_count(struct fxt_sql_trace *trace)
{
	struct fxt_walker walker;

	if (trace->modules)
		return trace->modules->count;
	trace->modules = fxt_allocate(sizeof(*trace->modules));
	fxt_walk_begin(&walker, &trace->scan);
	walker.takes_records = walker.omits_plain = true;
	while (fxt_walk_step(&walker, &module_visitor, trace))
		trace->bytes_read += walker.block->bytes;
	trace->is_short |= walker.is_short;
	fxt_walk_end(&walker);
	return trace->modules->count;
}

void fxt_sql_modules_free(struct fxt_sql_modules *modules)
{
	if (!modules)
		return;
	free(modules->items);
	fxt_index_free(&modules->index);
	free(modules);
}

/* ---- the table ---- */

enum { MODULE, BUILD_ID, PID, PROCESS, ADDRESS, BYTES };

static void module_value(sqlite3_context *context, struct fxt_sql_trace *trace, size_t row, int column)
{
	const struct fxt_sql_module *module = &trace->modules->items[row];
	char text[24];

	switch (column) {
	case MODULE:
		fxt_sql_result_text(context, trace, module->path);
		break;
	case BUILD_ID:
		fxt_sql_result_text(context, trace, module->build_id);
		break;
	case PID:
		sqlite3_result_int64(context, (int64_t)module->pid);
		break;
	case PROCESS:
		fxt_sql_result_text(context, trace,
		        fxt_tables_object_name(&trace->scan.tables, FXT_OBJECT_PROCESS, module->pid));
		break;
	case ADDRESS:
		snprintf(text, sizeof(text), "0x%" PRIx64, module->from);
		if (module->to > 0)
			sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
		break;
	case BYTES:
		if (module->to > 0)
			sqlite3_result_int64(context, (int64_t)(module->to - module->from));
		break;
	}
}

const struct fxt_sql_list fxt_sql_module_list = {module_count, module_value, NULL};

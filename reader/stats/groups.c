#include "groups.h"
#include "reader/trace/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- texts ---- */

void fxt_groups_write_object(FILE *out, const struct fxt_tables *t, enum fxt_object_type type, uint64_t koid)
{
	struct fxt_span name = fxt_tables_object_text(t, type, koid);

	fprintf(out, "%s %" PRIu64, type == FXT_OBJECT_THREAD ? "thread" : "process", koid);
	if (name.bytes == 0)
		return;
	fputs(" \"", out);
	fwrite(name.data, 1, name.bytes, out);
	fputc('"', out);
}

void fxt_groups_write_thread(FILE *out, const struct fxt_tables *t, struct fxt_koids thread)
{
	fxt_groups_write_object(out, t, FXT_OBJECT_THREAD, thread.thread);
	fputs(" of ", out);
	fxt_groups_write_object(out, t, FXT_OBJECT_PROCESS, thread.process);
}

static char *groups_text(const struct fxt_tables *t, struct fxt_koids thread, bool is_process)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = fxt_memory_open(&text, &bytes);

	if (is_process)
		fxt_groups_write_object(out, t, FXT_OBJECT_PROCESS, thread.process);
	else
		fxt_groups_write_thread(out, t, thread);
	fxt_memory_close(out, &text);
	return text;
}

/* ---- keys ---- */

/* By function name: its module or its file; FXT_NOTHING if unknown. */
static void groups_find_origins(struct fxt_groups *groups, const struct fxt_scan *scan)
{
	groups->key_of = fxt_allocate(scan->tables.string_count * sizeof(*groups->key_of));
	for (size_t i = 0; i < scan->tables.string_count; i++) {
		const struct fxt_origin *origin = fxt_origins_next(&scan->origins, (uint32_t)i, NULL);

		if (origin)
			groups->key_of[i] = groups->group == FXT_GROUP_MODULE ? origin->module : origin->file;
	}
	groups->grouping.by = FXT_BY_NAME;
}

/* By thread: the thread itself, the first thread of its process, or the process's name. */
static void groups_find_threads(struct fxt_groups *groups, const struct fxt_scan *scan)
{
	const struct fxt_tables *t = &scan->tables;
	struct fxt_index index = {0};

	groups->key_of = fxt_allocate(t->thread_count * sizeof(*groups->key_of));
	for (uint32_t i = 0; i < t->thread_count; i++) {
		uint64_t process = t->threads[i].process;
		uint32_t hash = fxt_hash_word(process);
		bool is_known = false;

		groups->key_of[i] = i;
		if (groups->group == FXT_GROUP_PROGRAM)
			groups->key_of[i] = fxt_tables_object_name(t, FXT_OBJECT_PROCESS, process);
		if (groups->group != FXT_GROUP_PROCESS)
			continue;
		for (struct fxt_probe probe = fxt_probe(&index, hash);
		        !is_known && fxt_probe_next(&index, &probe);) {
			is_known = t->threads[probe.id].process == process;
			if (is_known)
				groups->key_of[i] = probe.id;
		}
		if (!is_known)
			fxt_index_add(&index, hash, i);
	}
	fxt_index_free(&index);
	groups->grouping.by = FXT_BY_THREAD;
}

int fxt_groups_make(struct fxt_groups *groups, const struct fxt_scan *scan, enum fxt_group group,
        const struct fxt_patterns *of, const char *argument, char *error, size_t error_bytes)
{
	*groups = (struct fxt_groups){.group = group};
	switch (group) {
	case FXT_GROUP_MODULE:
	case FXT_GROUP_FILE:
		groups_find_origins(groups, scan);
		break;
	case FXT_GROUP_THREAD:
	case FXT_GROUP_PROCESS:
	case FXT_GROUP_PROGRAM:
		groups_find_threads(groups, scan);
		break;
	case FXT_GROUP_CATEGORY:
		groups->grouping.by = FXT_BY_CATEGORY;
		break;
	case FXT_GROUP_ARGUMENT:
		groups->grouping.by = FXT_BY_VALUE;
		groups->grouping.values = &groups->values;
		fxt_values_read(&groups->values, scan, argument);
		break;
	case FXT_GROUP_CALLERS:
	case FXT_GROUP_CALLEES:
		groups->grouping.by = group == FXT_GROUP_CALLERS ? FXT_CALLERS : FXT_CALLEES;
		groups->of = fxt_query_filter_names(of, scan);
		if (!groups->of) {
			fxt_query_filter_explain(of, scan, error, error_bytes);
			return -1;
		}
		fxt_unfold(scan, groups->of);
		break;
	default:
		groups->grouping.by = FXT_BY_FUNCTION;
		break;
	}
	groups->grouping.key_of = groups->key_of;
	groups->grouping.of = groups->of;
	return 0;
}

struct fxt_span fxt_groups_name(struct fxt_groups *groups, const struct fxt_scan *scan, uint32_t key)
{
	const char *nothing = groups->group == FXT_GROUP_CALLERS ? "(nobody)" : "(not known)";

	if (groups->group == FXT_GROUP_THREAD || groups->group == FXT_GROUP_PROCESS) {
		fxt_make_zeroed(groups->texts, groups->text_count, key);
		if (!groups->texts[key])
			groups->texts[key] = groups_text(
			        &scan->tables, scan->tables.threads[key], groups->group == FXT_GROUP_PROCESS);
		return fxt_span(groups->texts[key]);
	}
	if (groups->group == FXT_GROUP_ARGUMENT && key != FXT_NOTHING)
		return groups->values.texts[key];
	return key == FXT_NOTHING && groups->group != FXT_GROUP_FUNCTION ? fxt_span(nothing)
	                                                                 : scan->tables.strings[key];
}

void fxt_groups_free(struct fxt_groups *groups)
{
	free(groups->key_of);
	free(groups->of);
	for (size_t i = 0; i < groups->text_count; i++)
		free(groups->texts[i]);
	free(groups->texts);
	fxt_values_free(&groups->values);
	*groups = (struct fxt_groups){0};
}

/* Says at the end of a recording which patterns have chosen nothing, and which functions
 * are left out (plans.h). */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/message.h"
#include "launcher/planning/plan.h"
#include "launcher/planning/probe_requests.h"
#include "launcher/values.h"
#include "plans.h"
#include "reader/trace/text.h"

static bool plans_have_probes(const struct fxt_plans *plans)
{
	for (size_t i = 0; i < plans->count; i++)
		if (plans->files[i].probes && *plans->files[i].probes)
			return true;
	return false;
}

/* Whether one of a file's probes, PROVIDER:NAME with commas between them, is wanted. */
static bool plans_file_has_probe(const struct fxt_planned_file *file, const char *item)
{
	const char *list = file->probes ? file->probes : "";
	char probe[FXT_PROBE_ITEM_BYTES];

	while (fxt_probe_request_next(&list, probe)) {
		char *provider = probe + strspn(probe, " "), *colon = strchr(provider, ':');
		unsigned texts;

		if (!colon)
			continue;
		*colon = 0;
		if (fxt_probe_is_wanted(&item, 1, provider, colon + 1, &texts))
			return true;
	}
	return false;
}

/* Some probes are recorded, but none that this item wants. */
static void plans_say_probe_items(const struct fxt_plans *plans, const char *list)
{
	char item[FXT_PROBE_ITEM_BYTES];

	while (fxt_probe_request_next(&list, item)) {
		size_t i = 0;

		while (i < plans->count && !plans_file_has_probe(&plans->files[i], item))
			i++;
		if (i == plans->count)
			fxt_say("--usdt=%s matches no probe of the programs; --usdt=list lists them", item);
	}
}

/* Names the patterns without a probe. Lists the probes that exist, if none is wanted. */
static void plans_say_probes(const struct fxt_plans *plans, const struct fxt_options *options)
{
	size_t probed = 0, asked = 0;

	for (const struct fxt_planned_file *f = plans->files; f < plans->files + plans->count; f++) {
		asked += f->kind == FXT_PLAN_PROBES;
		probed += f->kind == FXT_PLAN_PROBES && f->can_be_planned;
	}
	for (unsigned i = 0; probed && i < options->usdt_count; i++)
		plans_say_probe_items(plans, options->usdt[i]);
	if (!asked || probed)
		return;
	fxt_say("--usdt: no probe is recorded; the programs have %s",
	        plans_have_probes(plans) ? "these:" : "none");
	for (const struct fxt_planned_file *f = plans->files; f < plans->files + plans->count; f++)
		if (f->probes && *f->probes)
			fxt_say("--usdt: in %s: %s", f->name, f->probes);
}

static bool plans_asked(const struct fxt_plans *plans, enum fxt_plan_kind kind)
{
	for (size_t i = 0; i < plans->count; i++)
		if (plans->files[i].kind == kind)
			return true;
	return false;
}

/* Items of --args and --returns that lead to nothing are probably mistakes. */
static void plans_say_arguments(const struct fxt_plans *plans, bool may_be_recorded)
{
	for (const struct fxt_argument_request *r = plans->requests.list;
	        plans_asked(plans, FXT_PLAN_ARGUMENTS) && r < plans->requests.list + plans->requests.count;
	        r++) {
		const char *option = r->is_of_results ? "--returns" : "--args";

		if (r->has_matched && !r->has_values)
			fxt_say("%s=%s: no debug information has the types of these functions; compile "
			        "with -g, or name the types: %s@arg1/i32,retval/s",
			        option, r->pattern, r->pattern);
		else if (r->has_matched && !may_be_recorded)
			fxt_say("%s=%s: nothing is recorded of these functions' arguments: they need "
			        "prepared entries (-fpatchable-function-entry=5) or --patch, and those "
			        "of libraries --library-calls",
			        option, r->pattern);
		if (r->has_matched)
			continue;
		fxt_say(*r->near ? "%s=%s matches no function of the programs; is it %s?"
		                 : "%s=%s matches no function of the programs",
		        option, r->pattern, r->near);
	}
}

/* Whether a pattern of --patch matches the name of a file that was to be patched. */
static bool plans_has_patched(const struct fxt_plans *plans, const char *pattern)
{
	for (const struct fxt_planned_file *f = plans->files; f < plans->files + plans->count; f++)
		if (f->kind == FXT_PLAN_PATCHES && fnmatch(pattern, f->name, 0) == 0)
			return true;
	return false;
}

static void plans_say_patterns(const struct fxt_plans *plans, const char *patterns)
{
	while (patterns && *patterns) {
		size_t bytes = fxt_value_item_bytes(patterns);
		char *pattern = strndup(patterns, bytes);

		if (pattern && !plans_has_patched(plans, pattern))
			fxt_say("--patch=%s matches no module of the programs", pattern);
		free(pattern);
		patterns += bytes + (patterns[bytes] != 0);
	}
}

void fxt_plans_say(
        const struct fxt_plans *plans, const struct fxt_options *options, uint64_t thunks_with_arguments)
{
	char reasons[512] = "", name[64];
	uint32_t count = 0, left_out[FXT_PLAN_OBSTACLES] = {0}, sum = 0;
	size_t files = 0, at = 0;
	const char *one = "";

	plans_say_probes(plans, options);
	/* With --patch, the last line says what is left out. */
	plans_say_arguments(plans, thunks_with_arguments > 0 || options->patch);
	plans_say_patterns(plans, options->no_patch ? NULL : options->patch);
	for (const struct fxt_planned_file *f = plans->files; f < plans->files + plans->count; f++) {
		if (!f->can_be_planned || f->kind != FXT_PLAN_PATCHES)
			continue;
		one = f->name;
		count += f->count;
		files++;
		for (unsigned i = 0; i < FXT_PLAN_OBSTACLES; i++)
			left_out[i] += f->left_out[i];
	}
	for (unsigned i = 0; i < FXT_PLAN_OBSTACLES; i++) {
		if (!left_out[i] || i == FXT_PLAN_PART || i == FXT_PLAN_SPECIAL)
			continue;
		sum += left_out[i];
		at += (size_t)snprintf(reasons + at, sizeof(reasons) - at, "%s%u %s", at ? ", " : "",
		        left_out[i], fxt_plan_obstacle_text((enum fxt_plan_obstacle)i));
	}
	snprintf(name, sizeof(name), "%zu files", files);
	if (sum)
		fxt_say("--patch: %u of %u function%s of %s %s left out: %s", sum, count + sum,
		        fxt_plural(count + sum), files == 1 ? one : name, sum == 1 ? "is" : "are", reasons);
}

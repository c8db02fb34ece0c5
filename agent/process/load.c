/*
 * Looks for entries (agent/patch/entries.h) and imports (agent/patch/imports.h) in each
 * module that is loaded (load.h). Runs on the thread that starts or loads it, before any
 * thread executes its code.
 */
#include "load.h"
#include "agent/base/attributes.h"
#include "agent/base/self.h"
#include "agent/base/symbols.h"
#include "agent/hook/argument_plans.h"
#include "agent/hook/sources.h"
#include "agent/patch/entry_search.h"
#include "handshake.h"
#include "agent/patch/probes.h"
#include "agent/patch/redirect.h"
#include "modules.h"

static uint8_t examined[AGENT_MODULES / 8 + 1]; /* a bit for each module id */

static bool load_was_examined(uint32_t id)
{
	return load_relaxed(&examined[id / 8]) & 1 << id % 8;
}

static void load_note(const struct agent_module_tables *module)
{
	uint8_t *bits = &examined[module->id / 8];

	store_relaxed(bits, (uint8_t)(*bits | 1 << module->id % 8));
}

/* Asks for the module's argument plan, before thunks are made for its functions. */
static void load_take_arguments(const struct agent_module_tables *module)
{
	const struct fxt_argument_plan *plan;
	uint64_t bytes;

	if (!ARCH_HAS_THUNKS || agent_is_standalone || !agent_engine.control->records_arguments)
		return;
	plan = agent_request_plan(FXT_PLAN_ARGUMENTS, module->path, &bytes);
	if (plan && (!fxt_argument_plan_is_whole(plan, bytes) ||
	                    !agent_argument_plan_add(plan, bytes, module->base, module->low, module->high)))
		sys_unmap((void *)(uintptr_t)plan, bytes);
}

void agent_load_prepare(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);

	agent_sources_prepare();
	agent_modules_each(agent_redirect);
	agent_modules_each(load_take_arguments);
	agent_modules_each(agent_probes_take);
	agent_modules_each(agent_entries_examine);
	agent_entry_lists_end();
	/* Afterwards: the import of a function with an entry is left alone. */
	agent_modules_each(agent_imports_examine);
	agent_modules_each(load_note);
	fxt_unlock(&agent_engine.lock, mask);
}

/*
 * The start-up code of every module that a linker of the GNU system has made (crti.o) calls
 * this before the module's constructors, if it exists: that is when a library's code is
 * there and no thread executes it. Profilers define it for their own purposes, then theirs
 * is found first, which is not ours to change.
 */
EXPORT void __gmon_start__(void)
{
	uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0), mask;
	struct agent_module_tables module;
	uint32_t id;

	if (!load_relaxed(&agent_has_begun) || agent_engine.state == FXT_ENGINE_NONE ||
	        fxt_engine_was_forked(&agent_engine) || load_relaxed(&sys_confinement) != SYS_FREE)
		return;
	/* Without the lock: at a program's start all its modules come here once more. */
	id = agent_module_known_around(address);
	if (id && load_was_examined(id) && !agent_is_late())
		return;
	mask = fxt_lock(&agent_engine.lock);
	id = agent_module_around(address);
	if (id && load_was_examined(id)) {
		/* At the attach the loader had not filled its slots yet. */
		agent_module_describe(id, &module);
		agent_redirect(&module);
	} else if (id) {
		agent_module_describe(id, &module);
		load_note(&module);
		agent_redirect(&module);
		load_take_arguments(&module);
		agent_probes_take(&module);
		agent_entries_examine(&module);
		agent_entry_lists_end();
		agent_imports_examine(&module);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

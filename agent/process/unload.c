/* Modules that are unloaded. Before the loader unmaps a module, the module's own start-up
 * code (crtbegin) calls __cxa_finalize(), which is interposed here. */
#include "unload.h"
#include "agent/base/attributes.h"
#include "agent/heap/callpath.h"
#include "agent/hook/argument_plans.h"
#include "agent/hook/claim.h"
#include "agent/patch/changes.h"
#include "agent/patch/entries.h"
#include "agent/patch/imports.h"
#include "agent/patch/patch.h"
#include "agent/patch/probes.h"
#include "modules.h"
#include "agent/base/real.h"
#include "agent/heap/unwind.h"

void agent_unload_code(uint64_t start, uint64_t end)
{
	agent_paths_retire(start, end);
	agent_patch_retire(start, end);
	agent_entries_retire(start, end);
	agent_imports_retire(start, end);
	agent_argument_plans_retire(start, end);
	agent_probes_retire(start, end);
	agent_changes_retire(start, end);
}

void agent_unload_patches(void)
{
	agent_imports_retire(1, UINT64_MAX); /* 0: free */
	agent_argument_plans_retire(1, UINT64_MAX);
}

/* `module` is an address in the module that is about to be unmapped; NULL at the end of the
 * process. */
EXPORT void __cxa_finalize(void *module)
{
	static bool is_ending;
	uint32_t id;

	/* Runs destructors of the module, which are its last calls. */
	REAL(__cxa_finalize)(module);
	/* A forked child that has not started anew has one thread, and perhaps a lock that
	 * another thread of its parent held: it would wait for that lock for ever. */
	bool is_unborn = fxt_engine_was_forked(&agent_engine);
	/* If signals cannot be blocked (sandbox.h), a handler could come while this thread
	 * holds the lock, and wait for it for ever. In a claimed writer, the handler's
	 * hooks stay away from the lock. */
	struct fxt_thread_writer *claimed = load_relaxed(&sys_confinement) != SYS_FREE ? agent_claim() : NULL;
	uint64_t mask = is_unborn ? 0 : fxt_lock(&agent_engine.lock);

	id = agent_module_known_around((uint64_t)(uintptr_t)module);
	/* When the process ends, the program itself is finalised first: from then on
	 * nothing is unmapped. */
	is_ending = is_ending || id == AGENT_MODULE_PROGRAM || !module;
	if (id && !is_ending)
		agent_module_retire(id, agent_unload_code);
	if (!is_ending)
		agent_unwind_forget();
	if (!is_unborn)
		fxt_unlock(&agent_engine.lock, mask);
	if (claimed)
		agent_release(claimed);
}

/* Finds and writes slots (redirect.h), on the thread that attaches or loads a module. */
#include "redirect.h"
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/definitions.h"
#include "agent/base/notice.h"
#include "agent/base/symbols.h"
#include "changes.h"
#include "code.h"
#include "import_search.h"
#include "writer/shared/sys.h"

static const char *const foreign[] = {"ld-linux", "libfxtagent.so", NULL};

/* Programs compare the addresses of these. */
static bool redirect_is_compared(const char *name)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "free", NULL};

	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The function that the slot leads to, now or once the loader has bound it. Until then it
 * leads into its own module. */
static uint64_t redirect_target(const struct agent_module_tables *module, const struct agent_import *import)
{
	uint64_t content = *(const uint64_t *)(uintptr_t)import->slot;
	struct agent_definition definition;

	if (!import->is_for_calls || content < module->low || content >= module->high ||
	        !agent_definition_find(module->base, import, &definition))
		return content;
	return definition.is_resolver ? (uint64_t)(uintptr_t)arch_resolve(definition.address)
	                              : definition.address;
}

static bool redirect_slot(const struct agent_module_tables *module, const struct agent_import *import)
{
	uint64_t ours = (uint64_t)(uintptr_t)agent_own_symbol(import->name), real;

	if (!ours)
		return true;
	real = (uint64_t)(uintptr_t)agent_next_symbol(import->name);
	if (!real ||
	        (*(const uint64_t *)(uintptr_t)import->slot != real &&
	                redirect_target(module, import) != real) ||
	        (!import->is_for_calls && redirect_is_compared(import->name) &&
	                !agent_import_is_only_called(module, import->slot)))
		return true;
	return agent_change_slot(import->slot, ours);
}

static bool redirect_slots(
        const struct agent_module_tables *module, const struct agent_import *imports, uint32_t count)
{
	bool is_done = true;
	int kept;

	if (!agent_code_open_for_now(&kept))
		return false;
	for (uint32_t i = 0; i < count; i++)
		is_done = redirect_slot(module, &imports[i]) && is_done;
	agent_code_close_again(kept);
	return is_done;
}

void agent_redirect(const struct agent_module_tables *module)
{
	const void *dynamic = agent_module_dynamic(module);
	struct agent_import *imports;
	uint32_t count;
	bool is_done = false;

	if (!agent_is_late() || !dynamic || agent_path_is_of(module->path, foreign))
		return;
	count = agent_imports_find(module->base, dynamic, true, NULL, 0);
	if (!count)
		return;
	imports = sys_map(count * sizeof(*imports), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (imports) {
		count = agent_imports_find(module->base, dynamic, true, imports, count);
		is_done = redirect_slots(module, imports, count);
		sys_unmap(imports, count * sizeof(*imports));
	}
	if (!is_done)
		agent_notice("not all calls of ", module->path[0] ? module->path : "the program",
		        " to the C library are seen: its memory cannot be written", NULL);
}

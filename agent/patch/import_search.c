/*
 * Finds imports (import_search.h), on the thread that starts or loads a module. Reads slots
 * and code as they lie in memory, and changes nothing.
 */
#include "import_search.h"
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/hook/thunks.h"
#include "entries.h"
#include "entry_search.h"
#include "import_choice.h"
#include "writer/shared/sys.h"

/* ---- where an import leads to ---- */

/* The loader and the unwinder. */
static const char *const no_targets[] = {"ld-linux", "libgcc_s.so", NULL};

static bool module_has(const struct agent_module_tables *module, uint64_t address)
{
	return address >= module->low && address < module->high;
}

static bool module_is_ours(const struct agent_module_tables *module)
{
	return module_has(module, (uint64_t)(uintptr_t)agent_thunks);
}

static bool module_find(uint64_t address, struct agent_module_tables *module)
{
	uint32_t id = agent_module_around(address);

	if (id)
		agent_module_describe(id, module);
	return id;
}

static uint64_t definition_body(const struct agent_definition *definition)
{
	return definition->is_resolver ? (uint64_t)(uintptr_t)arch_resolve(definition->address)
	                               : definition->address;
}

/* Finds the function that a slot leads to. Takes the address that the loader has written
 * there. A slot that is not bound yet leads back into the module: takes the definition that
 * the loader would find. */
static bool target_find_body(const struct agent_module_tables *module, const struct agent_import *import,
        struct agent_import_target *target)
{
	uint64_t content = *(const uint64_t *)(uintptr_t)import->slot;
	struct agent_definition definition;

	target->slot = import->slot;
	target->body = target->function = content;
	if (!module_has(module, content))
		return content && !agent_is_thunk(content);
	if (!import->is_for_calls || !agent_definition_find(module->base, import, &definition))
		return false;
	target->function = definition.address;
	target->body = definition_body(&definition);
	return true;
}

/* Finds the address that names the function, and the module that defines it. */
static bool target_find_function(const struct agent_import *import, const struct agent_module_tables *owner,
        struct agent_import_target *target, struct agent_module_tables *definer)
{
	struct agent_definition definition;

	if (module_is_ours(owner)) {
		if (!agent_definition_find_behind(import, &definition))
			return false;
		target->function = definition.address;
		return module_find(definition.address, definer);
	}
	if (agent_definition_in(owner->base, agent_module_dynamic(owner), import, &definition) &&
	        definition.is_resolver)
		target->function = definition.address;
	*definer = *owner;
	return true;
}

/* Whether other calls of the function are recorded already, or none can be. */
static bool target_is_special(
        const struct agent_module_tables *owner, const struct agent_import_target *target)
{
	return !module_is_ours(owner) &&
	       (agent_entries_has(target->function) || agent_entry_is_special(owner, target->body));
}

static bool import_find_target(const struct agent_module_tables *module, const struct agent_import *import,
        const char *patterns, uint64_t *matched, struct agent_import_target *target)
{
	struct agent_module_tables owner, definer;
	uint64_t chosen_by;

	if (!agent_import_is_possible(import->name) || !target_find_body(module, import, target) ||
	        !module_find(target->body, &owner) || !agent_module_is_code(target->body) ||
	        !target_find_function(import, &owner, target, &definer) ||
	        agent_path_is_of(definer.path, no_targets))
		return false;
	chosen_by = agent_import_chosen_by(patterns, import->name, definer.path);
	*matched |= chosen_by;
	return chosen_by && !target_is_special(&owner, target);
}

/* ---- how code uses slots ---- */

#define USE_CALL  1
#define USE_OTHER 2

/* The uses of the slots from `low` on, a byte a slot. */
struct uses {
	uint64_t low, bytes;
	uint8_t *of;
};

/* Looks at every byte of a segment, whether an operand begins there or not: a slot more is
 * left out at worst. An instruction that takes a slot's value has no bytes behind the
 * operand. */
static void uses_look(const struct uses *uses, const uint8_t *start, const uint8_t *end)
{
	for (const uint8_t *at = start + 2; at + 4 <= end; at++) {
		int32_t distance;
		uint64_t offset;

		memcpy(&distance, at, sizeof(distance));
		offset = (uint64_t)(uintptr_t)at + 4 + (uint64_t)(int64_t)distance - uses->low;
		if (offset < uses->bytes && offset % 8 == 0)
			uses->of[offset / 8] |=
			        at[-2] == 0xff && (at[-1] == 0x15 || at[-1] == 0x25) ? USE_CALL : USE_OTHER;
	}
}

static bool uses_look_at_module(const struct uses *uses, const struct agent_module_tables *module)
{
	const ElfW(Phdr) *headers = module->headers;

	for (unsigned i = 0; i < module->header_count; i++) {
		const uint8_t *start = (const uint8_t *)(module->base + headers[i].p_vaddr);

		if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_X))
			continue;
		if (!(headers[i].p_flags & PF_R))
			return false;
		uses_look(uses, start, start + headers[i].p_memsz);
	}
	return true;
}

/* Keeps those of the targets that only calls use. */
static uint32_t targets_keep_called(
        const struct agent_module_tables *module, struct agent_import_target *targets, uint32_t count)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct uses uses;
	uint32_t kept = 0;
	bool is_known;

	for (uint32_t i = 0; i < count; i++) {
		low = targets[i].slot < low ? targets[i].slot : low;
		high = targets[i].slot > high ? targets[i].slot : high;
	}
	if (!count)
		return 0;
	uses = (struct uses){.low = low, .bytes = high - low + 8};
	uses.of = sys_map(uses.bytes / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!uses.of)
		return 0;
	is_known = uses_look_at_module(&uses, module);
	for (uint32_t i = 0; is_known && i < count; i++)
		if (uses.of[(targets[i].slot - low) / 8] == USE_CALL)
			targets[kept++] = targets[i];
	sys_unmap(uses.of, uses.bytes / 8);
	return kept;
}

bool agent_import_is_only_called(const struct agent_module_tables *module, uint64_t slot)
{
	struct agent_import_target target = {.slot = slot};

	return targets_keep_called(module, &target, 1) == 1;
}

/* Imports for calls come first: they are in a table of relocations of their own. */
uint32_t agent_import_search(const struct agent_module_tables *module, const struct agent_import *imports,
        uint32_t count, const char *patterns, uint64_t *matched, struct agent_import_target *targets)
{
	uint32_t found = 0, i = 0;

	for (; i < count && imports[i].is_for_calls; i++)
		found += import_find_target(module, &imports[i], patterns, matched, &targets[found]);
	uint32_t others = 0;

	for (; i < count; i++)
		others += !imports[i].is_for_calls && import_find_target(module, &imports[i], patterns,
		                                              matched, &targets[found + others]);
	return found + targets_keep_called(module, targets + found, others);
}

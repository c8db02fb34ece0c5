/*
 * Any bytes as a file whose functions (--patch) and probes (--usdt) are to be recorded: what a
 * plan says lies within it.
 */
#include "file.h"
#include "launcher/planning/plan.h"
#include "launcher/planning/probe_plan.h"

static void check(int holds)
{
	if (!holds)
		abort();
}

static void check_plan(const struct fxt_plan *plan, size_t bytes)
{
	const struct fxt_plan_entry *entries = (const struct fxt_plan_entry *)(plan + 1);

	check(bytes == sizeof(*plan) + plan->count * sizeof(*entries) + plan->code_bytes);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct fxt_plan_entry *e = &entries[i];

		check(e->code + (size_t)e->code_bytes <= plan->code_bytes);
		check(e->original_bytes >= FXT_PLAN_JUMP_BYTES &&
		        e->original_bytes <= FXT_PLAN_ORIGINAL_BYTES);
		check(!e->constant || e->constant + 8 <= e->code_bytes);
		check(e->address == e->function || e->address == e->function + 4);
		check(i == 0 || e->address >= entries[i - 1].address + FXT_PLAN_JUMP_BYTES);
		for (unsigned n = 0; n < FXT_PLAN_FIXUPS && e->fixups[n]; n++)
			check(e->fixups[n] + 4 <= e->code_bytes);
	}
}

static void check_probes(const struct fxt_probe_plan *plan, size_t bytes)
{
	const struct fxt_probe *probes = (const struct fxt_probe *)(plan + 1);
	uint64_t end = 0; /* of the bytes that the last jump takes */
	uint8_t code_bytes = 0;

	check(bytes == sizeof(*plan) + plan->count * sizeof(*probes) + plan->code_bytes + plan->text_bytes);
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct fxt_probe *probe = &probes[i];

		if (probe->patch.code_bytes) {
			check(probe->patch.address >= end);
			check(probe->patch.code + (size_t)probe->patch.code_bytes <= plan->code_bytes);
			code_bytes = probe->patch.code_bytes;
			end = probe->patch.address + probe->patch.original_bytes;
		}
		check(probe->call + FXT_PLAN_CALL_BYTES <= code_bytes);
		check(probe->count <= FXT_PROBE_ARGUMENTS);
		check(probe->provider < plan->text_bytes && probe->name < plan->text_bytes);
		for (unsigned n = 0; n < probe->count; n++)
			check(probe->operands[n].name < plan->text_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	int fd = fuzz_file(data, bytes);
	struct fxt_plan *plan = NULL;
	size_t plan_bytes = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !fxt_plan_make(elf, &plan, &plan_bytes, NULL, NULL))
		check_plan(plan, plan_bytes);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		const char *const all = "*:*@arg1/s";
		struct fxt_probe_plan *probes = NULL;
		char *names = NULL;

		if (!fxt_probe_plan_make(elf, &all, 1, &probes, &plan_bytes, &names) && probes)
			check_probes(probes, plan_bytes);
		free(probes);
		free(names);
	}
	free(plan);
	elf_end(elf);
	close(fd);
	return 0;
}

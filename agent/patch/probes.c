/* Carries out plans of probes (probes.h), on the thread that starts or loads a module.
 * Checks each plan, and compares it with the code in memory, before it writes. */
#include "probes.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/base/arch.h"
#include "agent/base/notice.h"
#include "agent/base/self.h"
#include "agent/hook/probe_calls.h"
#include "agent/process/handshake.h"
#include "code.h"
#include "moved.h"
#include "near.h"

#if ARCH_HAS_THUNKS

#define MODULES    256
#define PAGE       UINT64_C(4096)
#define PLACE_STEP 16u

static struct probed {
	uint64_t low, high; /* of the module; 0: free */
	uint32_t count;
	const struct fxt_probe_plan *plan;
	uint64_t plan_bytes;
	uint8_t *code;
	size_t code_bytes, bytes;   /* of the code, and of all that is mapped there */
	struct agent_probe *probes; /* behind the code */
} modules[MODULES];

static void probes_notice(const struct agent_module_tables *module, const char *why)
{
	agent_notice("--usdt: no probes of ", module->path[0] ? module->path : "the program",
	        " are recorded: ", why, NULL);
}

/* ---- a plan ---- */

static const struct fxt_probe *plan_probes(const struct fxt_probe_plan *plan)
{
	return (const struct fxt_probe *)(plan + 1);
}

static const uint8_t *plan_code(const struct fxt_probe_plan *plan)
{
	return (const uint8_t *)(plan_probes(plan) + plan->count);
}

static const char *plan_texts(const struct fxt_probe_plan *plan)
{
	return (const char *)(plan_code(plan) + plan->code_bytes);
}

static bool plan_is_whole(const struct fxt_probe_plan *plan, uint64_t bytes)
{
	return bytes >= sizeof(*plan) && plan->magic == FXT_PROBE_PLAN_MAGIC &&
	       bytes == sizeof(*plan) + plan->count * sizeof(struct fxt_probe) + plan->code_bytes +
	                        plan->text_bytes &&
	       plan->text_bytes && plan_texts(plan)[plan->text_bytes - 1] == 0;
}

/* Whether a probe's arguments and names lie in the plan. */
static bool plan_probe_is_valid(const struct fxt_probe_plan *plan, const struct fxt_probe *probe)
{
	if (probe->count > FXT_PROBE_ARGUMENTS || probe->provider >= plan->text_bytes ||
	        probe->name >= plan->text_bytes)
		return false;
	for (unsigned i = 0; i < probe->count; i++) {
		unsigned bytes = probe->operands[i].bytes;

		if (probe->operands[i].name >= plan->text_bytes ||
		        (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
			return false;
	}
	return true;
}

/* The number of probes, out of `left`, that share the jump of the first one. 0: one of them
 * is not valid. */
static uint32_t plan_group(const struct fxt_probe_plan *plan, const struct fxt_probe *first, uint32_t left)
{
	uint32_t count = 0;

	if (!agent_moved_is_valid(&first->patch, plan->code_bytes))
		return 0;
	do {
		if (first[count].call + FXT_PLAN_CALL_BYTES > first->patch.code_bytes ||
		        !plan_probe_is_valid(plan, &first[count]))
			return 0;
	} while (++count < left && !first[count].patch.code_bytes);
	return count;
}

/* ---- on and off ---- */

/* Counts in the probe's semaphore, a word of the program's data. Other tools count there
 * too. */
static void probe_count(const struct agent_probe *probe, bool up)
{
	uint64_t address = probe->base + probe->plan->semaphore;
	uint16_t value;

	if (!probe->plan->semaphore || !agent_code_read(address, &value, sizeof(value)))
		return;
	value = (uint16_t)(up ? value + 1 : value - 1);
	agent_code_write_bytes(address, &value, sizeof(value));
}

static void probe_follow(struct agent_probe *probe)
{
	bool is_on = probe->way == agent_probe_enter, to_on = load_relaxed(probe->site.on);

	if (is_on == to_on)
		return;
	probe_count(probe, to_on);
	store_release(&probe->way, to_on ? agent_probe_enter : agent_probe_pass);
}

void agent_probes_follow(void)
{
	uint64_t mask;
	int kept;

	if (agent_is_standalone || !agent_engine.control || !agent_engine.control->records_probes)
		return;
	mask = fxt_lock(&agent_engine.lock);
	if (agent_code_open_for_now(&kept)) {
		for (unsigned i = 0; i < MODULES; i++)
			for (uint32_t n = 0; modules[i].high && n < modules[i].count; n++)
				probe_follow(&modules[i].probes[n]);
		agent_code_close_again(kept);
	}
	fxt_unlock(&agent_engine.lock, mask);
}

/* ---- carrying it out ---- */

static struct probed *probed_free_module(void)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (!modules[i].high)
			return &modules[i];
	return NULL;
}

static uint32_t probe_room(const struct fxt_probe *plan)
{
	return (plan->patch.code_bytes + PLACE_STEP - 1) & ~(PLACE_STEP - 1);
}

/* Maps memory near the module, for code and the probes behind it. */
static bool probed_map(struct probed *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		m->code_bytes += probe_room(&plan_probes(m->plan)[i]);
	m->code_bytes = (m->code_bytes + PAGE - 1) & ~(PAGE - 1);
	m->bytes = (m->code_bytes + m->count * sizeof(*m->probes) + PAGE - 1) & ~(PAGE - 1);
	m->code = agent_map_near(m->low, m->high, m->bytes);
	m->probes = (struct agent_probe *)(void *)(m->code + m->code_bytes);
	return m->code && !sys_is_error(sys_call6(SYS_mmap, (long)m->probes, (long)(m->bytes - m->code_bytes),
	                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static void probe_make(struct agent_probe *probe, const struct probed *m,
        const struct agent_module_tables *module, const struct fxt_probe *plan)
{
	const char *texts = plan_texts(m->plan);

	*probe = (struct agent_probe){.self = probe,
	        .way = agent_probe_pass,
	        .site = {.category = texts + plan->provider, .name = texts + plan->name},
	        .base = module->base,
	        .plan = plan,
	        .plan_texts = texts};
	probe->site.texts = probe->texts;
	probe->site.on = agent_said_category(probe->site.category);
}

/* Stores the distances of the call's two words. */
static void probe_link(const struct agent_probe *probe, uint8_t *code, uint64_t place)
{
	const struct {
		unsigned at;
		const void *word;
	} links[2] = {{probe->plan->call + FXT_PLAN_CALL_PUSHED, &probe->self},
	        {probe->plan->call + FXT_PLAN_CALL_CALLED, &probe->way}};

	for (unsigned i = 0; i < 2; i++) {
		int32_t distance = (int32_t)((uint64_t)(uintptr_t)links[i].word -
		                             (place + links[i].at + sizeof(distance)));

		memcpy(code + links[i].at, &distance, sizeof(distance));
	}
}

/* Puts the code of `count` probes with one jump at `place`, and the jump there. */
static bool probes_put(const struct agent_module_tables *module, const struct probed *m,
        struct agent_probe *probes, const struct fxt_probe *plan, uint32_t count, uint64_t place)
{
	uint8_t code[UINT8_MAX + 1];

	if (!agent_moved_put(module, &plan->patch, plan_code(m->plan), code, place))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		probe_make(&probes[i], m, module, &plan[i]);
		probe_link(&probes[i], code, place);
	}
	return agent_code_write_bytes(place, code, plan->patch.code_bytes) &&
	       agent_moved_jump(module, &plan->patch, place);
}

/* Returns NULL, or why none is recorded. */
static const char *probed_carry_out(const struct agent_module_tables *module, struct probed *m)
{
	const struct fxt_probe *plan = plan_probes(m->plan), *end = plan + m->count;
	uint64_t place;
	uint32_t kept = 0;

	if (!probed_map(m))
		return "there is no room or no permission for code near the program's";
	place = (uint64_t)(uintptr_t)m->code;
	for (uint32_t count; plan < end; plan += count ? count : 1) {
		count = plan_group(m->plan, plan, (uint32_t)(end - plan));
		if (!count || !agent_moved_fits(module, &plan->patch))
			continue;
		if (!probes_put(module, m, &m->probes[kept], plan, count, place)) {
			m->count = kept;
			return kept ? NULL : "the system does not let code be changed";
		}
		for (uint32_t i = 0; i < count; i++)
			probe_follow(&m->probes[kept++]);
		place += probe_room(plan);
	}
	m->count = kept;
	return NULL;
}

static void probed_give_back(const struct probed *m)
{
	if (m->code)
		sys_unmap(m->code, m->bytes);
	sys_unmap((void *)m->plan, m->plan_bytes);
}

/* The loader, the unwinder, and the libraries that the agent needs. */
static const char *const foreign[] = {"ld-linux", "libc.so", "libgcc_s.so", "libfxtagent.so", NULL};

/* Whether the module's plan was carried out before a detach. */
static bool probed_is_known(const struct agent_module_tables *module)
{
	for (unsigned i = 0; i < MODULES; i++)
		if (modules[i].high && modules[i].low == module->low)
			return true;
	return false;
}

void agent_probes_take(const struct agent_module_tables *module)
{
	struct probed *free_module = probed_free_module();
	struct probed m = {.low = module->low, .high = module->high};
	const char *why = "/proc/self/mem cannot be opened";
	int kept;

	if (agent_is_standalone || !agent_engine.control->records_probes || !free_module ||
	        agent_path_is_of(module->path, foreign) || probed_is_known(module))
		return;
	if (arch_is_emulated()) {
		if (module->id == AGENT_MODULE_PROGRAM)
			agent_notice("--usdt: no probes are recorded: an emulator runs the program", NULL);
		return;
	}
	m.plan = agent_request_plan(FXT_PLAN_PROBES, module->path, &m.plan_bytes);
	if (!m.plan)
		return;
	m.count = m.plan->count;
	if (plan_is_whole(m.plan, m.plan_bytes) && m.count && agent_code_open_for_now(&kept)) {
		agent_code_forget();
		why = probed_carry_out(module, &m);
		agent_code_close_again(kept);
	}
	if (!why)
		*free_module = m;
	else
		probed_give_back(&m);
	if (why && m.count)
		probes_notice(module, why);
}

void agent_probes_retire(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MODULES; i++) {
		struct probed *m = &modules[i];

		if (!m->high || m->low >= end || m->high <= start)
			continue;
		probed_give_back(m);
		m->high = 0;
	}
}

#else

void agent_probes_take(const struct agent_module_tables *module)
{
	if (!agent_is_standalone && agent_engine.control->records_probes &&
	        module->id == AGENT_MODULE_PROGRAM)
		agent_notice("--usdt: no probes are recorded: the processor is not an x86-64", NULL);
}

void agent_probes_follow(void)
{
}

void agent_probes_retire(uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
}

#endif

/* The table of loaded modules and the records about them (modules.h). Runs on any thread
 * that calls a new function, inside its hook. It must never take a lock of the loader's
 * there: a thread inside dlopen() may be waiting for the engine's lock. */
#include "modules.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include "agent/hook/filter.h"
#include "agent/base/self.h"
#include "writer/engine/decisions.h"
#include "writer/format/encode.h"
#include "writer/format/escape.h"

#define TEXT_BYTES   4608 /* a path of 4096, and the other fields */
#define BUILD_ID_MAX 64
#define TAIL_BYTES   (2 * BUILD_ID_MAX + 16) /* what follows the path */

/* A module's id is its index here + 1. Path and headers are the loader's, and exist while
 * the module is loaded; path NULL: it is unloaded. */
static struct module {
	uint64_t base;
	uint64_t low, high; /* all its segments lie between these addresses */
	const char *path;
	const ElfW(Phdr) * headers;
	unsigned header_count;
} modules[AGENT_MODULES];
static uint32_t module_count;

/* The executable segments of all modules. */
static struct segment {
	uint64_t start, end;
	uint32_t module;
} segments[AGENT_MODULES];
static uint32_t segment_count;

/* Buffer for one record: too large for a hook's stack, used under the engine's lock. */
static char text[TEXT_BYTES];
static uint64_t log_record[TEXT_BYTES / 8 + 8];
static char executable[4096], directory[4096];

static size_t module_log_append(size_t length, const char *piece)
{
	size_t bytes = strlen(piece);

	if (bytes > TEXT_BYTES - length)
		bytes = TEXT_BYTES - length;

	memcpy(text + length, piece, bytes);
	return length + bytes;
}

static size_t module_log_append_number(size_t length, uint64_t number, unsigned base)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = "0123456789abcdef"[number % base];
	while (number /= base);
	if (base == 16)
		length = module_log_append(length, "0x");
	return module_log_append(length, digits + at);
}

static void module_log_write(size_t length)
{
	struct fxt_engine *e = &agent_engine;
	size_t words = fxt_put_log(log_record, sizeof(log_record) / 8, fxt_clock_ticks(e->clock),
	        fxt_thread_inline(e->process_koid, (uint64_t)e->pid), text, length);

	if (words && !fxt_durable_write(e, log_record, words, true))
		e->control->modules_unwritten++;
}

static bool modules_find_build_id(const struct module *module, const uint8_t **id, size_t *bytes)
{
	for (unsigned i = 0; i < module->header_count; i++) {
		const uint8_t *note = (const uint8_t *)(module->base + module->headers[i].p_vaddr);
		const uint8_t *end = note + module->headers[i].p_memsz;

		if (module->headers[i].p_type != PT_NOTE)
			continue;
		while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
			const uint8_t *name = note + sizeof(*header);
			const uint8_t *description = name + ((header->n_namesz + 3u) & ~3u);

			note = description + ((header->n_descsz + 3u) & ~3u);
			if (note > end || note < description)
				break;
			if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
			        memcmp(name, "GNU", 4) == 0 && header->n_descsz <= BUILD_ID_MAX) {
				*id = description;
				*bytes = header->n_descsz;
				return true;
			}
		}
	}
	return false;
}

/* Appends a piece escaped, because a log record is UTF-8. A piece that does not fit is cut,
 * so that the rest of the record keeps its room. */
static size_t module_log_append_escaped(size_t length, const char *piece)
{
	return length + fxt_escape(text + length, TEXT_BYTES - TAIL_BYTES - length, piece, strlen(piece));
}

static size_t module_log_append_path(size_t length, const char *path)
{
	if (path[0] == 0)
		path = executable;
	/* The symbolizer may work elsewhere. The vdso has no directory. */
	if (path[0] != '/' && strchr(path, '/')) {
		length = module_log_append_escaped(length, directory);
		length = module_log_append_escaped(length, "/");
	}
	return module_log_append_escaped(length, path);
}

/* Under the lock: writes the log records of a module. */
static void modules_record(uint32_t id)
{
	static const char hex[] = "0123456789abcdef";
	const struct module *module = &modules[id - 1];
	const uint8_t *build_id;
	size_t build_id_bytes, length;

	length = module_log_append(0, "{{{module:");
	length = module_log_append_number(length, id, 10);
	length = module_log_append(length, ":");
	length = module_log_append_path(length, module->path);
	length = module_log_append(length, ":elf:");
	if (modules_find_build_id(module, &build_id, &build_id_bytes))
		for (size_t i = 0; i < build_id_bytes; i++)
			length = module_log_append(
			        length, (char[]){hex[build_id[i] >> 4], hex[build_id[i] & 15], 0});
	length = module_log_append(length, "}}}");
	module_log_write(length);
	for (unsigned i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & (PF_X | PF_W)))
			continue;
		length = module_log_append(0, "{{{mmap:");
		length = module_log_append_number(length, module->base + header->p_vaddr, 16);
		length = module_log_append(length, ":");
		length = module_log_append_number(length, header->p_memsz, 16);
		length = module_log_append(length, ":load:");
		length = module_log_append_number(length, id, 10);
		length = module_log_append(length, header->p_flags & PF_X ? ":rx:" : ":rw:");
		length = module_log_append_number(length, header->p_vaddr, 16);
		length = module_log_append(length, "}}}");
		module_log_write(length);
	}
}

/* Under the lock: adds a module that is seen for the first time. */
static void modules_add(uint64_t base, const char *path, const ElfW(Phdr) * headers, unsigned count)
{
	if (module_count == AGENT_MODULES)
		return; /* the table is full: functions of later modules are shown by address */
	struct module *module = &modules[module_count];

	*module = (struct module){base, UINT64_MAX, 0, path, headers, count};
	for (unsigned i = 0; i < count; i++) {
		uint64_t start = base + headers[i].p_vaddr, end = start + headers[i].p_memsz;

		if (headers[i].p_type != PT_LOAD)
			continue;
		module->low = start < module->low ? start : module->low;
		module->high = end > module->high ? end : module->high;
	}
	/* Release: a reader that sees it counted sees its data. */
	store_release(&module_count, module_count + 1);
	for (unsigned i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X) &&
		        segment_count < AGENT_MODULES)
			segments[segment_count++] = (struct segment){base + headers[i].p_vaddr,
			        base + headers[i].p_vaddr + headers[i].p_memsz, module_count};
	modules_record(module_count);
}

void agent_modules_record_known(void)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);

	for (uint32_t id = 1; id <= module_count; id++)
		if (modules[id - 1].path)
			modules_record(id);
	fxt_unlock(&agent_engine.lock, mask);
}

/* For agent_modules_renew(): the modules that are still loaded, a bit each; NULL: none is
 * known. */
static uint8_t *still_loaded;

static bool modules_is_still_loaded(const struct dl_phdr_info *info)
{
	for (uint32_t i = 0; still_loaded && i < module_count; i++)
		if (modules[i].path == info->dlpi_name && modules[i].base == info->dlpi_addr &&
		        modules[i].headers == info->dlpi_phdr) {
			still_loaded[i / 8] = (uint8_t)(still_loaded[i / 8] | 1 << i % 8);
			return true;
		}
	return false;
}

static int modules_record_loaded(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uint64_t mask;

	(void)bytes;
	(void)context;
	if (modules_is_still_loaded(info))
		return 0;
	/* The kernel's vdso has no file; its name is no path. */
	if (info->dlpi_name[0] != 0 && !strchr(info->dlpi_name, '/'))
		return 0;
	mask = fxt_lock(&agent_engine.lock);
	modules_add(info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum);
	fxt_unlock(&agent_engine.lock, mask);
	return 0;
}

static void modules_read_paths(void)
{
	long bytes = sys_call(
	        SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)executable, sizeof(executable) - 1);

	executable[bytes > 0 ? bytes : 0] = 0;
	if (sys_call(SYS_getcwd, directory, sizeof(directory), 0, 0) <= 0)
		directory[0] = 0;
}

void agent_modules_record_all(void)
{
	segment_count = module_count = 0;
	modules_read_paths();
	dl_iterate_phdr(modules_record_loaded, NULL);
}

void agent_modules_renew(void (*code_goes)(uint64_t start, uint64_t end))
{
	static uint8_t bits[AGENT_MODULES / 8];
	uint32_t before = module_count;
	uint64_t mask;

	memset(bits, 0, sizeof(bits));
	still_loaded = bits;
	dl_iterate_phdr(modules_record_loaded, NULL);
	still_loaded = NULL;
	mask = fxt_lock(&agent_engine.lock);
	for (uint32_t i = 0; i < before; i++)
		if (modules[i].path && !(bits[i / 8] >> i % 8 & 1))
			agent_module_retire(i + 1, code_goes);
	fxt_unlock(&agent_engine.lock, mask);
}

/* The loader's lock-free look-up, where libc has it (glibc 2.35). */
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

static bool modules_add_at(uint64_t address)
{
	struct dl_find_object found;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)address, &found) != 0 ||
	        !found.dlfo_link_map)
		return false;
	const ElfW(Ehdr) *header = found.dlfo_map_start;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	modules_add(found.dlfo_link_map->l_addr, found.dlfo_link_map->l_name,
	        (const ElfW(Phdr) *)((const uint8_t *)header + header->e_phoff), header->e_phnum);
	return true;
}

/* Finds only modules that are known already. */
static uint32_t modules_find_known(uint64_t address)
{
	for (uint32_t i = 0; i < segment_count; i++)
		if (address - segments[i].start < segments[i].end - segments[i].start)
			return segments[i].module;
	return 0;
}

/* Under the lock. */
static uint32_t modules_find(uint64_t address)
{
	uint32_t id = modules_find_known(address);

	return id || module_count == AGENT_MODULES || !modules_add_at(address) ? id
	                                                                       : modules_find_known(address);
}

uint32_t agent_module_at(uint64_t address)
{
	uint64_t mask = fxt_lock(&agent_engine.lock);
	uint32_t id = modules_find(address);

	fxt_unlock(&agent_engine.lock, mask);
	return id;
}

/* at first; each pause is a switch in the trace */
#define DECISION_PAUSE_NS   UINT64_C(50000)
#define DECISION_PAUSES_NS  UINT64_C(1000000)
#define MANAGER_PATIENCE_NS UINT64_C(1000000000)
#define NAMER_PATIENCE_NS   UINT64_C(60000000000)

/*
 * Waits until the manager has decided on a function, in a session where it matters which
 * calls a call is inside of. Waits as long as the manager lives, and a minute at most.
 * After one wait in vain the process does not wait again. There is no wait either in a
 * child that a handler makes in between: the reference does not belong to the child's
 * generation.
 */
static void modules_await_decision(uint64_t ref, uint32_t generation)
{
	static uint32_t given_up;
	const struct fxt_control *control = agent_engine.control;
	uint32_t beat = load_relaxed(&control->heartbeat);
	uint64_t began = fxt_monotonic_ns(), seen = began, pause = DECISION_PAUSE_NS, now;

	while (!agent_filter_knows(ref) && !load_relaxed(&given_up) &&
	        load_relaxed(&agent_engine.generation) == generation &&
	        load_relaxed(&sys_confinement) == SYS_FREE &&
	        FXT_SESSION_COMMAND(load_relaxed(&control->session_command)) == FXT_COMMAND_START) {
		sys_pause_ns(pause);
		pause = pause < DECISION_PAUSES_NS ? pause + pause / 4 : pause;
		now = fxt_monotonic_ns();
		if (beat != load_relaxed(&control->heartbeat)) {
			beat = load_relaxed(&control->heartbeat);
			seen = now;
		}
		if (now - seen > MANAGER_PATIENCE_NS || now - began > NAMER_PATIENCE_NS)
			store_relaxed(&given_up, 1);
	}
}

void agent_await_decision(uint64_t ref)
{
	if (!agent_filter_knows(ref))
		modules_await_decision(ref, load_relaxed(&agent_engine.generation));
}

uint64_t agent_function_ref(uint64_t address)
{
	struct fxt_engine *e = &agent_engine;
	uint64_t ref = fxt_function_find(&e->functions, address), mask;
	uint32_t generation;

	if (ref && agent_filter_knows(ref))
		return ref;
	mask = fxt_lock(&e->lock);
	generation = e->generation;
	fxt_decisions_carry_out(e);
	ref = fxt_function_search(e, address);
	if (!ref)
		ref = fxt_function_register(e, address, modules_find(address));
	fxt_unlock(&e->lock, mask);
	if (!e->control->awaits_decisions)
		return ref;
	/* The decision may have arrived by now without having been carried out. */
	if (!agent_filter_knows(ref))
		modules_await_decision(ref, generation);
	mask = fxt_lock(&e->lock);
	if (e->generation == generation)
		fxt_decisions_carry_out_on(e, ref); /* it may be excluded */
	ref = fxt_function_search(e, address);
	fxt_unlock(&e->lock, mask);
	return ref;
}

uint32_t agent_module_known_around(uint64_t address)
{
	/* Acquire: pairs with the release in modules_add(). */
	uint32_t count = load_acquire(&module_count);

	for (uint32_t id = 1; id <= count; id++) {
		const struct module *module = &modules[id - 1];

		/* The headers of other modules may be about to be unmapped. */
		if (!load_relaxed(&module->path) || address < module->low || address >= module->high)
			continue;
		for (unsigned i = 0; i < module->header_count; i++) {
			const ElfW(Phdr) *header = &module->headers[i];

			if (header->p_type == PT_LOAD &&
			        address - module->base - header->p_vaddr < header->p_memsz)
				return id;
		}
	}
	return 0;
}

uint32_t agent_module_around(uint64_t address)
{
	uint32_t id = agent_module_known_around(address);

	if (!id && module_count < AGENT_MODULES && modules_add_at(address))
		id = agent_module_known_around(address);
	return id;
}

/* The address of the unwind table (PT_GNU_EH_FRAME); 0: there is none. */
static uint64_t module_unwind_table(uint64_t base, const ElfW(Phdr) * headers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			return base + headers[i].p_vaddr;
	return 0;
}

uint64_t agent_module_unwind_table(uint64_t address)
{
	uint32_t id = agent_module_known_around(address);
	const struct module *module = &modules[id ? id - 1 : 0];

	return id ? module_unwind_table(module->base, module->headers, module->header_count) : 0;
}

/* For a module that is not known yet. */
static bool modules_find_headers(uint64_t address, struct agent_module_tables *tables)
{
	struct dl_find_object found;
	const ElfW(Ehdr) * header;
	uint64_t bytes;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)address, &found) != 0 ||
	        !found.dlfo_link_map)
		return false;
	header = found.dlfo_map_start;
	bytes = (uint64_t)((const uint8_t *)found.dlfo_map_end - (const uint8_t *)header);
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr)) ||
	        header->e_phoff > bytes || header->e_phnum > (bytes - header->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	tables->base = found.dlfo_link_map->l_addr;
	tables->headers = (const uint8_t *)header + header->e_phoff;
	tables->header_count = header->e_phnum;
	return true;
}

void agent_module_describe(uint32_t id, struct agent_module_tables *tables)
{
	const struct module *module = &modules[id - 1];

	*tables = (struct agent_module_tables){.base = module->base,
	        .unwind = module_unwind_table(module->base, module->headers, module->header_count),
	        .headers = module->headers,
	        .header_count = module->header_count,
	        .id = id,
	        .path = module->path,
	        .low = module->low,
	        .high = module->high};
}

void agent_modules_each(void (*function)(const struct agent_module_tables *module))
{
	struct agent_module_tables tables;

	for (uint32_t id = 1; id <= module_count; id++)
		if (modules[id - 1].path) {
			agent_module_describe(id, &tables);
			function(&tables);
		}
}

bool agent_module_find_tables(uint64_t address, struct agent_module_tables *tables)
{
	uint32_t id = agent_module_known_around(address);

	if (id) {
		agent_module_describe(id, tables);
		return tables->unwind != 0;
	}
	if (!modules_find_headers(address, tables))
		return false;
	tables->unwind = module_unwind_table(tables->base, tables->headers, tables->header_count);
	return tables->unwind != 0;
}

uint64_t agent_module_readable_end(const struct agent_module_tables *tables, uint64_t address)
{
	const ElfW(Phdr) *headers = tables->headers;

	for (unsigned i = 0; i < tables->header_count; i++) {
		uint64_t start = tables->base + headers[i].p_vaddr;

		if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_R) &&
		        address - start < headers[i].p_memsz)
			return start + headers[i].p_memsz;
	}
	return address;
}

const void *agent_module_dynamic(const struct agent_module_tables *tables)
{
	const ElfW(Phdr) *headers = tables->headers;

	for (unsigned i = 0; i < tables->header_count; i++)
		if (headers[i].p_type == PT_DYNAMIC)
			return (const void *)(tables->base + headers[i].p_vaddr);
	return NULL;
}

bool agent_path_is_of(const char *path, const char *const names[])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; names[i]; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool agent_module_is_code(uint64_t address)
{
	struct dl_find_object found;

	/* First, because most values that are looked up are no addresses at all. */
	if (address >> 47 || (_dl_find_object && _dl_find_object((void *)(uintptr_t)address, &found) != 0))
		return false;
	/* In a module that is not known yet, everything is taken for code. */
	return modules_find_known(address) || (_dl_find_object && !agent_module_known_around(address));
}

/* ---- modules that go ---- */

void agent_module_retire(uint32_t module, void (*code_goes)(uint64_t start, uint64_t end))
{
	struct module *gone = &modules[module - 1];

	store_relaxed(&gone->path, NULL);
	for (uint32_t i = 0; i < segment_count; i++)
		if (segments[i].module == module)
			segments[i--] = segments[--segment_count];
	/* Its headers are not read: after a detach the module may be unmapped already. The
	 * loader maps a module into one range of addresses, so nothing else lies in
	 * between. */
	if (agent_engine.functions.entries && gone->low < gone->high) {
		fxt_functions_retire(&agent_engine, gone->low, gone->high);
		code_goes(gone->low, gone->high);
	}
}

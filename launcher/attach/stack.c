/*
 * Judges the stacks of stopped threads (stack.h), by elfutils' unwinder. Reads only. It
 * must not look for debug information in the network, which elfutils does unless told
 * otherwise.
 */
#include "stack.h"
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/preload.h"
#include "symbolizer/demangle.h"

/* More frames mean a recursion; the innermost ones tell enough. */
#define FRAMES_MAX 4096

/* Longer names are cut. */
#define NAME_BYTES 256

/* Functions during which a thread has locks, or has something half done, that loading a
 * library needs: memory, libraries, threads, processes, and the end. Allocators of the
 * program's own have these names too. */
static const char *const busy_names[] = {"malloc", "calloc", "realloc", "reallocarray", "free", "cfree",
        "memalign", "posix_memalign", "aligned_alloc", "valloc", "pvalloc", "malloc_trim", "malloc_info",
        "malloc_stats", "mallinfo", "mallinfo2", "mallopt", "malloc_usable_size", "dlopen", "dlmopen",
        "dlclose", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dlerror", "dl_iterate_phdr",
        "pthread_create", "pthread_exit", "pthread_detach", "pthread_getattr_np",
        "pthread_setattr_default_np", "thrd_create", "thrd_exit", "fork", "_Fork", "vfork", "posix_spawn",
        "posix_spawnp", "exit", "quick_exit", "atexit", "on_exit", "__cxa_atexit", "__cxa_at_quick_exit",
        "__cxa_thread_atexit_impl", "__cxa_finalize", "setuid", "setgid", "setreuid", "setregid", "setresuid",
        "setresgid", "seteuid", "setegid", "setgroups", "__tls_get_addr", "__libc_freeres",
        "__register_atfork", "pthread_atfork"};

/* The same for C++: operator new and delete. */
static const char *const busy_beginnings[] = {"_Znw", "_Zna", "_Zdl", "_Zda"};

struct fxt_stacks {
	Dwfl *dwfl;
};

struct stack_walk {
	Dwfl *dwfl;
	struct fxt_stack stack;
	unsigned frames;
	bool was_busy; /* the frame before was in such a function */
};

static int stacks_find_no_debug_information(Dwfl_Module *module, void **user, const char *name,
        Dwarf_Addr base, const char *file, const char *link, GElf_Word checksum, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)checksum, (void)found;
	return -1;
}

struct fxt_stacks *fxt_stacks_open(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = {
	        .find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = stacks_find_no_debug_information};
	struct fxt_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->dwfl = dwfl_begin(&callbacks);
	if (s->dwfl && dwfl_linux_proc_report(s->dwfl, pid) == 0 &&
	        dwfl_report_end(s->dwfl, NULL, NULL) == 0 && dwfl_linux_proc_attach(s->dwfl, pid, true) == 0)
		return s;
	fxt_stacks_close(s);
	return NULL;
}

void fxt_stacks_close(struct fxt_stacks *s)
{
	if (s && s->dwfl)
		dwfl_end(s->dwfl);
	free(s);
}

/* The file name of a module. */
static const char *stack_module_name(Dwfl_Module *module)
{
	const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* True for "ld-linux-x86-64.so.2" and "ld-2.31.so". */
static bool stack_is_loader(Dwfl_Module *module)
{
	return strncmp(stack_module_name(module), "ld-", 3) == 0;
}

/* The name of the symbol that the instruction is in; NULL: none is known. */
static const char *stack_symbol(Dwfl_Module *module, uint64_t pc)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);

	return name && offset < symbol.st_size ? name : NULL;
}

static bool stack_is_busy_name(const char *name)
{
	for (size_t i = 0; i < sizeof(busy_names) / sizeof(*busy_names); i++)
		if (strcmp(name, busy_names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(busy_beginnings) / sizeof(*busy_beginnings); i++)
		if (strncmp(name, busy_beginnings[i], strlen(busy_beginnings[i])) == 0)
			return true;
	return false;
}

/* True if the instruction is in a function that must not be interrupted. */
static bool stack_is_busy(Dwfl *dwfl, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	const char *name = module ? stack_symbol(module, pc) : NULL;

	return module && (stack_is_loader(module) || (name && stack_is_busy_name(name)));
}

static int stack_take_frame(Dwfl_Frame *frame, void *context)
{
	struct stack_walk *w = context;
	Dwarf_Addr pc;
	bool is_activation;

	if (!dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	/* A return address may be that of the next function. */
	if (stack_is_busy(w->dwfl, pc - !is_activation)) {
		w->stack.is_safe = false;
		w->was_busy = true;
	} else if (w->was_busy) {
		w->stack.next = pc;
		w->was_busy = false;
	}
	return ++w->frames < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

struct fxt_stack fxt_stacks_look(struct fxt_stacks *s, pid_t tid)
{
	struct stack_walk w = {.dwfl = s->dwfl, .stack = {.is_safe = true}};

	w.stack.is_whole = dwfl_getthread_frames(s->dwfl, tid, stack_take_frame, &w) == 0;
	if (w.was_busy) /* the outermost frames are of such functions */
		w.stack.next = 0;
	return w.stack;
}

/* ---- paths ---- */

static int stack_keep_frame(Dwfl_Frame *frame, void *context)
{
	struct fxt_stack_frames *frames = context;
	Dwarf_Addr pc;
	bool is_activation;

	if (!dwfl_frame_pc(frame, &pc, &is_activation))
		return DWARF_CB_ABORT;
	frames->pcs[frames->count++] = pc - !is_activation;
	return frames->count < FXT_STACK_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void fxt_stacks_take(struct fxt_stacks *s, pid_t tid, struct fxt_stack_frames *frames)
{
	frames->count = 0;
	dwfl_getthread_frames(s->dwfl, tid, stack_keep_frame, frames);
}

/* True for the C library, and for the agent, whose functions call those of the C library. */
static bool stack_is_library(Dwfl_Module *module)
{
	const char *name = stack_module_name(module);

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libpthread", 10) == 0 ||
	       strcmp(name, FXT_AGENT_FILE) == 0 || stack_is_loader(module);
}

/* The name of the function that a frame of the module is in; 0 bytes: it has none. */
static size_t stack_name(Dwfl_Module *module, uint64_t pc, bool is_library, char name[FXT_NAME_ROOM])
{
	const char *symbol = stack_symbol(module, pc);
	GElf_Addr bias = 0;

	if (symbol && strcmp(symbol, "_start") != 0)
		return fxt_demangle(symbol, name);
	if (symbol || is_library)
		return 0;
	dwfl_module_getelf(module, &bias);
	return (size_t)snprintf(name, FXT_NAME_ROOM, "%s+0x%" PRIx64, stack_module_name(module), pc - bias);
}

size_t fxt_stacks_path(struct fxt_stacks *s, const struct fxt_stack_frames *frames, char *path, size_t room)
{
	char *all = malloc(FXT_STACK_FRAMES * NAME_BYTES), name[FXT_NAME_ROOM];
	size_t bytes = 0, from = 0;
	bool was_library = true;

	for (unsigned i = frames->count; all && i-- > 0;) {
		Dwfl_Module *module = dwfl_addrmodule(s->dwfl, frames->pcs[i]);
		bool is_library = module && stack_is_library(module);
		size_t length = module && !(is_library && was_library)
		                        ? stack_name(module, frames->pcs[i], is_library, name)
		                        : 0;

		was_library = is_library || bytes + length == 0; /* so is _start */
		while (length >= NAME_BYTES || (length > 0 && (name[length] & 0xc0) == 0x80))
			length--; /* not in the middle of a character */
		if (length > 0) {
			memcpy(all + bytes, name, length);
			all[bytes + length] = 0;
			bytes += length + 1;
		}
	}
	while (bytes - from > room)
		from += strlen(all + from) + 1;
	if (bytes > from)
		memcpy(path, all + from, bytes - from);
	free(all);
	return bytes - from;
}

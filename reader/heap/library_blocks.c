#include "library_blocks.h"

#include "writer/format/c_library.h"

/* More functions than the C library calls below one of these. */
enum { LIBRARY_FRAMES = 64 };

/* Functions of the C library that keep what is allocated below them, from some number of
 * its functions on: iconv_open() itself hands out a block, and so does the function that it
 * calls. */
static const struct keeper {
	const char *name;
	unsigned least_frames;
} keepers[] = {
        {"_IO_file_doallocate", 1},
        {"_IO_wfile_doallocate", 1},
        {"__add_to_environ", 1},
        {"__cxa_at_quick_exit", 1},
        {"__cxa_atexit", 1},
        {"__cxa_thread_atexit_impl", 1},
        {"__libc_unwind_link_get", 1},
        {"__register_atfork", 1},
        {"bind_textdomain_codeset", 1},
        {"bindtextdomain", 1},
        {"btowc", 1},
        {"dcgettext", 1},
        {"dcngettext", 1},
        {"dgettext", 1},
        {"dlclose", 1},
        {"dlerror", 1},
        {"dlmopen", 1},
        {"dlopen", 1},
        {"dlsym", 1},
        {"dngettext", 1},
        {"endgrent", 1},
        {"endpwent", 1},
        {"getgrent", 1},
        {"getgrgid", 1},
        {"getgrgid_r", 1},
        {"getgrnam", 1},
        {"getgrnam_r", 1},
        {"gethostbyaddr", 1},
        {"gethostbyname", 1},
        {"gethostbyname2", 1},
        {"getprotobyname", 1},
        {"getpwent", 1},
        {"getpwnam", 1},
        {"getpwnam_r", 1},
        {"getpwuid", 1},
        {"getpwuid_r", 1},
        {"getservbyname", 1},
        {"getservbyport", 1},
        {"gettext", 1},
        {"iconv_open", 3},
        {"initgroups", 1},
        {"localtime", 1},
        {"localtime_r", 1},
        {"mbrtowc", 1},
        {"mbstowcs", 1},
        {"mktime", 1},
        {"ngettext", 1},
        {"on_exit", 1},
        {"pthread_create", 1},
        {"pthread_exit", 1},
        {"pthread_setspecific", 1},
        {"putenv", 1},
        {"setenv", 1},
        {"setlocale", 1},
        {"strerror", 1},
        {"strftime", 1},
        {"strsignal", 1},
        {"syslog", 1},
        {"textdomain", 1},
        {"tzset", 1},
        {"vsyslog", 1},
        {"wcrtomb", 1},
};

/* The initialiser of the C++ library that allocates its pool, in a program that it is linked
 * into. */
#define CXX_POOL "_GLOBAL__sub_I_eh_alloc.cc"

/* A function as recorded, with its module. */
struct function {
	struct fxt_span name, module;
};

static struct function library_function(const struct fxt_heap *h, uint32_t name)
{
	const struct fxt_identity *identity = fxt_tables_identity(&h->tables, name);
	const struct fxt_origin *origin;

	if (name == FXT_NOTHING)
		return (struct function){0};
	if (identity)
		return (struct function){
		        h->tables.strings[identity->name], h->tables.strings[identity->module]};
	origin = fxt_origins_next(&h->origins, name, NULL);
	if (!origin || origin->module == FXT_NOTHING)
		return (struct function){0};
	return (struct function){h->tables.strings[name], h->tables.strings[origin->module]};
}

static bool library_is_keeper(struct fxt_span name, unsigned frames)
{
	for (size_t i = 0; i < sizeof(keepers) / sizeof(*keepers); i++)
		if (fxt_span_is(name, keepers[i].name))
			return frames >= keepers[i].least_frames;
	return false;
}

/* The C++ library's initialisers keep what they allocate: the pool of 72,704 bytes for
 * exceptions that are thrown when memory is short. */
static bool library_is_cxx(struct fxt_span module)
{
	size_t at = module.bytes;

	while (at > 0 && module.data[at - 1] != '/')
		at--;
	struct fxt_span name = {module.data + at, module.bytes - at};

	return fxt_begins_with(name, "libstdc++.so") || fxt_begins_with(name, "libc++.so") ||
	       fxt_begins_with(name, "libc++abi.so");
}

/* True if the C library keeps what it allocates on that path, or the C++ library what it
 * allocates when the loader initialises it. */
static bool library_keeps(const struct fxt_heap *h, const struct fxt_heap_node *node)
{
	bool is_cxx = false;

	for (unsigned frames = 1; frames <= LIBRARY_FRAMES && node->id != 0; frames++) {
		struct function function = library_function(h, node->name);
		enum fxt_c_library kind = fxt_c_library(function.module.data, function.module.bytes);

		if (kind == FXT_C_LOADER || fxt_span_is(function.name, CXX_POOL))
			return true;
		if (kind == FXT_NOT_C_LIBRARY ? !library_is_cxx(function.module) : is_cxx)
			return false;
		is_cxx |= kind == FXT_NOT_C_LIBRARY;
		if (!is_cxx && library_is_keeper(function.name, frames))
			return true;
		node = &h->nodes[node->parent];
	}
	return false;
}

static void library_move(struct fxt_heap_sums *from, struct fxt_heap_sums *to, struct fxt_heap_sums sums)
{
	to->blocks += sums.blocks;
	to->bytes += sums.bytes;
	from->blocks -= sums.blocks;
	from->bytes -= sums.bytes;
	/* Sums of estimates leave a rest that comes from rounding. */
	if (from->blocks < 0.5)
		*from = (struct fxt_heap_sums){0};
}

void fxt_heap_set_kept_apart(struct fxt_heap *h)
{
	for (size_t i = 0; i < h->node_count; i++) {
		struct fxt_heap_node *node = &h->nodes[i];
		struct fxt_heap_sums sums = node->leaked;

		if (sums.blocks == 0 || !library_keeps(h, node))
			continue;
		library_move(&node->leaked, &node->kept, sums);
		library_move(&h->processes[node->process].leaked, &h->processes[node->process].kept, sums);
	}
}

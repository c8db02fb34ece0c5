/*
 * Tells the modules of the C library by their file names. Allocations that these modules
 * make for themselves are not the program's (agent/heap/heap_record.c, reader/heap/heap.c).
 */
#ifndef FXT_WRITER_C_LIBRARY_H
#define FXT_WRITER_C_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

enum fxt_c_library {
	FXT_NOT_C_LIBRARY,
	FXT_C_LIBRARY, /* libc.so.6, libc-2.31.so, libpthread.so.0 */
	FXT_C_LOADER   /* ld-linux-x86-64.so.2, ld-2.31.so */
};

static inline bool fxt_name_begins(const char *name, size_t bytes, const char *with, size_t with_bytes)
{
	return bytes >= with_bytes && __builtin_memcmp(name, with, with_bytes) == 0;
}

static inline enum fxt_c_library fxt_c_library(const char *path, size_t bytes)
{
	size_t name = bytes;

	while (name > 0 && path[name - 1] != '/')
		name--;
	path += name;
	bytes -= name;
	if (fxt_name_begins(path, bytes, "ld-", 3) || fxt_name_begins(path, bytes, "ld64.so", 7))
		return FXT_C_LOADER;
	if (fxt_name_begins(path, bytes, "libc.so", 7) || fxt_name_begins(path, bytes, "libc-2.", 7) ||
	        fxt_name_begins(path, bytes, "libpthread", 10) ||
	        fxt_name_begins(path, bytes, "libdl.so", 8) || fxt_name_begins(path, bytes, "libdl-2.", 8))
		return FXT_C_LIBRARY;
	return FXT_NOT_C_LIBRARY;
}

#endif

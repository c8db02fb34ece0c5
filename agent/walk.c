#include "walk.h"
#include <dlfcn.h>
#include <string.h>
#include "notice.h"

/* ---- walking ---- */

int (*agent_unwind)(void **addresses, int count);

void agent_walk_thread_begins(void)
{
	uint64_t mask = sys_block_signals();
	void *addresses[2];

	/* What libunwind allocates at a thread's first walk is not the program's. */
	agent_heap_guard = AGENT_HEAP_OURS;
	if (agent_unwind)
		agent_unwind(addresses, 2);
	agent_heap_guard = AGENT_HEAP_OPEN;
	sys_restore_signals(mask);
}

void agent_walk_prepare(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	void *function = library ? dlsym(library, "unw_backtrace") : NULL;

	memcpy(&agent_unwind, &function, sizeof(agent_unwind));
	if (!agent_unwind)
		agent_notice("libunwind.so.8 is not installed: allocations made by code without "
		             "-finstrument-functions have no call path",
		        NULL);
	else
		agent_walk_thread_begins();
}

/* Libc's, from 2.32 on: false once the process had a second thread, in its forked children too. */
extern char __libc_single_threaded __attribute__((weak));

void agent_walk_forget(void)
{
	/* A thread that is not here any more may have held the locks of libunwind, and of the loader, which a
	 * walk takes. */
	if (!&__libc_single_threaded || !__libc_single_threaded)
		agent_unwind = NULL;
}

/* ---- what is found ---- */

extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));

/* The header of .eh_frame_hdr, when it has the binary search table that linkers write. */
struct frame_table {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frames;
	uint32_t count;
	struct {
		int32_t start, description; /* from the header */
	} entry[];
};

uint64_t agent_walk_function(uint64_t return_address)
{
	uint64_t address = return_address - 1;
	struct dl_find_object found;

	if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)address, &found) != 0)
		return address;
	const struct frame_table *table = found.dlfo_eh_frame;

	/* version 1; counts are udata4, entries sdata4 relative to the header */
	if (!table || table->version != 1 || table->count_encoding != 0x03 || table->table_encoding != 0x3b ||
	        (table->frame_encoding & 0x0f) != 0x0b || table->count == 0)
		return address;
	int64_t wanted = (int64_t)(address - (uint64_t)(uintptr_t)table);
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->entry[middle].start <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uint64_t)(uintptr_t)table + (uint64_t)(int64_t)table->entry[low - 1].start : address;
}

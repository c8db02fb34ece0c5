/*
 * Collects code addresses of stopped threads (stopped.h), on the thread that attaches or
 * detaches. Must not rely on the words it reads: any word on a stack that looks like an
 * address of code counts as one.
 */
#include "stopped.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include "agent/process/modules.h"
#include "code.h"
#include "writer/shared/search.h"
#include "writer/shared/sys.h"

#define PLACES      (UINT64_C(1) << 16)
#define STACK_BYTES (UINT64_C(1) << 20) /* a thread's stack is read as far */
#define BLOCK_BYTES UINT64_C(4096)

static uint64_t *places;
static uint64_t place_count;

static void stopped_add(uint64_t word)
{
	if (place_count < PLACES && agent_module_is_code(word))
		places[place_count++] = word;
}

/* Adds the words on a stack from an address on. */
static void stopped_add_stack(uint64_t from)
{
	static uint64_t words[BLOCK_BYTES / sizeof(uint64_t)];
	uint64_t at = from & ~(uint64_t)7, end = at + STACK_BYTES, bytes;

	for (; at < end && at >> 47 == 0; at += bytes) {
		bytes = BLOCK_BYTES - at % BLOCK_BYTES;
		if (!agent_code_read(at, words, bytes))
			return;
		for (uint64_t i = 0; i < bytes / sizeof(*words); i++)
			stopped_add(words[i]);
	}
}

/* The last hexadecimal number before `*end`, which moves before it. */
static uint64_t stopped_number(const char *text, long *end)
{
	uint64_t number = 0;
	long start;

	while (*end > 0 && (text[*end - 1] == '\n' || text[*end - 1] == ' '))
		--*end;
	start = *end;
	while (start > 0 && text[start - 1] != ' ')
		start--;
	for (long i = start + 2; i < *end; i++)
		number = number << 4 | ((uint64_t)text[i] - (text[i] > '9' ? 'a' - 10 : '0'));
	*end = start;
	return number;
}

/* Reads "number … 0xSP 0xPC" of a thread, or "running". */
static void stopped_add_thread(int tasks, const char *tid)
{
	char path[40], text[256];
	size_t bytes = strnlen(tid, 16);
	long fd, length = 0;
	uint64_t pc;

	memcpy(path, tid, bytes);
	memcpy(path + bytes, "/syscall", sizeof("/syscall"));
	fd = sys_call(SYS_openat, tasks, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		length = sys_call(SYS_read, fd, text, sizeof(text), 0);
		sys_close((int)fd);
	}
	if (length <= 0 || text[0] == 'r')
		return;
	pc = stopped_number(text, &length);
	stopped_add(pc);
	stopped_add_stack(stopped_number(text, &length));
}

struct stopped_name {
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* Sorts the places, by Shell's way. */
static void stopped_sort(void)
{
	for (uint64_t step = place_count / 2; step; step /= 2)
		for (uint64_t i = step; i < place_count; i++) {
			uint64_t place = places[i], at = i;

			for (; at >= step && places[at - step] > place; at -= step)
				places[at] = places[at - step];
			places[at] = place;
		}
}

void agent_stopped_look(void)
{
	static uint64_t names[BLOCK_BYTES / sizeof(uint64_t)];
	long tasks, bytes;

	if (!places)
		places = sys_map(PLACES * sizeof(*places), PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	place_count = 0;
	tasks = sys_call(
	        SYS_openat, AT_FDCWD, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (!places || tasks < 0)
		return;
	while ((bytes = sys_call(SYS_getdents64, tasks, names, sizeof(names), 0)) > 0)
		for (long at = 0; at < bytes;) {
			const struct stopped_name *entry =
			        (const struct stopped_name *)((const uint8_t *)names + at);

			if (entry->name[0] != '.')
				stopped_add_thread((int)tasks, entry->name);
			at += entry->bytes;
		}
	sys_close((int)tasks);
	/* The launcher has left here where the calling thread goes on. */
	stopped_add_stack((uint64_t)(uintptr_t)__builtin_frame_address(0));
	stopped_sort();
}

void agent_stopped_forget(void)
{
	place_count = 0;
}

bool agent_stopped_in(uint64_t start, uint64_t end)
{
	uint64_t at = partition_point(i, place_count, places[i] <= start);

	return at < place_count && places[at] < end;
}

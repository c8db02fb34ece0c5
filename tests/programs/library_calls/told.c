/*
 * Calls functions of a library ten times for each line that it reads, and says how often in
 * all, and where the slots that its calls go through lead: to the function itself, to
 * another place ("elsewhere"), or back into this program ("unbound"). Without input it makes
 * the calls once. With arguments, so many threads make calls meanwhile.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "counted.h"

extern char __executable_start, _end;

static long made;
static int ends;

/* The slot of a function, by this program's own table of relocations. */
static void **slot_of(const char *name)
{
	const char *base = &__executable_start, *strings = NULL;
	const Elf64_Rela *first = NULL;
	const Elf64_Sym *symbols = NULL;
	size_t bytes = 0;

	for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag; entry++) {
		if (entry->d_tag == DT_JMPREL)
			first = (const void *)entry->d_un.d_ptr;
		if (entry->d_tag == DT_PLTRELSZ)
			bytes = entry->d_un.d_val;
		if (entry->d_tag == DT_SYMTAB)
			symbols = (const void *)entry->d_un.d_ptr;
		if (entry->d_tag == DT_STRTAB)
			strings = (const void *)entry->d_un.d_ptr;
	}
	for (const Elf64_Rela *slot = first; (const char *)slot < (const char *)first + bytes; slot++)
		if (strcmp(strings + symbols[ELF64_R_SYM(slot->r_info)].st_name, name) == 0)
			return (void **)(base + slot->r_offset);
	abort();
}

static const char *leads(const char *name)
{
	void *now = *slot_of(name);

	if ((char *)now >= &__executable_start && (char *)now < &_end)
		return "unbound";
	return now == dlsym(RTLD_DEFAULT, name) ? "itself" : "elsewhere";
}

static void *calls(void *unused)
{
	long sum = 0;

	for (int i = 1; !__atomic_load_n(&ends, __ATOMIC_RELAXED); i++) {
		sum += leaf(1) + (long)widens(2) + (long)makes_pair(1).count;
		if (i % 100 == 0)
			usleep(2000);
	}
	(void)unused;
	return (void *)sum;
}

int main(int count_of_arguments, char **arguments)
{
	int threads = count_of_arguments > 1 ? atoi(arguments[1]) : 0;
	pthread_t thread[16];
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, calls, NULL);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 10; i++, made++)
			if (leaf(i) != i + 1 || widens(3) != 1)
				return 1;
		printf("%ld leaf %s widens %s\n", made, leads("leaf"), leads("widens"));
	}
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

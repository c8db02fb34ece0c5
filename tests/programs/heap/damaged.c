/*
 * Allocates through functions with damaged unwind tables: damaged PLUGIN... goes through a
 * function of each plugin, twice, and prints the number of blocks. As a plugin (-DPLUGIN),
 * it has that function; with -DDAMAGE, on x86-64, also a function that this one calls, with
 * tables that no compiler writes.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

#ifdef PLUGIN

#if defined(DAMAGE) && defined(__x86_64__)

#define FUNCTION(name, table)                                                                       \
	void name(void (*function)(void));                                                          \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
	        "  sub $8, %rsp\n.cfi_def_cfa_offset 16\n" table "\n  call *%rdi\n  add $8, %rsp\n" \
	        "  ret\n.cfi_endproc\n.size " #name ", . - " #name "\n");

#define DAMAGED(X)                                                                                           \
	X(unknown_operation, ".cfi_escape 0x3f")                                                             \
	X(endless_number, ".cfi_escape 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80")    \
	X(state_of_none, ".cfi_escape 0x0b")                                                                 \
	X(states_without_end, ".cfi_escape 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a")      \
	X(no_such_register, ".cfi_escape 0x0c, 0x7f, 0x10")                                                  \
	X(huge_offset, ".cfi_escape 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f")                         \
	X(long_expression, ".cfi_escape 0x0f, 0xff, 0xff, 0x7f, 0x77, 0x10")                                 \
	X(endless_loop, ".cfi_escape 0x0f, 0x03, 0x2f, 0xfd, 0xff")                                          \
	X(jump_far, ".cfi_escape 0x0f, 0x03, 0x2f, 0x00, 0x7f")                                              \
	X(no_operand, ".cfi_escape 0x0f, 0x01, 0x22")                                                        \
	X(empty_expression, ".cfi_escape 0x0f, 0x00")                                                        \
	X(high_stack, ".cfi_escape 0x0f, 0x12, 0x30, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, " \
	              "0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12, 0x12")                                      \
	X(memory_of_none, ".cfi_escape 0x0f, 0x03, 0x08, 0x10, 0x06")                                        \
	X(frame_at_none, ".cfi_escape 0x0f, 0x02, 0x08, 0x10")                                               \
	X(kernel_memory, ".cfi_escape 0x0f, 0x03, 0x09, 0xf0, 0x06")                                         \
	X(own_frame, ".cfi_escape 0x0e, 0x00")                                                               \
	X(frame_below, ".cfi_escape 0x13, 0x04")                                                             \
	X(lost_register, ".cfi_escape 0x0c, 0x00, 0x10")                                                     \
	X(no_return, ".cfi_undefined rip")

DAMAGED(FUNCTION)

#define CALL(name, table) name(function);

#else
#define DAMAGED(X)
#endif

NOINLINE void through_plugin(void (*function)(void))
{
	DAMAGED(CALL)
	function();
	__asm__ volatile("");
}

#else

static int blocks;

static NOINLINE void allocate(void)
{
	void *volatile block = malloc(60000);

	free(block);
	blocks++;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void (*function)(void (*)(void)) =
		        plugin ? (void (*)(void (*)(void)))dlsym(plugin, "through_plugin") : NULL;

		if (!function)
			continue; /* the loader reads none of these tables */
		function(allocate);
		function(allocate);
		if (i % 2)
			dlclose(plugin); /* the next one may come to lie there */
	}
	printf("%d\n", blocks);
	return 0;
}

#endif

/*
 * The commands of build systems that compile a program so that its calls are recorded
 * (instrumenting.h). Only looks for files in the working directory.
 */
#include "instrumenting.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define COMPILERS "CC=fxt-cc CXX=fxt-c++"

/* In the order in which a directory's files count: cmake and configure write Makefiles. */
static const struct {
	const char *file, *commands;
} build_systems[] = {
        {"CMakeLists.txt", "cmake -B traced -DCMAKE_C_COMPILER=fxt-cc -DCMAKE_CXX_COMPILER=fxt-c++ && "
                           "cmake --build traced"},
        {"meson.build", COMPILERS " meson setup traced && meson compile -C traced"},
        {"configure", "./configure " COMPILERS " && make clean all"},
        {"GNUmakefile", "make -B " COMPILERS},
        {"makefile", "make -B " COMPILERS},
        {"Makefile", "make -B " COMPILERS},
};

const char *fxt_instrumenting_commands(void)
{
	for (size_t i = 0; i < sizeof(build_systems) / sizeof(*build_systems); i++)
		if (access(build_systems[i].file, F_OK) == 0)
			return build_systems[i].commands;
	return "fxt-cc -O2 -g prog.c -o prog";
}

struct fxt_no_calls_text fxt_no_calls(bool has_earlier_waits)
{
	struct fxt_no_calls_text said;

	if (has_earlier_waits)
		return (struct fxt_no_calls_text){
		        "no calls are in the trace: the program called no recorded function "
		        "meanwhile; fxt threads and fxt last show waits that began before the attach"};
	snprintf(said.text, sizeof(said.text),
	        "no calls are in the trace: is the program compiled with " FXT_INSTRUMENTING "? %s",
	        fxt_instrumenting_commands());
	return said;
}

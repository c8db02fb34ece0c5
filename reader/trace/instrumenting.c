/*
 * The commands of build systems that compile a program so that its calls are recorded
 * (instrumenting.h). Only looks for files in the working directory.
 */
#include "instrumenting.h"

#include <stddef.h>
#include <unistd.h>

#define FLAGS "-O2 -g -finstrument-functions"

/* In the order in which a directory's files count: cmake and configure write Makefiles. */
static const struct {
	const char *file, *commands;
} build_systems[] = {
        {"CMakeLists.txt", "cmake -B traced -DCMAKE_C_FLAGS='" FLAGS "' -DCMAKE_CXX_FLAGS='" FLAGS
                           "' && cmake --build traced"},
        {"meson.build",
                "meson setup traced -Dc_args=-finstrument-functions -Dcpp_args=-finstrument-functions && "
                "meson compile -C traced"},
        {"configure", "./configure CFLAGS='" FLAGS "' CXXFLAGS='" FLAGS "' && make clean all"},
        {"GNUmakefile", "make -B CFLAGS='" FLAGS "' CXXFLAGS='" FLAGS "'"},
        {"makefile", "make -B CFLAGS='" FLAGS "' CXXFLAGS='" FLAGS "'"},
        {"Makefile", "make -B CFLAGS='" FLAGS "' CXXFLAGS='" FLAGS "'"},
};

const char *fxt_instrumenting_commands(void)
{
	for (size_t i = 0; i < sizeof(build_systems) / sizeof(*build_systems); i++)
		if (access(build_systems[i].file, F_OK) == 0)
			return build_systems[i].commands;
	return "gcc " FLAGS " prog.c -o prog";
}

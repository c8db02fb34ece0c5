/*
 * Makes argument plans (writer/shared/argument_plan.h): which arguments and return values
 * of one file's functions are recorded, and where they are at the function's first
 * instruction.
 *
 * The debug information says where a parameter is. Without it, the types of the parameters
 * and the rules of the ABI do. These rules hold for functions that others can call. A
 * compiler may pass the arguments of a static function in another way, or not at all; then
 * the value is "?" unless the debug information names a register.
 */
#ifndef FXT_LAUNCHER_PLANNING_ARGUMENT_PLAN_H
#define FXT_LAUNCHER_PLANNING_ARGUMENT_PLAN_H

#include <elfutils/libdw.h>
#include "argument_requests.h"

/*
 * Makes the plan of a file. `path` is the file's name, for the search of its debug file.
 * Takes `elf` over. Returns NULL, or the reason for no plan as half a sentence. A file
 * without any such function has a plan without calls. The caller frees the plan. Notes in
 * the requests which of them matched.
 */
const char *fxt_argument_plan_make(Elf *elf, const char *path, struct fxt_argument_requests *requests,
        struct fxt_argument_plan **plan, size_t *bytes);

#endif

/*
 * The steps from a parameter's place to the value that is shown, also of a member. The
 * agent takes these steps (writer/shared/argument_plan.h).
 */
#ifndef FXT_LAUNCHER_PLANNING_ARGUMENT_PATHS_H
#define FXT_LAUNCHER_PLANNING_ARGUMENT_PATHS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include "argument_places.h"

/*
 * Makes the value of a parameter, or of the member that `path` names. `path` begins behind
 * the parameter's name: "->path", ".size". Sets all but the value's name. Stores the type
 * of the value in `type`. If the value cannot be shown, its source is FXT_VALUE_NOWHERE.
 * False: there is no such member.
 */
bool fxt_argument_value(const struct fxt_argument_place *place, Dwarf_Die *parameter, const char *path,
        struct fxt_planned_value *value, Dwarf_Die *type);

#endif

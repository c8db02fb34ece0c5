/*
 * The processes of a systemd unit, by its control group.
 */
#ifndef FXT_LAUNCHER_ATTACH_UNIT_H
#define FXT_LAUNCHER_ATTACH_UNIT_H

#include <stddef.h>
#include <sys/types.h>

/* Finds the processes of a unit, at most `max`, without those of fxtrun. A name without a
 * dot is that of a service. The first one is the unit's oldest process whose parent is not
 * in the unit. Returns their number; 0: there is no such unit, or it has none. */
size_t fxt_unit_processes(const char *name, pid_t *found, size_t max);

#endif

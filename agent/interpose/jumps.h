/* Calls that end without their exit hook. */
#ifndef FXT_AGENT_JUMPS_H
#define FXT_AGENT_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread continues at that stack pointer: abandons the calls that are left by
 * this. With `keep_equal`, calls at the same stack offset stay open (shadow.h). Does
 * nothing inside a hook. */
void agent_jump_leaves(uint64_t stack_pointer, bool keep_equal);

#endif

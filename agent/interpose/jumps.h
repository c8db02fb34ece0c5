/* Calls that end without their exit hook. */
#ifndef FXT_AGENT_JUMPS_H
#define FXT_AGENT_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread goes on at that stack pointer: abandons what that leaves there. With `keep_equal` calls
 * as low as it stay (shadow.h). Does nothing inside of a hook. */
void agent_jump_leaves(uint64_t stack_pointer, bool keep_equal);

#endif

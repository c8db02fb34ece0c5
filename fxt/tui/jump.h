/*
 * Jumps from a function to its slowest call in the timeline.
 */
#ifndef FXT_FXT_TUI_JUMP_H
#define FXT_FXT_TUI_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Goes to the slowest call with a name, or the longest slice that is no call. */
void fxt_tui_jump(uint32_t name, bool is_call);

#endif

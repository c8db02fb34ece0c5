/* Forgets modules that are unloaded, and so undoes load.h. */
#ifndef FXT_AGENT_UNLOAD_H
#define FXT_AGENT_UNLOAD_H

#include <stdint.h>

/* This code is about to be unmapped, or is gone. With the engine's lock held. */
void agent_unload_code(uint64_t start, uint64_t end);

/* Between a detach and the next attach (attach.h): forgets what the options of a session
 * choose in modules. Nothing leads there any more. */
void agent_unload_patches(void);

#endif

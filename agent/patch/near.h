/* Memory near a module's code: what a jump of five bytes there can reach. */
#ifndef FXT_AGENT_NEAR_H
#define FXT_AGENT_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a jump from anywhere between `low` and `high` reaches all of those bytes. */
bool agent_is_near(uint64_t low, uint64_t high, uint64_t start, size_t bytes);

/* Maps memory for code, readable and executable, that is near the module between `low` and
 * `high`. It lies below if there is room, otherwise as far above as a jump reaches: right
 * above a program is the memory that grows by brk(). NULL: there is no room, or the system
 * does not allow it. */
uint8_t *agent_map_near(uint64_t low, uint64_t high, size_t bytes);

#endif

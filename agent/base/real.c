#include "real.h"
#include <stdbool.h>
#include "symbols.h"
#include "writer/shared/atomics.h"

const struct real_functions *real_functions(void)
{
	static struct real_functions functions;
	static bool found;

	if (unlikely(!load_acquire(&found))) {
		/* Two threads may do this at once: both store the same addresses. */
#define X(name, ...) store_relaxed(&functions.name, (__typeof__(&name))agent_next_symbol(#name));
		REAL_FUNCTIONS(X)
#undef X
		store_release(&found, true);
	}
	return &functions;
}

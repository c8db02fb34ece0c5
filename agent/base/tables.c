/* Makes tables (tables.h), on the program's threads. It must take no lock. */
#include "tables.h"
#include <sys/mman.h>
#include "writer/shared/atomics.h"
#include "writer/shared/sys.h"

void *agent_table_make(void **at, size_t bytes)
{
	void *table = load_acquire(at), *none = NULL;

	if (table || load_relaxed(&sys_confinement) != SYS_FREE)
		return table;
	table = sys_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	/* Another thread, or a handler, may be faster. Other tables are zeros of the
	 * kernel's, so there is nothing to release. */
	if (table && !compare_exchange_acquire(at, &none, table)) {
		sys_unmap(table, bytes);
		table = none;
	}
	return table;
}

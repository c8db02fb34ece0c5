/*
 * Binary search in anything that has an order: arrays, items of a file, records that a
 * function finds by their number.
 */
#ifndef FXT_WRITER_SEARCH_H
#define FXT_WRITER_SEARCH_H

#include <stdint.h>

/*
 * Returns the first number below `count` for which `is_before` is false; `count` if there is
 * none. `is_before` is an expression in the variable `i`. It must be true for all numbers up
 * to some place and false behind it.
 *
 *     size_t at = partition_point(i, count, items[i].start <= moment);
 */
#define partition_point(i, count, is_before)                                               \
	({                                                                                 \
		uint64_t partition_low = 0, partition_high = (count);                      \
                                                                                           \
		while (partition_low < partition_high) {                                   \
			uint64_t i = partition_low + (partition_high - partition_low) / 2; \
                                                                                           \
			if (is_before)                                                     \
				partition_low = i + 1;                                     \
			else                                                               \
				partition_high = i;                                        \
		}                                                                          \
		partition_low;                                                             \
	})

#endif

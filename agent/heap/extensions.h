/*
 * The entry points that jemalloc, mimalloc and tcmalloc have besides the standard ones, one
 * row of the table each. All of their parameters are words, so a single function calls the
 * next one of any entry point, and records the block. A program finds only the names that
 * its libraries define (symbols.h). Blocks that mi_heap_destroy() drops all at once are not
 * seen.
 */
#ifndef FXT_AGENT_EXTENSIONS_H
#define FXT_AGENT_EXTENSIONS_H

/*
 * Columns: name, kind, place of the block, places of size and count among the parameters
 * from 1 on; 0: there is none. NEW returns a block, FREE takes one, RESIZE does both, and
 * RESIZE_HERE leaves it in its place. Without a size, the allocator gives the block's size.
 * NEW_AT stores the block where its first parameter points, and RESIZE_AT also finds it
 * there; both return 0 for success.
 */
#define AGENT_EXTENSIONS(X)                             \
	X(mallocx, NEW, 0, 1, 0)                        \
	X(rallocx, RESIZE, 1, 2, 0)                     \
	X(xallocx, RESIZE_HERE, 1, 0, 0)                \
	X(dallocx, FREE, 1, 0, 0)                       \
	X(sdallocx, FREE, 1, 0, 0)                      \
	X(mi_malloc, NEW, 0, 1, 0)                      \
	X(mi_malloc_small, NEW, 0, 1, 0)                \
	X(mi_zalloc, NEW, 0, 1, 0)                      \
	X(mi_zalloc_small, NEW, 0, 1, 0)                \
	X(mi_calloc, NEW, 0, 2, 1)                      \
	X(mi_mallocn, NEW, 0, 2, 1)                     \
	X(mi_malloc_aligned, NEW, 0, 1, 0)              \
	X(mi_malloc_aligned_at, NEW, 0, 1, 0)           \
	X(mi_zalloc_aligned, NEW, 0, 1, 0)              \
	X(mi_zalloc_aligned_at, NEW, 0, 1, 0)           \
	X(mi_calloc_aligned, NEW, 0, 2, 1)              \
	X(mi_calloc_aligned_at, NEW, 0, 2, 1)           \
	X(mi_memalign, NEW, 0, 2, 0)                    \
	X(mi_aligned_alloc, NEW, 0, 2, 0)               \
	X(mi_posix_memalign, NEW_AT, 1, 3, 0)           \
	X(mi_valloc, NEW, 0, 1, 0)                      \
	X(mi_pvalloc, NEW, 0, 1, 0)                     \
	X(mi_strdup, NEW, 0, 0, 0)                      \
	X(mi_strndup, NEW, 0, 0, 0)                     \
	X(mi_realpath, NEW, 0, 0, 0)                    \
	X(mi_wcsdup, NEW, 0, 0, 0)                      \
	X(mi_mbsdup, NEW, 0, 0, 0)                      \
	X(mi_new, NEW, 0, 1, 0)                         \
	X(mi_new_n, NEW, 0, 2, 1)                       \
	X(mi_new_nothrow, NEW, 0, 1, 0)                 \
	X(mi_new_aligned, NEW, 0, 1, 0)                 \
	X(mi_new_aligned_nothrow, NEW, 0, 1, 0)         \
	X(mi_new_realloc, RESIZE, 1, 2, 0)              \
	X(mi_new_reallocn, RESIZE, 1, 3, 2)             \
	X(mi_realloc, RESIZE, 1, 2, 0)                  \
	X(mi_reallocn, RESIZE, 1, 3, 2)                 \
	X(mi_reallocf, RESIZE_OR_FREE, 1, 2, 0)         \
	X(mi_reallocarray, RESIZE, 1, 3, 2)             \
	X(mi_reallocarr, RESIZE_AT, 1, 3, 2)            \
	X(mi_rezalloc, RESIZE, 1, 2, 0)                 \
	X(mi_recalloc, RESIZE, 1, 3, 2)                 \
	X(mi_realloc_aligned, RESIZE, 1, 2, 0)          \
	X(mi_realloc_aligned_at, RESIZE, 1, 2, 0)       \
	X(mi_rezalloc_aligned, RESIZE, 1, 2, 0)         \
	X(mi_rezalloc_aligned_at, RESIZE, 1, 2, 0)      \
	X(mi_recalloc_aligned, RESIZE, 1, 3, 2)         \
	X(mi_recalloc_aligned_at, RESIZE, 1, 3, 2)      \
	X(mi_aligned_recalloc, RESIZE, 1, 3, 2)         \
	X(mi_aligned_offset_recalloc, RESIZE, 1, 3, 2)  \
	X(mi_free, FREE, 1, 0, 0)                       \
	X(mi_cfree, FREE, 1, 0, 0)                      \
	X(mi_free_size, FREE, 1, 0, 0)                  \
	X(mi_free_size_aligned, FREE, 1, 0, 0)          \
	X(mi_free_aligned, FREE, 1, 0, 0)               \
	X(mi_heap_malloc, NEW, 0, 2, 0)                 \
	X(mi_heap_malloc_small, NEW, 0, 2, 0)           \
	X(mi_heap_zalloc, NEW, 0, 2, 0)                 \
	X(mi_heap_calloc, NEW, 0, 3, 2)                 \
	X(mi_heap_mallocn, NEW, 0, 3, 2)                \
	X(mi_heap_malloc_aligned, NEW, 0, 2, 0)         \
	X(mi_heap_malloc_aligned_at, NEW, 0, 2, 0)      \
	X(mi_heap_zalloc_aligned, NEW, 0, 2, 0)         \
	X(mi_heap_zalloc_aligned_at, NEW, 0, 2, 0)      \
	X(mi_heap_calloc_aligned, NEW, 0, 3, 2)         \
	X(mi_heap_calloc_aligned_at, NEW, 0, 3, 2)      \
	X(mi_heap_alloc_new, NEW, 0, 2, 0)              \
	X(mi_heap_alloc_new_n, NEW, 0, 3, 2)            \
	X(mi_heap_strdup, NEW, 0, 0, 0)                 \
	X(mi_heap_strndup, NEW, 0, 0, 0)                \
	X(mi_heap_realpath, NEW, 0, 0, 0)               \
	X(mi_heap_realloc, RESIZE, 2, 3, 0)             \
	X(mi_heap_reallocn, RESIZE, 2, 4, 3)            \
	X(mi_heap_reallocf, RESIZE_OR_FREE, 2, 3, 0)    \
	X(mi_heap_rezalloc, RESIZE, 2, 3, 0)            \
	X(mi_heap_recalloc, RESIZE, 2, 4, 3)            \
	X(mi_heap_realloc_aligned, RESIZE, 2, 3, 0)     \
	X(mi_heap_realloc_aligned_at, RESIZE, 2, 3, 0)  \
	X(mi_heap_rezalloc_aligned, RESIZE, 2, 3, 0)    \
	X(mi_heap_rezalloc_aligned_at, RESIZE, 2, 3, 0) \
	X(mi_heap_recalloc_aligned, RESIZE, 2, 4, 3)    \
	X(mi_heap_recalloc_aligned_at, RESIZE, 2, 4, 3) \
	X(tc_malloc, NEW, 0, 1, 0)                      \
	X(tc_malloc_skip_new_handler, NEW, 0, 1, 0)     \
	X(tc_calloc, NEW, 0, 2, 1)                      \
	X(tc_realloc, RESIZE, 1, 2, 0)                  \
	X(tc_memalign, NEW, 0, 2, 0)                    \
	X(tc_posix_memalign, NEW_AT, 1, 3, 0)           \
	X(tc_valloc, NEW, 0, 1, 0)                      \
	X(tc_pvalloc, NEW, 0, 1, 0)                     \
	X(tc_free, FREE, 1, 0, 0)                       \
	X(tc_free_sized, FREE, 1, 0, 0)                 \
	X(tc_cfree, FREE, 1, 0, 0)                      \
	X(tc_new, NEW, 0, 1, 0)                         \
	X(tc_new_nothrow, NEW, 0, 1, 0)                 \
	X(tc_new_aligned, NEW, 0, 1, 0)                 \
	X(tc_new_aligned_nothrow, NEW, 0, 1, 0)         \
	X(tc_newarray, NEW, 0, 1, 0)                    \
	X(tc_newarray_nothrow, NEW, 0, 1, 0)            \
	X(tc_newarray_aligned, NEW, 0, 1, 0)            \
	X(tc_newarray_aligned_nothrow, NEW, 0, 1, 0)    \
	X(tc_delete, FREE, 1, 0, 0)                     \
	X(tc_delete_sized, FREE, 1, 0, 0)               \
	X(tc_delete_nothrow, FREE, 1, 0, 0)             \
	X(tc_delete_aligned, FREE, 1, 0, 0)             \
	X(tc_delete_sized_aligned, FREE, 1, 0, 0)       \
	X(tc_delete_aligned_nothrow, FREE, 1, 0, 0)     \
	X(tc_deletearray, FREE, 1, 0, 0)                \
	X(tc_deletearray_sized, FREE, 1, 0, 0)          \
	X(tc_deletearray_nothrow, FREE, 1, 0, 0)        \
	X(tc_deletearray_aligned, FREE, 1, 0, 0)        \
	X(tc_deletearray_sized_aligned, FREE, 1, 0, 0)  \
	X(tc_deletearray_aligned_nothrow, FREE, 1, 0, 0)

#endif

/*
 * The few atomic operations of this project, by name. Memory that two threads or two
 * processes share is accessed through these only. Each use says what it orders and what it
 * pairs with.
 */
#ifndef FXT_WRITER_ATOMICS_H
#define FXT_WRITER_ATOMICS_H

#define load_relaxed(p)        __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)        __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v)    __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define add_relaxed(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define or_relaxed(p, v)       __atomic_fetch_or((p), (v), __ATOMIC_RELAXED)
#define or_release(p, v)       __atomic_fetch_or((p), (v), __ATOMIC_RELEASE)
#define and_relaxed(p, v)      __atomic_fetch_and((p), (v), __ATOMIC_RELAXED)
#define exchange_acquire(p, v) __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define exchange_release(p, v) __atomic_exchange_n((p), (v), __ATOMIC_RELEASE)

/* Keeps every access before it from being reordered with one behind it, by compiler and
 * processor. */
#define full_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/*
 * A relaxed load that the compiler may fold into a comparison; gcc folds no atomic load [4
 * of the hooks' 91 instructions]. It is for an aligned word, which no supported processor
 * tears, and only for places where a second load would do no harm. A thread sanitizer sees
 * the relaxed load. add_foldable() is an addition to a word that no other thread writes, in
 * one instruction instead of three.
 */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define load_foldable(p)   load_relaxed(p)
#define add_foldable(p, v) store_relaxed((p), load_relaxed(p) + (v))
#else
#define load_foldable(p)   (*(p))
#define add_foldable(p, v) (*(p) += (v))
#endif

/* Replaces *p by desired if it is *expected; on failure *expected holds what was found.
 * Acquire on success. */
#define compare_exchange_acquire(p, expected, desired) \
	__atomic_compare_exchange_n((p), (expected), (desired), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)

/* Keeps the compiler, not the processor, from moving accesses across. Pairs with a signal
 * handler of the same thread, or with membarrier() in another. */
#define compiler_barrier() __asm__ __volatile__("" ::: "memory")

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif

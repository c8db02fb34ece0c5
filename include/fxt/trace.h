/*
 * <fxt/trace.h>: what only the program knows, said by the program in its trace. One header
 * for C (C11) and C++ (C++11) with gcc or clang. There is nothing to link, and nothing
 * changes without fxt: a program finds the agent, libfxtagent.so, if it runs under fxtrun.
 *
 *     void serve(struct request *r)
 *     {
 *             FXT_DURATION("server", "serve", "path", r->path, "bytes", r->bytes);
 *             ...
 *             FXT_COUNTER("server", "queue", 0, "waiting", queue_length);
 *     }
 *
 * Categories, names of events and names of arguments are string literals. Arguments follow
 * in pairs of a name and a value, at most 15. Their types follow from the values; the
 * FXT_TA_ macros choose one. Values are evaluated only while the category is recorded. A
 * site that is not recorded costs two loads and a branch.
 *
 * Every macro may be used in signal handlers, in forked children, in libraries that come
 * and go, before main() and in destructors. An event is recorded, or counted as lost.
 *
 *     FXT_NTRACE        defined before: all macros expand to nothing
 *     FXT_PLAIN_NAMES   defined before: Fuchsia's names too, TRACE_DURATION and so on
 *
 * Names that end in an underscore, and the structures, belong to the header and the agent.
 */
#ifndef FXT_TRACE_H
#define FXT_TRACE_H

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <initializer_list>
#include <type_traits>
#endif

/* How far an instant matters. The trace format has no place for it; readers show an instant
 * on its thread. */
#define FXT_SCOPE_THREAD  0
#define FXT_SCOPE_PROCESS 1
#define FXT_SCOPE_GLOBAL  2

#ifndef FXT_NTRACE

/* ---- what a program and the agent share ---- */

/* The values are those of the trace format. */
enum fxt_trace_type {
	FXT_TRACE_NULL = 0,
	FXT_TRACE_INT32 = 1,
	FXT_TRACE_UINT32 = 2,
	FXT_TRACE_INT64 = 3,
	FXT_TRACE_UINT64 = 4,
	FXT_TRACE_DOUBLE = 5,
	FXT_TRACE_STRING = 6,
	FXT_TRACE_POINTER = 7,
	FXT_TRACE_KOID = 8,
	FXT_TRACE_BOOL = 9,
	FXT_TRACE_BLOB = 10
};

/* A value. `word` has a number, or the address of the bytes of a string or a blob. */
struct fxt_trace_value {
	uint32_t type; /* enum fxt_trace_type */
	uint32_t bytes;
	uint64_t word;
};

struct fxt_trace_argument {
	const char *name;
	struct fxt_trace_value value;
};

/*
 * A place in the program that says something. `on` points to a word that is 0 while the
 * place is to say nothing: to `own` until the place is first reached with an agent, and to
 * the word of its category in the agent afterwards. The agent keeps no address of a site,
 * so a library may be unloaded at any time.
 */
struct fxt_trace_site {
	const uint32_t *on;
	const char *category; /* NULL: recorded whatever the categories are */
	const char *name;     /* NULL: it has none */
	uint16_t *texts;      /* the agent's: indices of category, name and arguments */
	uint32_t own;
	uint32_t texts_of; /* the agent's: the table that they are valid for */
};

/* A duration that has begun; `begin` is 0 if it is not recorded. */
struct fxt_trace_span {
	uint64_t begin;
	struct fxt_trace_site *site;
	const struct fxt_trace_argument *arguments;
	size_t count;
};

#define FXT_TRACE_VERSION 2u

/* The agent, an object of the name fxt_trace_agent. Later versions add functions behind
 * these. */
struct fxt_trace_agent {
	uint32_t version; /* FXT_TRACE_VERSION or later; 0 until the agent has begun */
	uint32_t reserved;
	/* returns the word that says whether a category is recorded; NULL = any is */
	const uint32_t *(*category)(const char *name);
	void (*declare)(const char *name, const char *description);
	/* type: an event's type in the trace format. id: its counter id, async id or flow id */
	void (*event)(struct fxt_trace_site *site, uint32_t type, uint64_t id,
	        const struct fxt_trace_argument *arguments, size_t count);
	/* call_site: where the function with the duration was called from */
	void (*span_begin)(struct fxt_trace_span *span, void *call_site);
	void (*span_end)(struct fxt_trace_span *span);
	void (*userspace_object)(struct fxt_trace_site *site, uint64_t pointer, struct fxt_trace_value name,
	        const struct fxt_trace_argument *arguments, size_t count);
	void (*kernel_object)(struct fxt_trace_site *site, uint64_t koid, uint32_t type,
	        struct fxt_trace_value name, const struct fxt_trace_argument *arguments, size_t count);
	/* with_metadata: the blob has a time, a thread and arguments */
	void (*blob)(struct fxt_trace_site *site, int with_metadata, const void *data, size_t bytes,
	        const struct fxt_trace_argument *arguments, size_t count);
	void (*log)(struct fxt_trace_site *site, struct fxt_trace_value text);
	void (*name_thread)(const char *name);
	void (*alert)(const char *name);
	uint64_t (*nonce)(void);
	/* since version 2: the trace's clock */
	uint64_t (*ticks)(void);
};

/* ---- details of the macros ---- */

/* A function of this header that stays a function: no compiler makes it one of the program's
 * that is recorded. */
#define FXT_NO_ENTRY_
#define FXT_NO_SLED_
#ifdef __has_attribute
#if __has_attribute(patchable_function_entry)
#undef FXT_NO_ENTRY_
#define FXT_NO_ENTRY_ __attribute__((patchable_function_entry(0)))
#endif
#if __has_attribute(xray_never_instrument)
#undef FXT_NO_SLED_
#define FXT_NO_SLED_ __attribute__((xray_never_instrument))
#endif
#endif
#define FXT_UNSEEN_ FXT_NO_ENTRY_ FXT_NO_SLED_ __attribute__((no_instrument_function, unused))
#define FXT_INLINE_ static inline __attribute__((always_inline, no_instrument_function, unused))
#ifdef __cplusplus
#define FXT_ASSERT_(condition, text) static_assert(condition, text)
#else
#define FXT_ASSERT_(condition, text) _Static_assert(condition, text)
#endif

/* Returns the agent, or NULL. The reference is weak. It goes through the global offset
 * table in programs of fixed address too, so that the loader resolves it there. */
FXT_INLINE_ const struct fxt_trace_agent *fxt_trace_agent_(void)
{
#if defined(__x86_64__)
	const struct fxt_trace_agent *agent;

	__asm__(".weak fxt_trace_agent\n\tmovq fxt_trace_agent@GOTPCREL(%%rip), %0" : "=r"(agent));
	return agent;
#elif defined(__aarch64__)
	const struct fxt_trace_agent *agent;

	__asm__(".weak fxt_trace_agent\n\tadrp %0, :got:fxt_trace_agent\n\t"
	        "ldr %0, [%0, #:got_lo12:fxt_trace_agent]"
	        : "=r"(agent));
	return agent;
#else
	return (const struct fxt_trace_agent *)0; /* fxt does not run there */
#endif
}

/* The first time that a site is reached. Returns whether it is to say something. */
static FXT_UNSEEN_ __attribute__((noinline, cold)) int fxt_trace_register_(struct fxt_trace_site *site)
{
	const struct fxt_trace_agent *agent = fxt_trace_agent_();
	const uint32_t *on;

	if (!agent) {
		__atomic_store_n(&site->own, 0, __ATOMIC_RELAXED);
		return 0;
	}
	if (!__atomic_load_n(&agent->version, __ATOMIC_ACQUIRE))
		return 0;
	on = agent->category(site->category);
	__atomic_store_n(&site->on, on, __ATOMIC_RELEASE);
	return __atomic_load_n(on, __ATOMIC_RELAXED) != 0;
}

FXT_INLINE_ int fxt_trace_is_on_(struct fxt_trace_site *site)
{
	const uint32_t *on = __atomic_load_n(&site->on, __ATOMIC_RELAXED);

	if (__builtin_expect(!__atomic_load_n(on, __ATOMIC_RELAXED), 1))
		return 0;
	return __builtin_expect(on != &site->own, 1) ? 1 : fxt_trace_register_(site);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_word_(uint32_t type, uint64_t word)
{
	struct fxt_trace_value value;

	value.type = type;
	value.bytes = 0;
	value.word = word;
	return value;
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_bytes_(uint32_t type, const void *data, size_t bytes)
{
	struct fxt_trace_value value;

	value.type = type;
	/* more than fits into any record */
	value.bytes = bytes > 1u << 20 ? 1u << 20 : (uint32_t)bytes;
	value.word = (uint64_t)(uintptr_t)data;
	return value;
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_null_(void)
{
	return fxt_trace_word_(FXT_TRACE_NULL, 0);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_bool_(int value)
{
	return fxt_trace_word_(FXT_TRACE_BOOL, value != 0);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_int32_(int32_t value)
{
	return fxt_trace_word_(FXT_TRACE_INT32, (uint32_t)value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_uint32_(uint32_t value)
{
	return fxt_trace_word_(FXT_TRACE_UINT32, value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_int64_(int64_t value)
{
	return fxt_trace_word_(FXT_TRACE_INT64, (uint64_t)value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_uint64_(uint64_t value)
{
	return fxt_trace_word_(FXT_TRACE_UINT64, value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_double_(double value)
{
	uint64_t word;

	__builtin_memcpy(&word, &value, sizeof(word));
	return fxt_trace_word_(FXT_TRACE_DOUBLE, word);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_pointer_(const volatile void *pointer)
{
	return fxt_trace_word_(FXT_TRACE_POINTER, (uint64_t)(uintptr_t)pointer);
}

/* NULL is a null argument. */
FXT_INLINE_ struct fxt_trace_value fxt_trace_string_(const char *text)
{
	return text ? fxt_trace_bytes_(FXT_TRACE_STRING, text, __builtin_strlen(text)) : fxt_trace_null_();
}

#define FXT_TA_NULL()                  fxt_trace_null_()
#define FXT_TA_BOOL(value)             fxt_trace_bool_(value)
#define FXT_TA_INT32(value)            fxt_trace_int32_(value)
#define FXT_TA_UINT32(value)           fxt_trace_uint32_(value)
#define FXT_TA_INT64(value)            fxt_trace_int64_(value)
#define FXT_TA_UINT64(value)           fxt_trace_uint64_(value)
#define FXT_TA_DOUBLE(value)           fxt_trace_double_(value)
#define FXT_TA_STRING(text)            fxt_trace_string_(text)
#define FXT_TA_CHAR_ARRAY(text, bytes) fxt_trace_bytes_(FXT_TRACE_STRING, text, bytes)
#define FXT_TA_POINTER(pointer)        fxt_trace_word_(FXT_TRACE_POINTER, (uint64_t)(uintptr_t)(pointer))
#define FXT_TA_KOID(koid)              fxt_trace_word_(FXT_TRACE_KOID, koid)
#define FXT_TA_BLOB(data, bytes)       fxt_trace_bytes_(FXT_TRACE_BLOB, data, bytes)

#ifdef __cplusplus

template <typename T>
FXT_INLINE_ typename std::enable_if<std::is_integral<T>::value && !std::is_same<T, bool>::value,
        struct fxt_trace_value>::type
fxt_trace_value_of_(T value)
{
	FXT_ASSERT_(sizeof(T) <= 8, "fxt: an argument has at most 64 bits");
	return sizeof(T) > 4 ? fxt_trace_word_(std::is_signed<T>::value ? FXT_TRACE_INT64 : FXT_TRACE_UINT64,
	                               (uint64_t)value)
	                     : fxt_trace_word_(std::is_signed<T>::value ? FXT_TRACE_INT32 : FXT_TRACE_UINT32,
	                               (uint32_t)value);
}

template <typename T>
FXT_INLINE_ typename std::enable_if<std::is_enum<T>::value, struct fxt_trace_value>::type fxt_trace_value_of_(
        T value)
{
	return fxt_trace_value_of_((typename std::underlying_type<T>::type)value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(bool value)
{
	return fxt_trace_bool_(value);
}

template <typename T>
FXT_INLINE_ typename std::enable_if<std::is_floating_point<T>::value, struct fxt_trace_value>::type
fxt_trace_value_of_(T value)
{
	return fxt_trace_double_((double)value);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(decltype(nullptr))
{
	return fxt_trace_null_();
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(const char *text)
{
	return fxt_trace_string_(text);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(char *text)
{
	return fxt_trace_string_(text);
}

template <typename T> FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(T *pointer)
{
	return FXT_TA_POINTER(pointer);
}

FXT_INLINE_ struct fxt_trace_value fxt_trace_value_of_(const struct fxt_trace_value &value)
{
	return value;
}

/* std::string, std::string_view, and what else has characters and a size */
template <typename T>
FXT_INLINE_ typename std::enable_if<
        std::is_convertible<decltype(std::declval<const T &>().data()), const char *>::value,
        struct fxt_trace_value>::type
fxt_trace_value_of_(const T &text)
{
	return fxt_trace_bytes_(FXT_TRACE_STRING, text.data(), text.size());
}

/* The same for an argument that is read later, at the end of a duration. */
template <typename T> FXT_INLINE_ struct fxt_trace_value fxt_trace_kept_value_of_(T &&value)
{
	typedef typename std::remove_reference<T>::type type;

	FXT_ASSERT_(std::is_lvalue_reference<T>::value || std::is_trivially_destructible<type>::value,
	        "fxt: this string is gone before the duration ends: keep it in a variable");
	return fxt_trace_value_of_(value);
}

#define FXT_VALUE_(value)      fxt_trace_value_of_(value)
#define FXT_KEPT_VALUE_(value) fxt_trace_kept_value_of_(value)
#define FXT_ARRAY_(...)        std::initializer_list<struct fxt_trace_argument>{__VA_ARGS__}.begin()

#else

FXT_INLINE_ struct fxt_trace_value fxt_trace_itself_(struct fxt_trace_value value)
{
	return value;
}

/* clang-format off */
#define FXT_VALUE_(value) \
	_Generic((value), \
		_Bool: fxt_trace_bool_, \
		char: fxt_trace_int32_, signed char: fxt_trace_int32_, unsigned char: fxt_trace_uint32_, \
		short: fxt_trace_int32_, unsigned short: fxt_trace_uint32_, \
		int: fxt_trace_int32_, unsigned: fxt_trace_uint32_, \
		long: fxt_trace_int64_, unsigned long: fxt_trace_uint64_, \
		long long: fxt_trace_int64_, unsigned long long: fxt_trace_uint64_, \
		float: fxt_trace_double_, double: fxt_trace_double_, long double: fxt_trace_double_, \
		char *: fxt_trace_string_, const char *: fxt_trace_string_, \
		struct fxt_trace_value: fxt_trace_itself_, \
		default: fxt_trace_pointer_)(value)
/* clang-format on */
#define FXT_KEPT_VALUE_(value) FXT_VALUE_(value)
#define FXT_ARRAY_(...)        ((const struct fxt_trace_argument[]){__VA_ARGS__})

#endif

#define FXT_PASTE_(a, b)  FXT_PASTE2_(a, b)
#define FXT_PASTE2_(a, b) a##b

/*
 * Lists of arguments. Each list ends in one more element, so that it is never empty, which
 * the preprocessor of older standards does not allow. FXT_PAIRS_ gives the number of pairs
 * in front of it, or ODD, or MANY.
 */
/* clang-format off */
#define FXT_PAIRS_(...) FXT_NTH_(__VA_ARGS__, \
	MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
	MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
	15, ODD, 14, ODD, 13, ODD, 12, ODD, 11, ODD, 10, ODD, 9, ODD, 8, ODD, \
	7, ODD, 6, ODD, 5, ODD, 4, ODD, 3, ODD, 2, ODD, 1, ODD, 0, 0)
#define FXT_NTH_( \
	a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, \
	a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, \
	a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, \
	a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, n, ...) n

#define FXT_NUMBER_(...) FXT_PASTE_(FXT_NUMBER_, FXT_PAIRS_(__VA_ARGS__))
#define FXT_NUMBER_0 0
#define FXT_NUMBER_1 1
#define FXT_NUMBER_2 2
#define FXT_NUMBER_3 3
#define FXT_NUMBER_4 4
#define FXT_NUMBER_5 5
#define FXT_NUMBER_6 6
#define FXT_NUMBER_7 7
#define FXT_NUMBER_8 8
#define FXT_NUMBER_9 9
#define FXT_NUMBER_10 10
#define FXT_NUMBER_11 11
#define FXT_NUMBER_12 12
#define FXT_NUMBER_13 13
#define FXT_NUMBER_14 14
#define FXT_NUMBER_15 15
#define FXT_NUMBER_ODD -1
#define FXT_NUMBER_MANY -2

#define FXT_ARGUMENT_(name, value) {"" name "", FXT_VALUE_(value)}
#define FXT_EACH_1(k, v, ...) FXT_ARGUMENT_(k, v)
#define FXT_EACH_2(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_1(__VA_ARGS__)
#define FXT_EACH_3(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_2(__VA_ARGS__)
#define FXT_EACH_4(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_3(__VA_ARGS__)
#define FXT_EACH_5(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_4(__VA_ARGS__)
#define FXT_EACH_6(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_5(__VA_ARGS__)
#define FXT_EACH_7(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_6(__VA_ARGS__)
#define FXT_EACH_8(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_7(__VA_ARGS__)
#define FXT_EACH_9(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_8(__VA_ARGS__)
#define FXT_EACH_10(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_9(__VA_ARGS__)
#define FXT_EACH_11(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_10(__VA_ARGS__)
#define FXT_EACH_12(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_11(__VA_ARGS__)
#define FXT_EACH_13(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_12(__VA_ARGS__)
#define FXT_EACH_14(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_13(__VA_ARGS__)
#define FXT_EACH_15(k, v, ...) FXT_ARGUMENT_(k, v), FXT_EACH_14(__VA_ARGS__)

/* The list as two arguments of a function: its first element, and its length. */
#define FXT_PACK_(...) FXT_PASTE_(FXT_PACK_, FXT_PAIRS_(__VA_ARGS__))(__VA_ARGS__)
#define FXT_PACK_0(...) (const struct fxt_trace_argument *)0, 0
#define FXT_PACK_1(...) FXT_ARRAY_(FXT_EACH_1(__VA_ARGS__)), 1
#define FXT_PACK_2(...) FXT_ARRAY_(FXT_EACH_2(__VA_ARGS__)), 2
#define FXT_PACK_3(...) FXT_ARRAY_(FXT_EACH_3(__VA_ARGS__)), 3
#define FXT_PACK_4(...) FXT_ARRAY_(FXT_EACH_4(__VA_ARGS__)), 4
#define FXT_PACK_5(...) FXT_ARRAY_(FXT_EACH_5(__VA_ARGS__)), 5
#define FXT_PACK_6(...) FXT_ARRAY_(FXT_EACH_6(__VA_ARGS__)), 6
#define FXT_PACK_7(...) FXT_ARRAY_(FXT_EACH_7(__VA_ARGS__)), 7
#define FXT_PACK_8(...) FXT_ARRAY_(FXT_EACH_8(__VA_ARGS__)), 8
#define FXT_PACK_9(...) FXT_ARRAY_(FXT_EACH_9(__VA_ARGS__)), 9
#define FXT_PACK_10(...) FXT_ARRAY_(FXT_EACH_10(__VA_ARGS__)), 10
#define FXT_PACK_11(...) FXT_ARRAY_(FXT_EACH_11(__VA_ARGS__)), 11
#define FXT_PACK_12(...) FXT_ARRAY_(FXT_EACH_12(__VA_ARGS__)), 12
#define FXT_PACK_13(...) FXT_ARRAY_(FXT_EACH_13(__VA_ARGS__)), 13
#define FXT_PACK_14(...) FXT_ARRAY_(FXT_EACH_14(__VA_ARGS__)), 14
#define FXT_PACK_15(...) FXT_ARRAY_(FXT_EACH_15(__VA_ARGS__)), 15
#define FXT_PACK_ODD(...) FXT_PACK_0()
#define FXT_PACK_MANY(...) FXT_PACK_0()

/* Stores the list from `at` on, which moves behind it. */
#define FXT_STORE_(at, ...) FXT_PASTE_(FXT_STORE_, FXT_PAIRS_(__VA_ARGS__))(at, __VA_ARGS__)
#define FXT_STORE_ONE_(at, k, v) ((at)->name = "" k "", ((at)++)->value = FXT_KEPT_VALUE_(v))
#define FXT_STORE_0(at, ...) (void)(at)
#define FXT_STORE_1(at, k, v, ...) FXT_STORE_ONE_(at, k, v)
#define FXT_STORE_2(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_1(at, __VA_ARGS__)
#define FXT_STORE_3(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_2(at, __VA_ARGS__)
#define FXT_STORE_4(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_3(at, __VA_ARGS__)
#define FXT_STORE_5(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_4(at, __VA_ARGS__)
#define FXT_STORE_6(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_5(at, __VA_ARGS__)
#define FXT_STORE_7(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_6(at, __VA_ARGS__)
#define FXT_STORE_8(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_7(at, __VA_ARGS__)
#define FXT_STORE_9(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_8(at, __VA_ARGS__)
#define FXT_STORE_10(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_9(at, __VA_ARGS__)
#define FXT_STORE_11(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_10(at, __VA_ARGS__)
#define FXT_STORE_12(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_11(at, __VA_ARGS__)
#define FXT_STORE_13(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_12(at, __VA_ARGS__)
#define FXT_STORE_14(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_13(at, __VA_ARGS__)
#define FXT_STORE_15(at, k, v, ...) FXT_STORE_ONE_(at, k, v); FXT_STORE_14(at, __VA_ARGS__)
#define FXT_STORE_ODD(at, ...) FXT_STORE_0(at)
#define FXT_STORE_MANY(at, ...) FXT_STORE_0(at)
/* clang-format on */

/* Declares the site `site` and the memory of its texts. `category` and `name` are literals
 * or NULL. */
#define FXT_SITE_(site, category, name, ...)                                                     \
	FXT_ASSERT_(FXT_NUMBER_(__VA_ARGS__) != -1, "fxt: each argument is a name and a value"); \
	FXT_ASSERT_(FXT_NUMBER_(__VA_ARGS__) != -2, "fxt: an event has at most 15 arguments");   \
	static uint16_t FXT_PASTE_(site, texts_)[4 + FXT_NUMBER_(__VA_ARGS__)];                  \
	static struct fxt_trace_site site = {&site.own, category, name, FXT_PASTE_(site, texts_), 1, 0}

/* Does `action`, which may use fxt_site_, if the site is to say something. */
#define FXT_SAY_(category, name, action, ...)                      \
	do {                                                       \
		FXT_SITE_(fxt_site_, category, name, __VA_ARGS__); \
		if (fxt_trace_is_on_(&fxt_site_))                  \
			fxt_trace_agent_()->action;                \
	} while (0)

#define FXT_EVENT_(type, category, name, id, ...) \
	FXT_SAY_("" category "", "" name "", event(&fxt_site_, type, id, FXT_PACK_(__VA_ARGS__)), __VA_ARGS__)
#define FXT_EVENT_WITHOUT_ID_(type, category, name, ...) FXT_EVENT_(type, category, name, 0, __VA_ARGS__)
#define FXT_COUNTER_(category, name, id, ...)                                                        \
	do {                                                                                         \
		FXT_ASSERT_(FXT_NUMBER_(__VA_ARGS__) != 0, "fxt: a counter has at least one value"); \
		FXT_EVENT_(1, category, name, id, __VA_ARGS__);                                      \
	} while (0)
#define FXT_INSTANT_(category, name, scope, ...)                                                         \
	do {                                                                                             \
		FXT_ASSERT_((scope) >= 0 && (scope) <= 2, "fxt: FXT_SCOPE_THREAD, _PROCESS or _GLOBAL"); \
		FXT_EVENT_(0, category, name, 0, __VA_ARGS__);                                           \
	} while (0)

/* A piece of a task begins or ends: its duration, its span and its arrow. */
#define FXT_TASK_STARTS_(flow, category, name, id, ...)         \
	do {                                                    \
		uint64_t fxt_task_ = (id);                      \
		FXT_EVENT_(2, category, name, 0, __VA_ARGS__);  \
		FXT_EVENT_(5, category, name, fxt_task_, 0);    \
		FXT_EVENT_(flow, category, name, fxt_task_, 0); \
	} while (0)
#define FXT_TASK_STOPS_(category, name, id, ...)               \
	do {                                                   \
		FXT_EVENT_(7, category, name, id, 0);          \
		FXT_EVENT_(3, category, name, 0, __VA_ARGS__); \
	} while (0)
#define FXT_TASK_ENDS_(category, name, id, ...)                          \
	do {                                                             \
		uint64_t fxt_task_ = (id);                               \
		FXT_EVENT_(10, category, name, fxt_task_, 0);            \
		FXT_TASK_STOPS_(category, name, fxt_task_, __VA_ARGS__); \
	} while (0)

FXT_INLINE_ void fxt_trace_span_end_(struct fxt_trace_span *span)
{
	if (__builtin_expect(span->begin != 0, 0))
		fxt_trace_agent_()->span_end(span);
}

#define FXT_DURATION_(its_site, its_arguments, its_span, category, name, ...)               \
	FXT_SITE_(its_site, "" category "", "" name "", __VA_ARGS__);                       \
	struct fxt_trace_argument                                                           \
	        its_arguments[FXT_NUMBER_(__VA_ARGS__) > 0 ? FXT_NUMBER_(__VA_ARGS__) : 1]; \
	struct fxt_trace_span its_span __attribute__((cleanup(fxt_trace_span_end_)));       \
	its_span.begin = 0;                                                                 \
	if (fxt_trace_is_on_(&its_site)) {                                                  \
		struct fxt_trace_argument *fxt_at_ = its_arguments;                         \
		FXT_STORE_(fxt_at_, __VA_ARGS__);                                           \
		its_span.site = &its_site;                                                  \
		its_span.arguments = its_arguments;                                         \
		its_span.count = (size_t)(fxt_at_ - its_arguments);                         \
		fxt_trace_agent_()->span_begin(&its_span, __builtin_return_address(0));     \
	}                                                                                   \
	(void)0
#define FXT_DURATION_NAMED_(number, ...)                                                 \
	FXT_DURATION_(FXT_PASTE_(fxt_site_, number), FXT_PASTE_(fxt_arguments_, number), \
	        FXT_PASTE_(fxt_span_, number), __VA_ARGS__)

#define FXT_USERSPACE_OBJECT_(pointer, name, ...)                                              \
	FXT_SAY_(NULL, NULL,                                                                   \
	        userspace_object(&fxt_site_, (uint64_t)(uintptr_t)(pointer), FXT_VALUE_(name), \
	                FXT_PACK_(__VA_ARGS__)),                                               \
	        __VA_ARGS__)
#define FXT_KERNEL_OBJECT_(koid, type, name, ...)                                                \
	FXT_SAY_(NULL, NULL,                                                                     \
	        kernel_object(&fxt_site_, koid, type, FXT_VALUE_(name), FXT_PACK_(__VA_ARGS__)), \
	        __VA_ARGS__)
#define FXT_BLOB_EVENT_(category, name, data, bytes, ...)                                              \
	FXT_SAY_("" category "", "" name "", blob(&fxt_site_, 1, data, bytes, FXT_PACK_(__VA_ARGS__)), \
	        __VA_ARGS__)

FXT_INLINE_ uint64_t fxt_trace_nonce_(void)
{
	const struct fxt_trace_agent *agent = fxt_trace_agent_();

	return agent && __atomic_load_n(&agent->version, __ATOMIC_ACQUIRE) ? agent->nonce() : 0;
}

FXT_INLINE_ void fxt_trace_declare_(const char *name, const char *description)
{
	const struct fxt_trace_agent *agent = fxt_trace_agent_();

	if (agent && __atomic_load_n(&agent->version, __ATOMIC_ACQUIRE))
		agent->declare(name, description);
}

/* ---- the macros ---- */

/* FXT_CATEGORY("server", "requests and their answers"); beside functions: a category that
 * `fxtctl categories` lists with this description. Others are listed once they are used. */
#define FXT_CATEGORY(name, description)          FXT_CATEGORY_(__COUNTER__, name, description)
#define FXT_CATEGORY_(number, name, description) FXT_CATEGORY2_(number, name, description)
#define FXT_CATEGORY2_(number, name, description)                                              \
	static FXT_UNSEEN_ __attribute__((constructor)) void fxt_trace_category_##number(void) \
	{                                                                                      \
		fxt_trace_declare_("" name "", "" description "");                             \
	}                                                                                      \
	typedef int fxt_trace_category_type_##number __attribute__((unused))

/* Whether anything, or events of this category, are recorded now. */
#define FXT_ENABLED()                                \
	__extension__({                              \
		FXT_SITE_(fxt_site_, NULL, NULL, 0); \
		fxt_trace_is_on_(&fxt_site_) != 0;   \
	})
#define FXT_CATEGORY_ENABLED(category)                         \
	__extension__({                                        \
		FXT_SITE_(fxt_site_, "" category "", NULL, 0); \
		fxt_trace_is_on_(&fxt_site_) != 0;             \
	})

/* An id that no other process of the trace has, for async events and flows; 0 without the
 * agent. */
#define FXT_NONCE() fxt_trace_nonce_()

/* (category, name, scope, arguments...): a moment */
#define FXT_INSTANT(...) FXT_INSTANT_(__VA_ARGS__, 0)
/* (category, name, id, arguments...): a series of values for each argument */
#define FXT_COUNTER(...) FXT_COUNTER_(__VA_ARGS__, 0)
/* (category, name, arguments...): from here to the end of the block. Strings must exist
 * until then. */
#define FXT_DURATION(...) FXT_DURATION_NAMED_(__COUNTER__, __VA_ARGS__, 0)
/* (category, name, arguments...): a duration of this thread that begins or ends here; they
 * nest */
#define FXT_DURATION_BEGIN(...) FXT_EVENT_WITHOUT_ID_(2, __VA_ARGS__, 0)
#define FXT_DURATION_END(...)   FXT_EVENT_WITHOUT_ID_(3, __VA_ARGS__, 0)
/* (category, name, id, arguments...): a duration with a row of its own, on any threads */
#define FXT_ASYNC_BEGIN(...)   FXT_EVENT_(5, __VA_ARGS__, 0)
#define FXT_ASYNC_INSTANT(...) FXT_EVENT_(6, __VA_ARGS__, 0)
#define FXT_ASYNC_END(...)     FXT_EVENT_(7, __VA_ARGS__, 0)
/* (category, name, id, arguments...): an arrow from duration to duration, which each lies
 * in */
#define FXT_FLOW_BEGIN(...) FXT_EVENT_(8, __VA_ARGS__, 0)
#define FXT_FLOW_STEP(...)  FXT_EVENT_(9, __VA_ARGS__, 0)
#define FXT_FLOW_END(...)   FXT_EVENT_(10, __VA_ARGS__, 0)
/* (category, name, id, arguments...): a task that threads run in pieces. Each piece is a
 * duration of its thread, the pieces of one task are one row of async spans, and arrows lead
 * from piece to piece. */
#define FXT_TASK_BEGIN(...)   FXT_TASK_STARTS_(8, __VA_ARGS__, 0)
#define FXT_TASK_SUSPEND(...) FXT_TASK_STOPS_(__VA_ARGS__, 0)
#define FXT_TASK_RESUME(...)  FXT_TASK_STARTS_(9, __VA_ARGS__, 0)
#define FXT_TASK_END(...)     FXT_TASK_ENDS_(__VA_ARGS__, 0)
/* (category, name, data, bytes, arguments...): data at a moment; (category, name, data,
 * bytes): data alone. At most 32000 bytes. */
#define FXT_BLOB_EVENT(...) FXT_BLOB_EVENT_(__VA_ARGS__, 0)
#define FXT_BLOB_ATTACHMENT(category, name, data, bytes) \
	FXT_SAY_("" category "", "" name "", blob(&fxt_site_, 0, data, bytes, FXT_PACK_(0)), 0)
/* (pointer, name, arguments...): readers show the name for the pointer; (koid, type, name,
 * arguments...): a type of 1 is a process, 2 a thread */
#define FXT_USERSPACE_OBJECT(...) FXT_USERSPACE_OBJECT_(__VA_ARGS__, 0)
#define FXT_KERNEL_OBJECT(...)    FXT_KERNEL_OBJECT_(__VA_ARGS__, 0)
/* a line of a log, from the calling thread */
#define FXT_LOG(text) FXT_SAY_(NULL, NULL, log(&fxt_site_, FXT_VALUE_(text)), 0)
/* the name of the calling thread, in the trace alone */
#define FXT_THREAD_NAME(name) FXT_SAY_(NULL, NULL, name_thread(name), 0)
/* raises an alert, as fxt_alert() does: fxtctl may wait for it */
#define FXT_ALERT(category, name) FXT_SAY_("" category "", NULL, alert(name), 0)

#else

#define FXT_CATEGORY(name, description) struct fxt_trace_nothing_
#define FXT_ENABLED()                   0
#define FXT_CATEGORY_ENABLED(category)  0
#define FXT_NONCE()                     UINT64_C(0)
#define FXT_INSTANT(...)                (void)0
#define FXT_COUNTER(...)                (void)0
#define FXT_DURATION(...)               (void)0
#define FXT_DURATION_BEGIN(...)         (void)0
#define FXT_DURATION_END(...)           (void)0
#define FXT_ASYNC_BEGIN(...)            (void)0
#define FXT_ASYNC_INSTANT(...)          (void)0
#define FXT_ASYNC_END(...)              (void)0
#define FXT_FLOW_BEGIN(...)             (void)0
#define FXT_FLOW_STEP(...)              (void)0
#define FXT_FLOW_END(...)               (void)0
#define FXT_TASK_BEGIN(...)             (void)0
#define FXT_TASK_SUSPEND(...)           (void)0
#define FXT_TASK_RESUME(...)            (void)0
#define FXT_TASK_END(...)               (void)0
#define FXT_BLOB_EVENT(...)             (void)0
#define FXT_BLOB_ATTACHMENT(...)        (void)0
#define FXT_USERSPACE_OBJECT(...)       (void)0
#define FXT_KERNEL_OBJECT(...)          (void)0
#define FXT_LOG(text)                   (void)0
#define FXT_THREAD_NAME(name)           (void)0
#define FXT_ALERT(category, name)       (void)0

#endif

#ifdef FXT_PLAIN_NAMES
#define TRACE_ENABLED          FXT_ENABLED
#define TRACE_CATEGORY_ENABLED FXT_CATEGORY_ENABLED
#define TRACE_NONCE            FXT_NONCE
#define TRACE_SCOPE_THREAD     FXT_SCOPE_THREAD
#define TRACE_SCOPE_PROCESS    FXT_SCOPE_PROCESS
#define TRACE_SCOPE_GLOBAL     FXT_SCOPE_GLOBAL
#define TRACE_INSTANT          FXT_INSTANT
#define TRACE_COUNTER          FXT_COUNTER
#define TRACE_DURATION         FXT_DURATION
#define TRACE_DURATION_BEGIN   FXT_DURATION_BEGIN
#define TRACE_DURATION_END     FXT_DURATION_END
#define TRACE_ASYNC_BEGIN      FXT_ASYNC_BEGIN
#define TRACE_ASYNC_INSTANT    FXT_ASYNC_INSTANT
#define TRACE_ASYNC_END        FXT_ASYNC_END
#define TRACE_FLOW_BEGIN       FXT_FLOW_BEGIN
#define TRACE_FLOW_STEP        FXT_FLOW_STEP
#define TRACE_FLOW_END         FXT_FLOW_END
#define TRACE_BLOB_EVENT       FXT_BLOB_EVENT
#define TRACE_BLOB_ATTACHMENT  FXT_BLOB_ATTACHMENT
#define TRACE_KERNEL_OBJECT    FXT_KERNEL_OBJECT
#define TRACE_ALERT            FXT_ALERT
#define TA_NULL                FXT_TA_NULL
#define TA_BOOL                FXT_TA_BOOL
#define TA_INT32               FXT_TA_INT32
#define TA_UINT32              FXT_TA_UINT32
#define TA_INT64               FXT_TA_INT64
#define TA_UINT64              FXT_TA_UINT64
#define TA_DOUBLE              FXT_TA_DOUBLE
#define TA_STRING              FXT_TA_STRING
#define TA_CHAR_ARRAY          FXT_TA_CHAR_ARRAY
#define TA_POINTER             FXT_TA_POINTER
#define TA_KOID                FXT_TA_KOID
#define TA_BLOB                FXT_TA_BLOB
#endif

#endif

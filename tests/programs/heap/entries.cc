/*
 * Every entry point of the allocator and every operator new and delete, each with blocks of a size of its
 * own: entries [NAME]... leaves out those named, prints "size freed" or "size kept" for every block in order
 * of size, and checks that blocks hold what was written, by their usable sizes too.
 */
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <new>

static size_t last_size = 64000;
static char **left_out;

static bool is_wanted(const char *name)
{
	for (char **out = left_out; *out; out++)
		if (strcmp(*out, name) == 0)
			return false;
	return true;
}

static size_t next_size()
{
	return last_size += 64;
}

/* A new block: it is as large as promised and lies where it should. */
static void *check(void *block, size_t size, size_t alignment = 16)
{
	if (!block || (uintptr_t)block % alignment || malloc_usable_size(block) < size) {
		printf("block of %zu bytes: %p\n", size, block);
		exit(1);
	}
	memset(block, 0x55, size);
	return block;
}

static void tell(size_t size, const char *end)
{
	printf("%zu %s\n", size, end);
}

template <typename Allocate, typename Free>
static void pair(const char *name, Allocate allocate, Free release, size_t alignment = 16)
{
	size_t size = next_size();

	if (!is_wanted(name))
		return;
	release(check(allocate(size), size, alignment), size);
	tell(size, "freed");
}

static void by_free(void *block, size_t)
{
	free(block);
}

/* Functions that not every libc has. */
template <typename... Parameters> static void (*find(const char *name))(Parameters...)
{
	return reinterpret_cast<void (*)(Parameters...)>(dlsym(RTLD_DEFAULT, name));
}

static void resize()
{
	size_t first = next_size(), second = next_size(), third = next_size();
	char *block = static_cast<char *>(check(realloc(nullptr, first), first));

	strcpy(block, "kept");
	block = static_cast<char *>(realloc(block, second));
	tell(first, "freed");
	block = static_cast<char *>(reallocarray(block, third, 1));
	tell(second, "freed");
	if (strcmp(block, "kept") != 0)
		exit(2);
	char *volatile same = block; /* which stays where resizing fails */
	volatile size_t huge = SIZE_MAX / 2;
	errno = 0;
	if (reallocarray(same, huge, 4) || errno != ENOMEM || realloc(same, huge) ||
	        strcmp(same, "kept") != 0)
		exit(3);
	tell(third, "kept");
}

static void without_success()
{
	volatile size_t huge = SIZE_MAX / 2;
	void *block = nullptr;

	if (void *volatile none = malloc(huge + 1); none)
		exit(5);
	if (void *volatile none = calloc(huge, 4); none)
		exit(6);
	if (posix_memalign(&block, 3, 100) != EINVAL)
		exit(7);
	if (void *volatile none = operator new(huge, std::nothrow); none)
		exit(8);
	try {
		static void *volatile none =
		        is_wanted("bad_alloc") ? operator new(huge) : throw std::bad_alloc();
		exit(none ? 9 : 10);
	} catch (const std::bad_alloc &) {
	}
	free(nullptr);
	operator delete(nullptr);
}

static void *zeroed(size_t size)
{
	char *block = static_cast<char *>(calloc(1, size));

	for (size_t i = 0; i < size; i++)
		if (block[i])
			exit(11);
	return block;
}

int main(int, char **argv)
{
	static constexpr std::align_val_t aligned{64};

	left_out = argv + 1;
	pair(
	        "malloc", [](size_t n) { return malloc(n); }, by_free);
	pair("calloc", zeroed, by_free);
	pair(
	        "memalign", [](size_t n) { return memalign(512, n); }, by_free, 512);
	pair(
	        "aligned_alloc", [](size_t n) { return aligned_alloc(128, n); }, by_free, 128);
	pair(
	        "valloc", [](size_t n) { return valloc(n); }, by_free, 4096);
	pair(
	        "pvalloc", [](size_t n) { return pvalloc(n); }, by_free, 4096);
	pair(
	        "posix_memalign",
	        [](size_t n) {
		        void *block;

		        return posix_memalign(&block, 1024, n) ? nullptr : block;
	        },
	        by_free, 1024);
	if (auto *function = find<void *>("cfree"))
		pair(
		        "cfree", [](size_t n) { return malloc(n); }, [&](void *p, size_t) { function(p); });
	if (auto *function = find<void *, size_t>("free_sized"))
		pair(
		        "free_sized", [](size_t n) { return malloc(n); },
		        [&](void *p, size_t n) { function(p, n); });
	if (auto *function = find<void *, size_t, size_t>("free_aligned_sized"))
		pair(
		        "free_aligned_sized", [](size_t n) { return aligned_alloc(64, n); },
		        [&](void *p, size_t n) { function(p, 64, n); });
	resize();

	pair(
	        "new", [](size_t n) { return operator new(n); }, [](void *p, size_t) { operator delete(p); });
	pair(
	        "new[]", [](size_t n) { return operator new[](n); },
	        [](void *p, size_t) { operator delete[](p); });
	pair(
	        "new, sized", [](size_t n) { return operator new(n); },
	        [](void *p, size_t n) { operator delete(p, n); });
	pair(
	        "new[], sized", [](size_t n) { return operator new[](n); },
	        [](void *p, size_t n) { operator delete[](p, n); });
	pair(
	        "new, nothrow", [](size_t n) { return operator new(n, std::nothrow); },
	        [](void *p, size_t) { operator delete(p, std::nothrow); });
	pair(
	        "new[], nothrow", [](size_t n) { return operator new[](n, std::nothrow); },
	        [](void *p, size_t) { operator delete[](p, std::nothrow); });
	pair(
	        "new, aligned", [](size_t n) { return operator new(n, aligned); },
	        [](void *p, size_t) { operator delete(p, aligned); }, 64);
	pair(
	        "new[], aligned", [](size_t n) { return operator new[](n, aligned); },
	        [](void *p, size_t) { operator delete[](p, aligned); }, 64);
	pair(
	        "new, aligned, sized", [](size_t n) { return operator new(n, aligned); },
	        [](void *p, size_t n) { operator delete(p, n, aligned); }, 64);
	pair(
	        "new[], aligned, sized", [](size_t n) { return operator new[](n, aligned); },
	        [](void *p, size_t n) { operator delete[](p, n, aligned); }, 64);
	pair(
	        "new, aligned, nothrow", [](size_t n) { return operator new(n, aligned, std::nothrow); },
	        [](void *p, size_t) { operator delete(p, aligned, std::nothrow); }, 64);
	pair(
	        "new[], aligned, nothrow", [](size_t n) { return operator new[](n, aligned, std::nothrow); },
	        [](void *p, size_t) { operator delete[](p, aligned, std::nothrow); }, 64);
	without_success();
	return 0;
}

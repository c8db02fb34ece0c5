/* Chooses imported functions (import_choice.h). Pure functions, without libc's fnmatch(),
 * which depends on the locale. */
#include "import_choice.h"
#include <stddef.h>
#include <string.h>

#define MODULE "module:"

/*
 * Functions that see through which return address they are called, and those that return to
 * it more than once, at another time or on another stack; and functions that the compiler
 * calls by rules of its own, or very often.
 */
static const char *const impossible[] = {
        /* by their caller: libc, unwinders and sanitizers */
        "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dl*", "_Unwind_*", "__asan_*", "__hwasan_*",
        "__lsan_*", "__msan_*", "__tsan_*", "__ubsan_*", "__sanitizer_*", "mcount", "_mcount", "__fentry__",
        "__cyg_profile_func_*", "__morestack*",
        /* return twice, or elsewhere */
        "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk",
        "vfork", "__vfork", "clone", "__clone", "clone3", "getcontext", "setcontext", "swapcontext",
        "makecontext", "*_fcontext",
        /* begin and end of the program and of modules, and calls by the compiler */
        "__libc_start_main", "__gmon_start__", "__cxa_finalize", "__stack_chk_fail", "__tls_get_addr*", NULL};

/* Steps over a set of characters "[a-z]" and says whether `character` is in it. A bracket
 * without an end stands for itself. */
static const char *glob_set(const char *at, char character, bool *is_in)
{
	bool is_negated = at[1] == '!' || at[1] == '^';
	const char *first = at + 1 + is_negated, *end = *first ? strchr(first + 1, ']') : NULL;

	*is_in = !end && character == '[';
	if (!end)
		return at + 1;
	for (at = first; at < end; at++) {
		bool is_range = at[1] == '-' && at + 2 < end;

		*is_in |= is_range ? at[0] <= character && character <= at[2] : at[0] == character;
		at += is_range ? 2 : 0;
	}
	*is_in ^= is_negated;
	return end + 1;
}

static bool glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *star_text = NULL;

	for (;;) {
		const char *next = pattern + 1;
		bool fits;

		if (*pattern == '*') {
			star = ++pattern;
			star_text = text;
			continue;
		}
		if (!*text && !*pattern)
			return true;
		fits = *text && (*pattern == '?' || *pattern == *text);
		if (*text && *pattern == '[')
			next = glob_set(pattern, *text, &fits);
		if (fits) {
			pattern = next;
			text++;
		} else if (star && *star_text) {
			pattern = star;
			text = ++star_text;
		} else {
			return false;
		}
	}
}

bool agent_import_is_possible(const char *name)
{
	for (size_t i = 0; impossible[i]; i++)
		if (glob_matches(impossible[i], name))
			return false;
	return true;
}

/* A file's path, or any part of it from a folder or name on. */
static bool glob_matches_path(const char *pattern, const char *path)
{
	while (path && !glob_matches(pattern, path)) {
		path = strchr(path, '/');
		path += path != NULL;
	}
	return path;
}

uint64_t agent_import_chosen_by(const char *patterns, const char *name, const char *path)
{
	uint64_t chosen_by = !*patterns;

	for (unsigned i = 0; *patterns; patterns += strlen(patterns) + 1, i += i < 63) {
		bool matches = strncmp(patterns, MODULE, strlen(MODULE)) == 0
		                       ? glob_matches_path(patterns + strlen(MODULE), path)
		                       : glob_matches(patterns, name);

		chosen_by |= (uint64_t)matches << i;
	}
	return chosen_by;
}

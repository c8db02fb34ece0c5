/*
 * Takes demangled C++ names apart (cxx_names.h). A name may be any text: a text that is no
 * C++ name must come out unchanged, and none may take more than linear time or a deep
 * stack.
 */
#include "cxx_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "index.h"

enum { NESTED_MAX = 64 }; /* templates inside templates; deeper names stay as they are */

static bool cxx_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if the text at `at` begins with `word`. */
static bool cxx_has(struct fxt_span text, size_t at, const char *word)
{
	size_t bytes = strlen(word);

	return text.bytes >= at + bytes && memcmp(text.data + at, word, bytes) == 0;
}

/* ---- whose function it is ---- */

static bool cxx_opens(char c)
{
	return c == '<' || c == '(' || c == '[' || c == '{';
}

/* The arrow of an operator or of a return type closes nothing. */
static bool cxx_closes(struct fxt_span name, size_t at)
{
	char c = name.data[at];

	return c == ')' || c == ']' || c == '}' || (c == '>' && !(at > 0 && name.data[at - 1] == '-'));
}

/* Returns the place behind a pair of brackets that begins here; the end if it has none. */
static size_t cxx_skip_brackets(struct fxt_span name, size_t at)
{
	size_t depth = 0;

	for (; at < name.bytes; at++) {
		if (cxx_opens(name.data[at]))
			depth++;
		else if (cxx_closes(name, at))
			depth--;
		if (depth == 0)
			return at + 1;
	}
	return at;
}

size_t fxt_cxx_scope(struct fxt_span name)
{
	size_t begin = 0, at = 0;

	while (at < name.bytes) {
		bool is_begin = at == 0 || !cxx_is_word(name.data[at - 1]);

		if (is_begin && cxx_has(name, at, "operator") &&
		        !(at + 8 < name.bytes && cxx_is_word(name.data[at + 8])))
			return begin;
		if (is_begin && cxx_has(name, at, "decltype"))
			at = cxx_skip_brackets(name, at + strlen("decltype"));
		else if (cxx_has(name, at, "(anonymous namespace)"))
			at += strlen("(anonymous namespace)");
		else if (name.data[at] == '(') {
			/* The name of a function that returns a pointer to one stands in
			 * brackets. */
			size_t inside = at + 1 + (at + 1 < name.bytes && name.data[at + 1] == '*');

			if (inside == at + 1 || at == 0 || name.data[at - 1] != ' ') {
				/* Behind parameters comes what is local to that function, or
				 * the end. */
				at = cxx_skip_brackets(name, at);
				at += cxx_has(name, at, " const::") ? strlen(" const") : 0;
				if (!cxx_has(name, at, "::"))
					return begin;
				continue;
			}
			at = inside + (inside < name.bytes && name.data[inside] == '&');
			begin = at;
		} else if (cxx_opens(name.data[at])) {
			at = cxx_skip_brackets(name, at);
		} else {
			begin = name.data[at] == ' ' || name.data[at] == '*' || name.data[at] == '&' ? at + 1
			                                                                             : begin;
			at++;
		}
	}
	return begin;
}

bool fxt_is_library_name(struct fxt_span name)
{
	static const char *const scopes[] = {"std::", "__gnu_cxx::", "__cxxabiv1::", "__gnu_debug::",
	        "__gthread_"},
	                         *const placing[] = {"operator new(unsigned long, void*)",
	                                 "operator new[](unsigned long, void*)",
	                                 "operator delete(void*, void*)", "operator delete[](void*, void*)"};

	/* These place an object, and belong to no namespace. */
	for (size_t i = 0; i < sizeof(placing) / sizeof(*placing); i++)
		if (fxt_span_is(name, placing[i]))
			return true;
	/* Most names are of C: no bracket and no colon. */
	if (name.bytes == 0 || !(memmem(name.data, name.bytes, "::", 2) || cxx_has(name, 0, "__gthread_")))
		return false;
	size_t begin = fxt_cxx_scope(name);

	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		if (cxx_has(name, begin, scopes[i]))
			return true;
	return false;
}

/* ---- as people write it ---- */

/* Templates with arguments that a program seldom gives. */
static const char *const with_defaults[] = {"vector", "deque", "list", "forward_list", "set", "multiset",
        "map", "multimap", "unordered_set", "unordered_multiset", "unordered_map", "unordered_multimap",
        "unique_ptr", "basic_string", "basic_string_view", "basic_ios", "basic_istream", "basic_ostream",
        "basic_iostream", "basic_streambuf", "basic_stringbuf", "basic_filebuf", "basic_stringstream",
        "basic_istringstream", "basic_ostringstream", "basic_fstream", "basic_ifstream", "basic_ofstream"};

static const char *const defaults[] = {
        "allocator<", "char_traits<", "less<", "hash<", "equal_to<", "default_delete<"};

/* The text read, and the text written: never more. */
struct cxx_text {
	struct fxt_span in;
	size_t at;
	char *out;
	size_t bytes;
	unsigned depth;
	bool is_broken;
};

static struct fxt_span cxx_written(const struct cxx_text *t, size_t from)
{
	return (struct fxt_span){t->out + from, t->bytes - from};
}

/* Finds the last component of the name that was written up to a bracket, if the name is
 * std's; its length is 0 otherwise. */
static struct fxt_span cxx_template(const struct cxx_text *t)
{
	size_t begin = t->bytes;

	while (begin > 0 && cxx_is_word(t->out[begin - 1]))
		begin--;
	bool is_std = begin >= 5 && memcmp(t->out + begin - 5, "std::", 5) == 0 &&
	              (begin == 5 || !(cxx_is_word(t->out[begin - 6]) || t->out[begin - 6] == ':'));

	return is_std ? cxx_written(t, begin) : (struct fxt_span){"", 0};
}

static bool cxx_has_defaults(struct fxt_span name)
{
	for (size_t i = 0; i < sizeof(with_defaults) / sizeof(*with_defaults); i++)
		if (fxt_span_is(name, with_defaults[i]))
			return true;
	return false;
}

/* True if an argument is what the template has by itself: std::less of its first one, and
 * so on. The allocator of a map is one of pairs. */
static bool cxx_is_default(struct fxt_span argument, struct fxt_span first)
{
	for (size_t i = 0; cxx_has(argument, 0, "std::") && i < sizeof(defaults) / sizeof(*defaults); i++) {
		size_t begin = 5 + strlen(defaults[i]);

		if (!cxx_has(argument, 5, defaults[i]))
			continue;
		return i == 0 || (argument.bytes == begin + first.bytes + 1 &&
		                         memcmp(argument.data + begin, first.data, first.bytes) == 0);
	}
	return false;
}

static void cxx_write_part(struct cxx_text *t, char until);

/* Replaces std::basic_string<char> by std::string, wchar_t by std::wstring. */
static void cxx_name_instance(struct cxx_text *t, size_t name, size_t first)
{
	struct fxt_span arguments = cxx_written(t, first);
	bool is_wide = fxt_span_is(arguments, "wchar_t");
	size_t basic = strlen("basic_"), begin = name + (is_wide ? 1 : 0);

	if (!cxx_has(cxx_written(t, name), 0, "basic_") || !(is_wide || fxt_span_is(arguments, "char"))) {
		t->out[t->bytes++] = '>';
		return;
	}
	t->bytes = first - 1; /* before the bracket */
	memmove(t->out + begin, t->out + name + basic, t->bytes - name - basic);
	t->bytes -= basic - (is_wide ? 1 : 0);
	if (is_wide)
		t->out[name] = 'w';
}

/* Writes the arguments of a template, from the opening bracket to the closing one. */
static void cxx_write_arguments(struct cxx_text *t)
{
	struct fxt_span name = cxx_template(t), first_argument = {"", 0};
	bool has_defaults = cxx_has_defaults(name);
	size_t name_at = t->bytes - name.bytes, first = t->bytes + 1, kept = first, begin = first;

	t->out[t->bytes++] = t->in.data[t->at++];
	for (bool is_first = true;; is_first = false) {
		cxx_write_part(t, '>');
		if (t->is_broken || t->at == t->in.bytes) {
			t->is_broken = true;
			return;
		}
		while (t->bytes > begin && t->out[t->bytes - 1] == ' ')
			t->bytes--;
		if (is_first)
			first_argument = cxx_written(t, begin);
		if (is_first || !has_defaults || !cxx_is_default(cxx_written(t, begin), first_argument))
			kept = t->bytes;
		if (t->in.data[t->at] == '>')
			break;
		t->out[t->bytes++] = t->in.data[t->at++];
		if (t->at < t->in.bytes && t->in.data[t->at] == ' ')
			t->out[t->bytes++] = t->in.data[t->at++];
		begin = t->bytes;
	}
	t->at++;
	t->bytes = kept;
	if (has_defaults)
		cxx_name_instance(t, name_at, first);
	else
		t->out[t->bytes++] = '>';
}

/* Skips the inline namespaces of the library behind two colons. */
static void cxx_skip_inline(struct cxx_text *t)
{
	static const char *const names[] = {"__cxx11::", "__1::"};

	for (size_t i = 0; t->bytes >= 2 && memcmp(t->out + t->bytes - 2, "::", 2) == 0 &&
	                   i < sizeof(names) / sizeof(*names);
	        i++)
		if (cxx_has(t->in, t->at, names[i]))
			t->at += strlen(names[i]);
}

/* Writes an operator's name. Its brackets open nothing. */
static bool cxx_write_operator(struct cxx_text *t)
{
	static const char *const signs[] = {"()", "[]", "->", "<=>", "<<", ">>", "<", ">"};
	size_t bytes = strlen("operator");

	if ((t->at > 0 && cxx_is_word(t->in.data[t->at - 1])) || !cxx_has(t->in, t->at, "operator") ||
	        t->at + bytes == t->in.bytes)
		return false;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (!cxx_has(t->in, t->at + bytes, signs[i]))
			continue;
		bytes += strlen(signs[i]);
		memcpy(t->out + t->bytes, t->in.data + t->at, bytes);
		t->bytes += bytes;
		t->at += bytes;
		return true;
	}
	return false;
}

/* Writes up to the end of a pair of brackets, or of an argument of a template; the bracket
 * or comma itself is left. '\0': to the end of the name. */
static void cxx_write_part(struct cxx_text *t, char until)
{
	if (++t->depth > NESTED_MAX) {
		t->is_broken = true;
		return;
	}
	while (t->at < t->in.bytes && !t->is_broken) {
		char c = t->in.data[t->at];
		bool closes = (c == '>' || c == ')') && cxx_closes(t->in, t->at);

		if ((closes && c == until) || (until == '>' && c == ','))
			break;
		if (cxx_write_operator(t))
			continue;
		if (c == '<') {
			cxx_write_arguments(t);
			continue;
		}
		if (closes) {
			t->is_broken = true;
			break;
		}
		t->out[t->bytes++] = c;
		t->at++;
		if (c == '(') {
			cxx_write_part(t, ')');
			t->is_broken |= t->at == t->in.bytes;
			if (!t->is_broken)
				t->out[t->bytes++] = t->in.data[t->at++];
		}
		cxx_skip_inline(t);
	}
	t->depth--;
}

char *fxt_cxx_name_shorten(struct fxt_span name, size_t *bytes)
{
	struct cxx_text t = {.in = name};

	if (name.bytes == 0 || !(memmem(name.data, name.bytes, "std::", 5)))
		return NULL;
	t.out = fxt_resize(NULL, name.bytes + 1, 1);
	cxx_write_part(&t, '\0');
	if (t.is_broken || t.bytes == name.bytes) {
		free(t.out);
		return NULL;
	}
	*bytes = t.bytes;
	return t.out;
}

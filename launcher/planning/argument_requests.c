/* Reads --args and --returns (argument_requests.h), on the thread that reads the options. */
#include "argument_requests.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "arch.h"
#include "launcher/values.h"

#define VECTOR_ARGUMENTS 8

/* ---- values by hand ---- */

/* A number behind a prefix, up to the slash or the end; 0: there is none. */
static unsigned long requests_number(const char **text, const char *prefix)
{
	size_t bytes = strlen(prefix);
	char *end;
	unsigned long number;

	if (strncmp(*text, prefix, bytes) != 0 || (*text)[bytes] < '1' || (*text)[bytes] > '9')
		return 0;
	number = strtoul(*text + bytes, &end, 10);
	*text = end;
	return number;
}

static bool requests_is_by_hand(const char *text)
{
	const char *at = text;

	if (strncmp(text, "retval", 6) == 0)
		at += 6;
	else if (!requests_number(&at, "arg") && !requests_number(&at, "fparg"))
		return false;
	return *at == 0 || *at == '/';
}

bool fxt_argument_type_read(const char *text, struct fxt_planned_value *value)
{
	static const struct {
		char letter;
		enum fxt_value_type type;
		uint8_t bytes;
	} types[] = {{'i', FXT_VALUE_SIGNED, 8}, {'d', FXT_VALUE_SIGNED, 8}, {'u', FXT_VALUE_UNSIGNED, 8},
	        {'x', FXT_VALUE_POINTER, 8}, {'p', FXT_VALUE_POINTER, 8}, {'b', FXT_VALUE_BOOL, 1},
	        {'c', FXT_VALUE_SIGNED, 1}, {'f', FXT_VALUE_FLOATING, 8}, {'s', FXT_VALUE_TEXT, 8},
	        {'S', FXT_VALUE_STRING, 8}};
	unsigned long bits;
	char *end;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (*text != types[i].letter)
			continue;
		value->type = (uint8_t)types[i].type;
		value->bytes = types[i].bytes;
		text++;
		break;
	}
	if (!*text)
		return true;
	bits = strtoul(text, &end, 10);
	value->bytes = (uint8_t)(bits / 8);
	if (value->type == FXT_VALUE_TEXT || value->type == FXT_VALUE_STRING)
		return false;
	return !*end && end > text && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

/* arg1/i32, fparg1/64, retval/s. */
static const char *requests_add_by_hand(struct fxt_argument_request *r, const char *text)
{
	struct fxt_planned_value value = {.type = FXT_VALUE_SIGNED, .bytes = 8}, *values;
	const char *at = text;
	size_t name_bytes = strcspn(text, "/");
	unsigned long number;
	char(*names)[16];

	if (r->count == FXT_PLANNED_VALUES)
		return "asks for more than 14 values of a function";
	if (!requests_is_by_hand(text) || name_bytes >= sizeof(*names))
		return "has no arg1, fparg1 or retval where one must be, such as f@arg1/i32,retval/s";
	if (strncmp(at, "retval", 6) == 0) {
		value.is_result = 1;
		value.source = FXT_VALUE_GENERAL;
		at += 6;
	} else if ((number = requests_number(&at, "fparg"))) {
		value.source = FXT_VALUE_VECTOR;
		value.type = FXT_VALUE_FLOATING;
		value.number = (uint8_t)(number - 1);
		if (number > VECTOR_ARGUMENTS)
			return "has a floating argument beyond fparg8";
	} else {
		number = requests_number(&at, "arg");
		if (number > ARCH_ARGUMENT_REGISTERS + 64)
			return "has an argument beyond arg70";
		if (number <= ARCH_ARGUMENT_REGISTERS) {
			value.source = FXT_VALUE_GENERAL;
			value.number = arch_argument_register((unsigned)number - 1);
		} else {
			value.source = FXT_VALUE_STACK;
			value.offset = (int32_t)(number - ARCH_ARGUMENT_REGISTERS - 1) * 8;
			value.steps = 1;
		}
	}
	if (*at == '/' && !fxt_argument_type_read(at + 1, &value))
		return "has a type that is not one of i, u, x, p, b, c, f, s, S with 8, 16, 32 or 64";
	if (value.type == FXT_VALUE_FLOATING) {
		if (value.bytes < 4)
			return "has a floating type with neither 32 nor 64 bits";
		if (value.is_result)
			value.source = FXT_VALUE_VECTOR;
	}
	values = reallocarray(r->by_hand, r->count + 1, sizeof(*values));
	if (values)
		r->by_hand = values;
	names = reallocarray(r->names, r->count + 1, sizeof(*names));
	if (names)
		r->names = names;
	if (!values || !names)
		return "does not fit into memory";
	values[r->count] = value;
	memcpy(names[r->count], text, name_bytes);
	names[r->count][name_bytes] = 0;
	r->count++;
	return NULL;
}

/* ---- items ---- */

/* The colon before an argument's name; NULL: there is none. Colons of C++ are pairs. */
static char *requests_colon(char *item)
{
	for (char *at = item; (at = strchr(at, ':')); at += 2)
		if (at[1] != ':')
			return at;
	return NULL;
}

static const char *requests_add_item(
        struct fxt_argument_requests *requests, const char *text, size_t bytes, bool for_results)
{
	struct fxt_argument_request *list, *r;
	char *item = strndup(text, bytes), *mark, *colon;
	const char *wrong = NULL;

	if (!item)
		return "does not fit into memory";
	r = requests->count ? &requests->list[requests->count - 1] : NULL;
	if (r && r->by_hand && requests_is_by_hand(item)) {
		wrong = requests_add_by_hand(r, item);
		free(item);
		return wrong;
	}
	list = reallocarray(requests->list, requests->count + 1, sizeof(*list));
	if (!list) {
		free(item);
		return "does not fit into memory";
	}
	requests->list = list;
	r = &list[requests->count++];
	*r = (struct fxt_argument_request){.pattern = item,
	        .wants_result = for_results,
	        .wants_arguments = !for_results,
	        .is_of_results = for_results};
	mark = strchr(item, '@');
	colon = mark ? NULL : requests_colon(item);
	if (mark) {
		*mark = 0;
		r->wants_result = r->wants_arguments = false;
		wrong = requests_add_by_hand(r, mark + 1);
	} else if (colon) {
		*colon = 0;
		r->path = strdup(colon + 1);
		if (for_results)
			wrong = "has a colon: members of return values are not recorded";
		else if (!r->path || !*r->path)
			wrong = "has no argument behind the colon, such as handle:req->path";
	}
	if (!wrong && !*item)
		wrong = "has an empty item";
	r->nearest = fxt_nearest(fxt_span(item));
	return wrong;
}

const char *fxt_argument_requests_add(
        struct fxt_argument_requests *requests, const char *text, bool for_results)
{
	for (;;) {
		size_t bytes = fxt_value_item_bytes(text);
		const char *wrong = requests_add_item(requests, text, bytes, for_results);

		if (wrong || !text[bytes])
			return wrong;
		text += bytes + 1;
	}
}

void fxt_argument_requests_free(struct fxt_argument_requests *requests)
{
	for (size_t i = 0; i < requests->count; i++) {
		free(requests->list[i].pattern);
		free(requests->list[i].path);
		free(requests->list[i].by_hand);
		free(requests->list[i].names);
	}
	free(requests->list);
	*requests = (struct fxt_argument_requests){0};
}

/* Whether a pattern matches a name of C++ without its parameters. */
static bool request_matches_beginning(const char *pattern, const char *readable)
{
	char name[1024];
	size_t bytes = strcspn(readable, "(");

	if (bytes >= sizeof(name))
		return false;
	memcpy(name, readable, bytes);
	name[bytes] = 0;
	return fnmatch(pattern, name, 0) == 0;
}

static void request_consider(struct fxt_argument_request *request, const char *name)
{
	struct fxt_span candidate = {name, strcspn(name, "(")};

	fxt_nearest_consider(&request->nearest, candidate);
	if (request->nearest.best.data != name)
		return;
	memcpy(request->near, name, candidate.bytes); /* at most 64, as all candidates */
	request->near[candidate.bytes] = 0;
	request->nearest.best.data = request->near;
}

bool fxt_argument_request_matches(
        struct fxt_argument_request *request, const char *symbol, const char *readable)
{
	if ((symbol && fnmatch(request->pattern, symbol, 0) == 0) ||
	        (readable && (fnmatch(request->pattern, readable, 0) == 0 ||
	                             request_matches_beginning(request->pattern, readable))))
		return request->has_matched = true;
	if (!request->has_matched && (readable || symbol) && !strpbrk(request->pattern, "*?["))
		request_consider(request, readable ? readable : symbol);
	return false;
}

/* Reads --usdt, and has the table of well-known probes (probe_requests.h). */
#include "probe_requests.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launcher/values.h"

/* ---- what the user wants ---- */

bool fxt_probe_request_next(const char **list, char item[FXT_PROBE_ITEM_BYTES])
{
	size_t bytes = fxt_value_item_bytes(*list);

	if (!bytes || bytes >= FXT_PROBE_ITEM_BYTES)
		return false;
	memcpy(item, *list, bytes);
	item[bytes] = 0;
	*list += bytes + ((*list)[bytes] != 0);
	return true;
}

/* Reads the texts of an item behind its pattern: @arg1/s@arg3/s. */
static bool request_read_texts(const char *at, unsigned *texts)
{
	for (*texts = 0; *at;) {
		unsigned long number;
		char *end;

		if (strncmp(at, "@arg", 4) != 0)
			return false;
		number = strtoul(at + 4, &end, 10);
		if (number < 1 || number > 12 || strncmp(end, "/s", 2) != 0)
			return false;
		*texts |= 1u << (number - 1);
		at = end + 2;
	}
	return true;
}

/* Splits an item in place. */
static bool request_split(char *item, const char **provider, const char **name, unsigned *texts)
{
	char *at = strchr(item, '@'), *colon;

	*texts = 0;
	if (at && !request_read_texts(at, texts))
		return false;
	if (at)
		*at = 0;
	colon = strchr(item, ':');
	if (!colon || colon == item || !colon[1])
		return false;
	*colon = 0;
	*provider = item;
	*name = colon + 1;
	return true;
}

const char *fxt_probe_request_check(const char *value)
{
	const char *provider, *name;
	char item[FXT_PROBE_ITEM_BYTES];
	unsigned texts;

	if (strcmp(value, "list") == 0)
		return NULL;
	do {
		if (!fxt_probe_request_next(&value, item) || !request_split(item, &provider, &name, &texts))
			return "must be list, or PROVIDER:PROBE with * and ?, and @argN/s for an argument "
			       "that is a text, as in postgresql:query__start@arg1/s";
	} while (*value);
	return NULL;
}

bool fxt_probe_is_wanted(
        const char *const *values, unsigned count, const char *provider, const char *name, unsigned *texts)
{
	bool is_wanted = false;

	*texts = 0;
	for (unsigned i = 0; i < count; i++) {
		const char *list = values[i], *of, *probe;
		char item[FXT_PROBE_ITEM_BYTES];
		unsigned more;

		while (fxt_probe_request_next(&list, item))
			if (request_split(item, &of, &probe, &more) && fnmatch(of, provider, 0) == 0 &&
			        fnmatch(probe, name, 0) == 0) {
				is_wanted = true;
				*texts |= more;
			}
	}
	return is_wanted;
}

/* ---- what is known ---- */

/* Probes with documented arguments. */
static const struct known_probe {
	const char *provider, *name; /* patterns */
	const char *arguments;       /* their names; "/s" marks texts */
} known_probes[] = {
        {"postgresql", "query__start", "query/s"},
        {"postgresql", "query__done", "query/s"},
        {"postgresql", "query__parse__*", "query/s"},
        {"postgresql", "query__rewrite__*", "query/s"},
        {"postgresql", "statement__status", "status/s"},
        {"postgresql", "transaction__*", "transaction"},
        {"postgresql", "lwlock__*", "lock/s mode"},
        {"postgresql", "sort__start", "kind unique keys memory random"},
        {"postgresql", "sort__done", "external used"},
        {"postgresql", "checkpoint__start", "flags"},
        {"postgresql", "buffer__*", "fork block tablespace database relation"},
        {"python", "function__*", "file/s function/s line"},
        {"python", "line", "file/s function/s line"},
        {"python", "import__find__load__start", "module/s"},
        {"python", "import__find__load__done", "module/s found"},
        {"python", "gc__start", "generation"},
        {"python", "gc__done", "collected"},
        {"python", "audit", "event/s arguments"},
        {"libstdcxx", "throw", "exception type"},
        {"libstdcxx", "catch", "exception type"},
        {"libstdcxx", "rethrow", "exception type"},
};

bool fxt_probe_argument(const char *provider, const char *name, unsigned number, char *argument, size_t bytes)
{
	snprintf(argument, bytes, "arg%u", number + 1);
	for (size_t i = 0; i < sizeof(known_probes) / sizeof(*known_probes); i++) {
		const struct known_probe *known = &known_probes[i];
		const char *at = known->arguments;
		size_t length;

		if (strcmp(known->provider, provider) != 0 || fnmatch(known->name, name, 0) != 0)
			continue;
		for (unsigned n = 0; n < number && at; n++)
			at = (at = strchr(at, ' ')) ? at + 1 : NULL;
		if (!at)
			return false;
		length = strcspn(at, " /");
		snprintf(argument, bytes, "%.*s", (int)length, at);
		return at[length] == '/';
	}
	return false;
}

/* ---- pairs ---- */

/* These durations overlap others: one query begins a transaction, and another one ends
 * it. */
static const struct known_pair {
	const char *provider, *stem;
	const char *begin, *end;
} known_pairs[] = {
        {"postgresql", "transaction", "transaction__start", "transaction__commit"},
        {"postgresql", "transaction", "transaction__start", "transaction__abort"},
};

static const char *const pair_words[][2] = {{"start", "done"}, {"entry", "return"}, {"begin", "end"}};

/* The bytes before "__WORD" or "-WORD"; 0: the name does not end so. */
static size_t pair_stem(const char *name, const char *word)
{
	size_t bytes = strlen(name), word_bytes = strlen(word);

	if (bytes <= word_bytes || strcmp(name + bytes - word_bytes, word) != 0)
		return 0;
	bytes -= word_bytes;
	if (name[bytes - 1] == '-')
		return bytes - 1;
	return bytes > 2 && name[bytes - 1] == '_' && name[bytes - 2] == '_' ? bytes - 2 : 0;
}

int fxt_probe_pair(const char *provider, const char *name, size_t *stem, bool *overlaps)
{
	*overlaps = true;
	for (size_t i = 0; i < sizeof(known_pairs) / sizeof(*known_pairs); i++) {
		const struct known_pair *pair = &known_pairs[i];

		*stem = strlen(pair->stem);
		if (strcmp(pair->provider, provider) != 0)
			continue;
		if (strcmp(pair->begin, name) == 0)
			return 1;
		if (strcmp(pair->end, name) == 0)
			return -1;
	}
	*overlaps = false;
	for (size_t i = 0; i < sizeof(pair_words) / sizeof(*pair_words); i++) {
		if ((*stem = pair_stem(name, pair_words[i][0])))
			return 1;
		if ((*stem = pair_stem(name, pair_words[i][1])))
			return -1;
	}
	return 0;
}

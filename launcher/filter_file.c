#include "filter_file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "values.h"

static const char *filter_file_take_line(char *line, fxt_take_pattern *take, void *context)
{
	char *word = line + strspn(line, " \t"), *value;
	unsigned kind;
	size_t bytes;

	line[strcspn(line, "\r\n")] = 0;
	if (*word == 0 || *word == '#')
		return NULL;
	bytes = strcspn(word, " \t");
	value = word + bytes + strspn(word + bytes, " \t");
	if (!fxt_value_word(word, bytes, fxt_record_filter_words, FXT_RECORD_FILTER_PATTERNS, &kind))
		return "must begin with include, exclude, only-under or not-under";
	return take(context, kind, value);
}

const char *fxt_filter_file_read(const char *path, fxt_take_pattern *take, void *context)
{
	static char wrong_line[160];
	const char *wrong = NULL;
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	size_t room = 0;
	char *line = NULL;

	if (!file)
		return strerror(errno);
	while (!wrong && getline(&line, &room, file) >= 0) {
		number++;
		wrong = filter_file_take_line(line, take, context);
	}
	if (wrong)
		snprintf(wrong_line, sizeof(wrong_line), "line %u %s", number, wrong);
	else if (ferror(file))
		wrong = strcpy(wrong_line, strerror(errno));
	free(line);
	fclose(file);
	return wrong ? wrong_line : NULL;
}

#include "option_words.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launcher/message.h"

/* ---- words ---- */

/* Moves a word from `from`, without its quotes, to `to`, which may be the same place.
 * Returns the place behind it; NULL: a quote is not closed. */
static char *words_take(char *from, char *to)
{
	char quote = 0;

	for (; *from && (quote || !strchr(" \t\r\n", *from)); from++) {
		if (*from == quote) {
			quote = 0;
		} else if (!quote && (*from == '\'' || *from == '"')) {
			quote = *from;
		} else {
			if (*from == '\\' && quote != '\'' && from[1])
				from++;
			*to++ = *from;
		}
	}
	if (quote)
		return NULL;
	if (*from)
		from++;
	*to = 0;
	return from;
}

const char *fxt_option_words(char *text, char **words, size_t room, int *count)
{
	*count = 0;
	while (*(text += strspn(text, " \t\r\n"))) {
		if ((size_t)*count + 1 == room)
			return "has too many words";
		words[(*count)++] = text;
		text = words_take(text, text);
		if (!text)
			return "has a quote that is not closed";
	}
	words[*count] = NULL;
	return NULL;
}

/* ---- the project's file ---- */

/* The reason not to trust the file; NULL: none. A user who can write to it decides what is
 * recorded of this user's program. */
static const char *project_file_doubt(const struct stat *file)
{
	if (!S_ISREG(file->st_mode))
		return "it is not a regular file";
	if (file->st_uid != geteuid())
		return "it belongs to another user";
	if (file->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it (chmod go-w)";
	if (file->st_size >= FXT_PROJECT_FILE_BYTES)
		return "it is longer than 64 KiB";
	return NULL;
}

char *fxt_project_file_read(void)
{
	static char text[FXT_PROJECT_FILE_BYTES];
	int fd = open(FXT_PROJECT_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	const char *doubt = NULL;
	struct stat file;
	ssize_t bytes = 0;

	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 && errno == ELOOP)
		doubt = "it is a symbolic link";
	else if (fd < 0 || fstat(fd, &file) != 0)
		doubt = strerror(errno);
	else
		doubt = project_file_doubt(&file);
	if (!doubt && (bytes = read(fd, text, sizeof(text) - 1)) < 0)
		doubt = strerror(errno);
	if (fd >= 0)
		close(fd);
	if (doubt)
		fxt_say(FXT_PROJECT_FILE " is not used: %s", doubt);
	text[doubt ? 0 : bytes] = 0;
	return doubt ? NULL : text;
}

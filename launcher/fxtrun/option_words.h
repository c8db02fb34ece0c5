/*
 * Options from other places than the command line: $FXT_OPTIONS, and a project's .fxtrc.
 */
#ifndef FXT_LAUNCHER_FXTRUN_OPTION_WORDS_H
#define FXT_LAUNCHER_FXTRUN_OPTION_WORDS_H

#include <stddef.h>

#define FXT_PROJECT_FILE       ".fxtrc"
#define FXT_PROJECT_FILE_BYTES 65536

/*
 * Splits a text into words at its blanks, in place. A quoted part belongs to one word. A
 * backslash takes the next character literally, except within single quotes. Ends the words
 * by NULL, and stores their number. Returns NULL, or the error in the text as half a
 * sentence.
 */
const char *fxt_option_words(char *text, char **words, size_t room, int *count);

/*
 * Reads the project's file in the current directory. Returns its zero-terminated text,
 * which is valid until the next call. NULL: there is no file, or it must not be trusted,
 * because it belongs to another user or others may write to it; prints the reason then.
 */
char *fxt_project_file_read(void);

#endif

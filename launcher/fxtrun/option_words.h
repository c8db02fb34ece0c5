/*
 * Options that stand elsewhere than on the command line: in $FXT_OPTIONS, and in a project's .fxtrc.
 */
#ifndef FXT_LAUNCHER_FXTRUN_OPTION_WORDS_H
#define FXT_LAUNCHER_FXTRUN_OPTION_WORDS_H

#include <stddef.h>

#define FXT_PROJECT_FILE       ".fxtrc"
#define FXT_PROJECT_FILE_BYTES 65536

/*
 * Splits a text into words at its blanks, in place. What is between quotes is one word, and a backslash takes
 * the character behind it as it is, but between single quotes. Ends the words by NULL, and stores their
 * number. Returns NULL, or what is wrong with the text as half a sentence.
 */
const char *fxt_option_words(char *text, char **words, size_t room, int *count);

/*
 * Reads the project's file in the current directory, ended by a zero byte. Returns its text, which holds
 * until the next call; NULL if there is none, or if it must not be believed, which is said: it belongs to
 * another user, or others may write to it.
 */
char *fxt_project_file_read(void);

#endif

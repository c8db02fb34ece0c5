/*
 * What a program that is about to be run will make of LD_PRELOAD. The loader of another word size, and
 * musl's, complain about the agent on the program's standard error; a static program has no loader.
 */
#ifndef FXT_AGENT_IMAGE_H
#define FXT_AGENT_IMAGE_H

#include <stdbool.h>

enum agent_image {
	AGENT_IMAGE_ORDINARY, /* as far as can be told: a script, a file that cannot be read */
	AGENT_IMAGE_STATIC,   /* untraced; what it runs itself is to be traced */
	AGENT_IMAGE_FOREIGN,  /* untraced; its loader must not find the agent */
};

/* Of the file by that name, which is looked for in PATH if `is_searched` and it has no slash. The name can be
 * read. */
enum agent_image agent_image_look(const char *file, bool is_searched);

#endif

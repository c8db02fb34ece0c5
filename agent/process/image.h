/* Predicts what a program will do with LD_PRELOAD, before it is run. The loader of another
 * word size, and musl's, complain about the agent on the program's standard error. A static
 * program has no loader. */
#ifndef FXT_AGENT_IMAGE_H
#define FXT_AGENT_IMAGE_H

#include <stdbool.h>

enum agent_image {
	/* As far as is known; also a script or a file that cannot be read. */
	AGENT_IMAGE_ORDINARY,
	AGENT_IMAGE_STATIC,  /* untraced, but programs that it runs are to be traced */
	AGENT_IMAGE_FOREIGN, /* untraced; its loader must not find the agent */
};

/* The kind of the file with that name. Searches PATH if `is_searched` and the name has no
 * slash. The name can be read. */
enum agent_image agent_image_look(const char *file, bool is_searched);

#endif

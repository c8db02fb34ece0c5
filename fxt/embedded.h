/*
 * Files of this folder that are compiled into the program: scripts and style sheets of the
 * pictures that it draws.
 */
#ifndef FXT_FXT_EMBEDDED_H
#define FXT_FXT_EMBEDDED_H

/* Defines `name` as the contents of a file, followed by a zero byte. Paths start at the
 * top of the tree. The Makefile knows who embeds a file and recompiles after it changes. */
#define FXT_EMBED(name, file)                        \
	__asm__(".pushsection .rodata\n" #name ":\n" \
	        ".incbin \"" file "\"\n"             \
	        ".byte 0\n"                          \
	        ".popsection\n");                    \
	extern const char name[] __attribute__((visibility("hidden")))

#endif

/*
 * Files of this folder that are part of the program: scripts and style sheets of the pictures that it draws.
 */
#ifndef FXT_FXT_EMBEDDED_H
#define FXT_FXT_EMBEDDED_H

/* Defines `name`, the contents of a file with a zero behind them. Files are found from the top of the tree,
 * and what changes in them is compiled again because the Makefile knows who embeds them. */
#define FXT_EMBED(name, file)                        \
	__asm__(".pushsection .rodata\n" #name ":\n" \
	        ".incbin \"" file "\"\n"             \
	        ".byte 0\n"                          \
	        ".popsection\n");                    \
	extern const char name[] __attribute__((visibility("hidden")))

#endif

/*
 * The programs here report about themselves, for a comparison with the symbolizer's output.
 * Their hooks report the address of a function as a tracer would see it, next to the name
 * and line it has in the source. On the standard output, a line each:
 *
 *   module PATH
 *   segment ADDRESS BYTES VADDR     executable, of the last module
 *   call ADDRESS FILE LINE NAME
 */
#ifndef FXT_TESTS_SYMBOLS_REPORT_H
#define FXT_TESTS_SYMBOLS_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif
void report_modules(void);
void report_next_call(const char *file, int line, const char *name);
#ifdef __cplusplus
}
#endif

/* Stands on the line where `function` is declared. */
#define HERE(function) enum { function##_line = __LINE__ };

/* The statement first calls the function `name`, which is declared at `line`. */
#define CALL(line, name, statement)                     \
	do {                                            \
		report_next_call(__FILE__, line, name); \
		statement;                              \
	} while (0)

#endif

/* A library that counts its own calls, and prints the counts at a process's end. */
#ifndef COUNTED_H
#define COUNTED_H

#ifdef __cplusplus
extern "C" {
#endif

struct pair {
	double number;
	long count;
};

struct large {
	long words[9];
};

/* Counted by the library: one of each kind of arguments and results. */
#define COUNTED(X)                                            \
	X(leaf, long, (long value), (value))                  \
	X(makes_pair, struct pair, (double number), (number)) \
	X(makes_large, struct large, (long first), (first))   \
	X(widens, long double, (long double value), (value))  \
	X(chosen, long, (long value), (value))                \
	X(calls_back, int, (int (*callback)(void *), void *argument), (callback, argument))

#define DECLARE(name, type, parameters, arguments) type name parameters;
COUNTED(DECLARE)
#undef DECLARE
double adds(int count, ...);

/* What the program calls of libc; it counts these calls itself. */
void count(const char *name);

/* Prints the counts. A process does so at its end, and must before it executes a program. */
void print_counts(void);

#ifdef __cplusplus
}
#endif

#endif

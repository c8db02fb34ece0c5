/* Attributes of the agent's functions and variables. */
#ifndef FXT_AGENT_ATTRIBUTES_H
#define FXT_AGENT_ATTRIBUTES_H

/* Makes a function visible to the program. All others are hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Declares a variable of the agent's that a hook touches. Without this the compiler assumes
 * that the variable may be the program's or another library's, and loads its address from a
 * table. This costs one more instruction and a register. */
#define HIDDEN __attribute__((visibility("hidden")))

/* Never inlined, and placed apart, so that its callers stay short. */
#define COLD __attribute__((noinline, cold))

#endif

/* What the agent tells the compiler of its functions. */
#ifndef FXT_AGENT_ATTRIBUTES_H
#define FXT_AGENT_ATTRIBUTES_H

/* The program sees this function; it stands in agent.map too. All others are hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Declares a variable of the agent's that a hook touches: without this the compiler takes it for one of the
 * program's or of another library's, and has its address from a table; so it takes an instruction more and a
 * register. */
#define HIDDEN __attribute__((visibility("hidden")))

/* Never inlined, and placed apart: what calls it stays short. */
#define COLD __attribute__((noinline, cold))

#endif

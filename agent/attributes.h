/* What the agent tells the compiler of its functions. */
#ifndef FXT_AGENT_ATTRIBUTES_H
#define FXT_AGENT_ATTRIBUTES_H

/* The program sees this function; it stands in agent.map too. All others are hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Never inlined, and placed apart: what calls it stays short. */
#define COLD __attribute__((noinline, cold))

#endif

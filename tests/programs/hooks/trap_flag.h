/* The processor's trap flag (x86-64): a SIGTRAP behind each instruction while it is set. The
 * change leaves the red zone of the stack alone. */
#ifndef TRAP_FLAG_H
#define TRAP_FLAG_H

#define TRAP_FLAG 0x100
#define CHANGE_TRAP_FLAG(instruction, value)                            \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " instruction \
	                 " %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"   \
	                 :                                              \
	                 : "i"(value)                                   \
	                 : "memory", "cc")

#endif

/*
 * FUNCTIONS functions, 64 bytes apart, for calls.c: in C a compiler would need minutes for as many.
 */
	.altmacro
	.macro make number
	.p2align 6
	.type function_\number, %function
function_\number:
	ret
	.size function_\number, . - function_\number
	.endm

	.text
	.p2align 6
	.globl functions
functions:
	.set number, 0
	.rept FUNCTIONS
	make %number
	.set number, number + 1
	.endr

	.section .note.GNU-stack, "", %progbits

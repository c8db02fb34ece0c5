/* Numbers in texts, for code that cannot use stdio. */
#ifndef FXT_WRITER_DIGITS_H
#define FXT_WRITER_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define FXT_DIGITS_BYTES 20 /* digits of the largest number in base 10 */

/* Writes a number in base 10 or 16, without a terminator. Returns the number of digits. */
static inline size_t fxt_put_digits(char text[FXT_DIGITS_BYTES], uint64_t number, unsigned base)
{
	char digits[FXT_DIGITS_BYTES];
	size_t count = 0, length = 0;

	do
		digits[count++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (count)
		text[length++] = digits[--count];
	return length;
}

#endif

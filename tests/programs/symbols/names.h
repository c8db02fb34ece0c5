#ifndef FXT_TESTS_SYMBOLS_NAMES_H
#define FXT_TESTS_SYMBOLS_NAMES_H

void call_others();
void call_library();

#endif

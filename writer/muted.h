/*
 * Functions that were muted while a program ran, because there were so many calls of theirs, and so short,
 * that recording them cost more than they tell (fxtrun --auto). The trace tells of each, for each process, by
 * an instant event of category "fxt" and this name: calls that began before its time are recorded, those that
 * begin later are not, and nobody counts them. Its arguments are the function's name, "function", and how
 * many calls of it the process has in the trace, "calls". Of a process that came later the time is its own
 * beginning, and some of its calls may be recorded until it knows; where none are nothing is told, for who
 * has heard of one process's muted function has heard of all.
 */
#ifndef FXT_WRITER_MUTED_H
#define FXT_WRITER_MUTED_H

#define FXT_MUTED_EVENT "fxt: muted"

#endif

/*
 * Functions that were muted while a program ran, because their calls were so many, and so
 * short, that recording them cost more than they show (fxtrun --auto). The trace reports
 * each, for each process, by an instant event of category "fxt" and this name. Calls that
 * began before its time are recorded; calls that begin later are neither recorded nor
 * counted. Its arguments are the function's name, "function", and the number of its calls
 * that the process has in the trace, "calls". For a process that came later the time is its
 * own beginning, and some of its calls may be recorded until it learns of the mute. A
 * process without such calls gets no event: one process's event is enough.
 */
#ifndef FXT_WRITER_MUTED_H
#define FXT_WRITER_MUTED_H

#define FXT_MUTED_EVENT "fxt: muted"

#endif

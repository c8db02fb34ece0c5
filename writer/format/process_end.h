/*
 * The end of a process in a trace: the calls that it left open last until then. If the
 * signal that killed the process is known, the process has an instant "killed" of category
 * "process" (reader/time/death.h). Any other process that left calls open has this event,
 * of category "fxt": a descendant, if only its parent learns how it ended.
 */
#ifndef FXT_WRITER_PROCESS_END_H
#define FXT_WRITER_PROCESS_END_H

#define FXT_PROCESS_END_EVENT "process ends"

#endif

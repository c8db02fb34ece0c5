/*
 * The end of a process in a trace: the calls that it left open last until then. If the
 * signal that killed the process is known, the process has an instant "killed" of category
 * "process" (reader/time/death.h). Any other process that left calls open has this event,
 * of category "fxt": a descendant, if only its parent learns how it ended.
 *
 * A process that goes on has the event below when a recording stops while a thread waits:
 * that wait, and the calls around it, last until then as far as the trace knows.
 */
#ifndef FXT_WRITER_PROCESS_END_H
#define FXT_WRITER_PROCESS_END_H

#define FXT_PROCESS_END_EVENT    "process ends"
#define FXT_RECORDING_STOP_EVENT "recording stops"

#endif

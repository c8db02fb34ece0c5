/*
 * The end of a process in a trace: to there last the calls that it left open. A process of which it is known
 * by what signal it died has an instant "killed" of category "process" (reader/time/death.h). Any other that
 * left calls open, a descendant whose parent alone learns how it ended, has this one, of category "fxt".
 */
#ifndef FXT_WRITER_PROCESS_END_H
#define FXT_WRITER_PROCESS_END_H

#define FXT_PROCESS_END_EVENT "process ends"

#endif

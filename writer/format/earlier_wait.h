/*
 * Arguments of a wait that began before its process was attached to. The launcher writes
 * its record, from the attach on, inside of inherited calls (inherited.h) of the functions
 * that the thread was in.
 */
#ifndef FXT_WRITER_EARLIER_WAIT_H
#define FXT_WRITER_EARLIER_WAIT_H

#define FXT_WAIT_FILE          "file" /* of the descriptor */
#define FXT_WAIT_SINCE         "since"
#define FXT_WAIT_BEFORE_ATTACH "before the attach" /* the value of that */

#endif

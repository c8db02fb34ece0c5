/*
 * fxtrun --build: runs a build with fxt-cc and fxt-c++ as its compilers, and says what they
 * compiled.
 */
#ifndef FXT_LAUNCHER_FXTRUN_BUILD_H
#define FXT_LAUNCHER_FXTRUN_BUILD_H

/* Runs the command, which ends with NULL. Returns the exit status for fxtrun: that of the
 * command, 128+n if signal n ended it, or one of fxtrun's own. */
int fxt_build(char **command);

#endif

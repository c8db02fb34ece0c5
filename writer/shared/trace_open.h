/*
 * Opens a file for writing that may exist already; then it keeps its owner and its mode. In
 * a directory where others may create files that is a trap. Another user may have put a
 * file there in order to read the trace, or a symbolic link to a file that is to be
 * overwritten. The kernel refuses these only if it is configured to (fs.protected_regular,
 * _symlinks, _fifos).
 */
#ifndef FXT_WRITER_TRACE_OPEN_H
#define FXT_WRITER_TRACE_OPEN_H

/*
 * open(2) with O_CREAT. Returns a descriptor or -errno. -EPERM: the directory is writable
 * by others, and the name is taken by a file that belongs neither to the calling user nor
 * to the directory's owner, or by a file with a second name.
 */
long fxt_trace_open(const char *path, int flags, unsigned mode);

/* The reason for refusing such a file, for messages. */
#define FXT_TRACE_OPEN_FOREIGN \
	"it belongs to another user, or has a second name, in a directory that others may write to"

#endif

/*
 * The opening of a file that is to be written, which may be there already: then it keeps its owner and its
 * mode. In a directory where others may create files that is a trap: another user has put a file there who
 * wants to read the trace, or a symbolic link to a file that is to be overwritten. The kernel can refuse
 * these (fs.protected_regular, _symlinks, _fifos), where it was told to.
 */
#ifndef FXT_WRITER_TRACE_OPEN_H
#define FXT_WRITER_TRACE_OPEN_H

/*
 * open(2) with O_CREAT. Returns a descriptor or -errno; -EPERM: in a directory that others may write to there
 * is something by that name that belongs neither to the calling user nor to the directory's owner, or a file
 * with a second name.
 */
long fxt_trace_open(const char *path, int flags, unsigned mode);

/* What is wrong with such a file, for messages. */
#define FXT_TRACE_OPEN_FOREIGN \
	"it belongs to another user, or has a second name, in a directory that others may write to"

#endif

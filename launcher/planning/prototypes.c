/* The table of prototypes (prototypes.h). It must have only what all C libraries share. It
 * must omit arguments that a caller may leave out, such as the mode of open(): their
 * register then has another value. */
#include "prototypes.h"
#include <string.h>
#include "writer/format/c_library.h"

/* clang-format off */
const struct fxt_prototype fxt_prototypes[] = {
	/* memory */
	{"malloc", "u64 size", "p"},
	{"calloc", "u64 count,u64 size", "p"},
	{"realloc", "p block,u64 size", "p"},
	{"reallocarray", "p block,u64 count,u64 size", "p"},
	{"free", "p block", NULL},
	{"aligned_alloc", "u64 alignment,u64 size", "p"},
	{"memalign", "u64 alignment,u64 size", "p"},
	{"posix_memalign", "p to,u64 alignment,u64 size", "i32"},
	{"mmap", "p address,u64 length,i32 protection,i32 flags,i32 fd,i64 offset", "p"},
	{"mmap64", "p address,u64 length,i32 protection,i32 flags,i32 fd,i64 offset", "p"},
	{"munmap", "p address,u64 length", "i32"},
	{"mprotect", "p address,u64 length,i32 protection", "i32"},
	{"madvise", "p address,u64 length,i32 advice", "i32"},
	{"msync", "p address,u64 length,i32 flags", "i32"},
	/* descriptors */
	{"open", "s path,i32 flags", "i32"},
	{"open64", "s path,i32 flags", "i32"},
	{"openat", "i32 directory,s path,i32 flags", "i32"},
	{"openat64", "i32 directory,s path,i32 flags", "i32"},
	{"creat", "s path,u32 mode", "i32"},
	{"close", "i32 fd", "i32"},
	{"read", "i32 fd,p buffer,u64 count", "i64"},
	{"write", "i32 fd,p buffer,u64 count", "i64"},
	{"pread", "i32 fd,p buffer,u64 count,i64 offset", "i64"},
	{"pread64", "i32 fd,p buffer,u64 count,i64 offset", "i64"},
	{"pwrite", "i32 fd,p buffer,u64 count,i64 offset", "i64"},
	{"pwrite64", "i32 fd,p buffer,u64 count,i64 offset", "i64"},
	{"readv", "i32 fd,p parts,i32 count", "i64"},
	{"writev", "i32 fd,p parts,i32 count", "i64"},
	{"lseek", "i32 fd,i64 offset,i32 whence", "i64"},
	{"lseek64", "i32 fd,i64 offset,i32 whence", "i64"},
	{"ftruncate", "i32 fd,i64 length", "i32"},
	{"ftruncate64", "i32 fd,i64 length", "i32"},
	{"truncate", "s path,i64 length", "i32"},
	{"fsync", "i32 fd", "i32"},
	{"fdatasync", "i32 fd", "i32"},
	{"flock", "i32 fd,i32 operation", "i32"},
	{"fcntl", "i32 fd,i32 command", "i32"},
	{"fcntl64", "i32 fd,i32 command", "i32"},
	{"ioctl", "i32 fd,x request", "i32"},
	{"dup", "i32 fd", "i32"},
	{"dup2", "i32 fd,i32 to", "i32"},
	{"dup3", "i32 fd,i32 to,i32 flags", "i32"},
	{"pipe", "p fds", "i32"},
	{"pipe2", "p fds,i32 flags", "i32"},
	{"poll", "p fds,u64 count,i32 timeout", "i32"},
	{"select", "i32 count,p readable,p writable,p exceptional,p timeout", "i32"},
	{"epoll_wait", "i32 fd,p events,i32 count,i32 timeout", "i32"},
	{"epoll_ctl", "i32 fd,i32 operation,i32 of,p event", "i32"},
	{"sendfile", "i32 to,i32 from,p offset,u64 count", "i64"},
	{"sendfile64", "i32 to,i32 from,p offset,u64 count", "i64"},
	/* files */
	{"stat", "s path,p to", "i32"},
	{"stat64", "s path,p to", "i32"},
	{"lstat", "s path,p to", "i32"},
	{"lstat64", "s path,p to", "i32"},
	{"fstat", "i32 fd,p to", "i32"},
	{"fstat64", "i32 fd,p to", "i32"},
	{"access", "s path,i32 mode", "i32"},
	{"unlink", "s path", "i32"},
	{"rename", "s from,s to", "i32"},
	{"link", "s from,s to", "i32"},
	{"symlink", "s target,s path", "i32"},
	{"readlink", "s path,p buffer,u64 bytes", "i64"},
	{"mkdir", "s path,u32 mode", "i32"},
	{"rmdir", "s path", "i32"},
	{"chdir", "s path", "i32"},
	{"chmod", "s path,u32 mode", "i32"},
	{"fchmod", "i32 fd,u32 mode", "i32"},
	{"opendir", "s path", "p"},
	{"realpath", "s path,p to", "s"},
	{"remove", "s path", "i32"},
	/* streams */
	{"fopen", "s path,s mode", "p"},
	{"fopen64", "s path,s mode", "p"},
	{"fdopen", "i32 fd,s mode", "p"},
	{"fclose", "p stream", "i32"},
	{"fflush", "p stream", "i32"},
	{"fread", "p buffer,u64 size,u64 count,p stream", "u64"},
	{"fwrite", "p buffer,u64 size,u64 count,p stream", "u64"},
	{"fgets", "p buffer,i32 bytes,p stream", "s"},
	{"fputs", "s text,p stream", "i32"},
	{"puts", "s text", "i32"},
	{"putchar", "i32 character", "i32"},
	{"fputc", "i32 character,p stream", "i32"},
	{"fseek", "p stream,i64 offset,i32 whence", "i32"},
	{"ftell", "p stream", "i64"},
	{"printf", "s format", "i32"},
	{"fprintf", "p stream,s format", "i32"},
	{"sprintf", "p to,s format", "i32"},
	{"snprintf", "p to,u64 bytes,s format", "i32"},
	{"perror", "s text", NULL},
	{"popen", "s command,s mode", "p"},
	{"pclose", "p stream", "i32"},
	/* texts */
	{"strlen", "s text", "u64"},
	{"strcmp", "s first,s second", "i32"},
	{"strncmp", "s first,s second,u64 bytes", "i32"},
	{"strcasecmp", "s first,s second", "i32"},
	{"strchr", "s text,i32 character", "s"},
	{"strrchr", "s text,i32 character", "s"},
	{"strstr", "s text,s part", "s"},
	{"strcpy", "p to,s from", "p"},
	{"strncpy", "p to,s from,u64 bytes", "p"},
	{"strcat", "p to,s from", "p"},
	{"strdup", "s text", "s"},
	{"strndup", "s text,u64 bytes", "s"},
	{"strtol", "s text,p end,i32 base", "i64"},
	{"strtoul", "s text,p end,i32 base", "u64"},
	{"strtod", "s text,p end", "f64"},
	{"atoi", "s text", "i32"},
	{"atol", "s text", "i64"},
	{"memcpy", "p to,p from,u64 bytes", "p"},
	{"memmove", "p to,p from,u64 bytes", "p"},
	{"memset", "p to,i32 value,u64 bytes", "p"},
	{"memcmp", "p first,p second,u64 bytes", "i32"},
	{"memchr", "p from,i32 value,u64 bytes", "p"},
	{"getenv", "s name", "s"},
	{"setenv", "s name,s value,i32 replaces", "i32"},
	{"unsetenv", "s name", "i32"},
	/* sockets */
	{"socket", "i32 domain,i32 type,i32 protocol", "i32"},
	{"bind", "i32 fd,p address,u32 bytes", "i32"},
	{"listen", "i32 fd,i32 backlog", "i32"},
	{"accept", "i32 fd,p address,p bytes", "i32"},
	{"accept4", "i32 fd,p address,p bytes,i32 flags", "i32"},
	{"connect", "i32 fd,p address,u32 bytes", "i32"},
	{"send", "i32 fd,p buffer,u64 count,i32 flags", "i64"},
	{"recv", "i32 fd,p buffer,u64 count,i32 flags", "i64"},
	{"sendto", "i32 fd,p buffer,u64 count,i32 flags,p address,u32 bytes", "i64"},
	{"recvfrom", "i32 fd,p buffer,u64 count,i32 flags,p address,p bytes", "i64"},
	{"shutdown", "i32 fd,i32 how", "i32"},
	{"setsockopt", "i32 fd,i32 level,i32 option,p value,u32 bytes", "i32"},
	{"getaddrinfo", "s node,s service,p hints,p to", "i32"},
	{"gethostbyname", "s name", "p"},
	/* processes, time */
	{"kill", "i32 pid,i32 signal", "i32"},
	{"raise", "i32 signal", "i32"},
	{"waitpid", "i32 pid,p status,i32 options", "i32"},
	{"system", "s command", "i32"},
	{"sleep", "u32 seconds", "u32"},
	{"usleep", "u32 microseconds", "i32"},
	{"nanosleep", "p time,p rest", "i32"},
	{"pthread_join", "x thread,p result", "i32"},
	{"pthread_mutex_lock", "p mutex", "i32"},
	{"pthread_mutex_trylock", "p mutex", "i32"},
	{"pthread_mutex_unlock", "p mutex", "i32"},
	{"sched_yield", "", "i32"},
	/* mathematics */
	{"sin", "f64 x", "f64"},
	{"cos", "f64 x", "f64"},
	{"exp", "f64 x", "f64"},
	{"log", "f64 x", "f64"},
	{"pow", "f64 x,f64 y", "f64"},
	{"sqrt", "f64 x", "f64"},
	{"fmod", "f64 x,f64 y", "f64"},
};
/* clang-format on */

const size_t fxt_prototype_count = sizeof(fxt_prototypes) / sizeof(*fxt_prototypes);

bool fxt_is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return fxt_c_library(path, strlen(path)) == FXT_C_LIBRARY || strncmp(name, "libm.so", 7) == 0 ||
	       strncmp(name, "libm-", 5) == 0;
}

const struct fxt_prototype *fxt_prototype_find(const char *name)
{
	for (size_t i = 0; i < fxt_prototype_count; i++)
		if (strcmp(fxt_prototypes[i].name, name) == 0)
			return &fxt_prototypes[i];
	return NULL;
}

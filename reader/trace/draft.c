/*
 * Writes an output as a draft and puts it in its place once it is whole. Runs on the
 * command's main thread. Must never follow or overwrite anything that another user could
 * have put at the place; an existing file that is opened is checked again once it is open.
 */
#include "draft.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "empty_file.h"

#define DRAFT_LINKS 40 /* the number that the kernel follows */
#define DRAFT_NAME  ".trace.fxt.%06x"

static const char draft_foreign[] = "it belongs to another user; remove it, or choose another file";
static const char draft_is_source[] = "it is the trace itself; choose another file";

/* ---- the place ---- */

/* The place that a path leads to. */
struct draft_place {
	int directory;
	char name[NAME_MAX + 1];
	bool exists;
	struct stat file;
};

/* Opens the directory of a path, and takes the name in it. Returns NULL, or the reason for
 * a failure. */
static const char *draft_enter(struct draft_place *place, const char *path)
{
	char directory[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t bytes = (size_t)(name - path);

	if (strcmp(name, "") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return strerror(*path ? EISDIR : ENOENT);
	if (bytes >= sizeof(directory) || strlen(name) > NAME_MAX)
		return strerror(ENAMETOOLONG);
	if (bytes > 0)
		snprintf(directory, sizeof(directory), "%.*s", (int)bytes, path);
	int entered = openat(place->directory, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (entered < 0)
		return strerror(errno);
	close(place->directory);
	place->directory = entered;
	strcpy(place->name, name);
	return NULL;
}

static bool draft_is_in_proc(int directory)
{
	struct statfs system;

	return fstatfs(directory, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* True if the existing file at the place belongs to the caller or to root. */
static bool draft_is_trusted(const struct draft_place *place)
{
	return place->file.st_uid == geteuid() || place->file.st_uid == 0;
}

/* Follows a path to its end, including symbolic links there. Links of /proc are excepted:
 * they are open descriptors. Returns NULL, or the reason for a failure. */
static const char *draft_find(struct draft_place *place, int at, const char *path)
{
	char target[PATH_MAX];
	const char *reason;
	ssize_t bytes;

	*place = (struct draft_place){.directory = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	for (int links = 0; links <= DRAFT_LINKS; links++) {
		if ((reason = draft_enter(place, path)) != NULL)
			return reason;
		place->exists =
		        fstatat(place->directory, place->name, &place->file, AT_SYMLINK_NOFOLLOW) == 0;
		if (!place->exists)
			return errno == ENOENT ? NULL : strerror(errno);
		if (!S_ISLNK(place->file.st_mode) || draft_is_in_proc(place->directory))
			return NULL;
		if (!draft_is_trusted(place))
			return draft_foreign;
		bytes = readlinkat(place->directory, place->name, target, sizeof(target) - 1);
		if (bytes < 0)
			return strerror(errno);
		target[bytes] = '\0';
		path = target;
	}
	return strerror(ELOOP);
}

static bool draft_is_at_source(const struct stat *file, const struct fxt_draft_config *config)
{
	return config->source && file->st_dev == config->source->device &&
	       file->st_ino == config->source->inode;
}

/* Returns why the existing file must not be replaced or written to, or NULL if it may
 * be. */
static const char *draft_refuse(const struct draft_place *place, const struct fxt_draft_config *config)
{
	mode_t mode = place->file.st_mode;

	if (S_ISREG(mode) && draft_is_at_source(&place->file, config))
		return config->may_be_source ? NULL : draft_is_source;
	if (S_ISREG(mode) && place->file.st_uid != geteuid() && !config->may_be_foreign)
		return draft_foreign;
	/* The maker of a pipe reads what is written to it. Devices are safe: only root can
	 * make them. */
	if (S_ISFIFO(mode) && !draft_is_trusted(place))
		return draft_foreign;
	return S_ISDIR(mode) ? strerror(EISDIR) : NULL;
}

/* ---- opening ---- */

/* Opens the existing file to write to it, and checks it once more: another file may have
 * taken its place. */
static const char *draft_open_existing(
        struct fxt_draft *draft, struct draft_place *place, const struct fxt_draft_config *config)
{
	bool is_descriptor = S_ISLNK(place->file.st_mode);
	/* The previous content of a descriptor's file is kept. */
	int flags = is_descriptor ? O_APPEND : O_NOFOLLOW;
	const char *reason = NULL;

	draft->fd = openat(place->directory, place->name, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
	if (draft->fd < 0 || fstat(draft->fd, &place->file) != 0)
		reason = strerror(errno);
	else if (draft_is_at_source(&place->file, config))
		reason = draft_is_source;
	else if (!is_descriptor && !(reason = draft_refuse(place, config)) && fxt_empty_file(draft->fd) != 0)
		reason = strerror(errno);
	if (reason && draft->fd >= 0)
		close(draft->fd);
	return reason;
}

static void draft_choose_name(struct fxt_draft *draft)
{
	unsigned number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (unsigned)getpid();
	snprintf(draft->temporary, sizeof(draft->temporary), DRAFT_NAME, number & 0xffffff);
}

/* Creates a file in the directory. If the file system can do it, the file has no name, so
 * that nothing is left behind if we are killed. Returns 0 or an errno value. */
static int draft_create(struct fxt_draft *draft, mode_t mode, bool is_named)
{
	draft->temporary[0] = '\0';
	/* Its final name is given through /proc. */
	draft->fd = !is_named && access("/proc/self/fd", X_OK) == 0
	                    ? openat(draft->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode)
	                    : -1;
	if (draft->fd >= 0)
		return 0;
	do {
		draft_choose_name(draft);
		draft->fd = openat(draft->directory, draft->temporary,
		        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	} while (draft->fd < 0 && errno == EEXIST);
	return draft->fd < 0 ? errno : 0;
}

static mode_t draft_mode(const struct fxt_draft_config *config)
{
	return config->source ? config->source->mode & 0666 : 0600;
}

/* Begins a draft of a file at the place. Returns 0 or an errno value. */
static int draft_begin(
        struct fxt_draft *draft, const struct draft_place *place, const struct fxt_draft_config *config)
{
	draft->directory = place->directory;
	draft->has_replaced = place->exists;
	draft->replaced = place->file;
	draft->group = config->source ? config->source->group : getegid();
	strcpy(draft->name, place->name);
	return draft_create(draft, place->exists ? 0600 : draft_mode(config), config->is_named);
}

static const char *draft_open_at(
        struct fxt_draft *draft, struct draft_place *place, const struct fxt_draft_config *config)
{
	const char *reason = place->exists ? draft_refuse(place, config) : NULL;
	int error = 0;

	if (reason)
		return reason;
	if (!place->exists || S_ISREG(place->file.st_mode)) {
		error = draft_begin(draft, place, config);
		if (!error)
			return NULL;
		draft->directory = -1;
		/* If no file can be created here, an existing one may still be writable. */
		if (!place->exists || (error != EACCES && error != EPERM && error != EROFS))
			return strerror(error);
	}
	return draft_open_existing(draft, place, config);
}

const char *fxt_draft_open(
        struct fxt_draft *draft, int at, const char *path, const struct fxt_draft_config *config)
{
	struct draft_place place;
	const char *reason = draft_find(&place, at, path);

	*draft = (struct fxt_draft){.fd = -1, .directory = -1};
	if (!reason)
		reason = draft_open_at(draft, &place, config);
	if (place.directory >= 0 && draft->directory < 0)
		close(place.directory);
	return reason;
}

const char *fxt_draft_open_directory(
        int *directory, int at, const char *path, const struct fxt_source_file *source)
{
	const struct fxt_draft_config config = {.source = source};
	/* Read permission implies search permission. */
	mode_t mode = draft_mode(&config) | (draft_mode(&config) & 0444) >> 2;
	char name[PATH_MAX];
	size_t bytes = strlen(path);
	struct draft_place place;

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--;
	if (snprintf(name, sizeof(name), "%.*s", (int)bytes, path) >= (int)sizeof(name))
		return strerror(ENAMETOOLONG);
	const char *reason = draft_find(&place, at, name);

	if (!reason && !place.exists && mkdirat(place.directory, place.name, mode) != 0)
		reason = strerror(errno);
	*directory =
	        reason ? -1
	               : openat(place.directory, place.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!reason && (*directory < 0 || fstat(*directory, &place.file) != 0))
		reason = strerror(errno);
	if (!reason && place.file.st_uid != geteuid())
		reason = draft_foreign;
	if (reason && *directory >= 0)
		close(*directory);
	if (place.directory >= 0)
		close(place.directory);
	return reason;
}

/* ---- in its place ---- */

/* Gives the draft a temporary name beside its final one. Returns 0 or an errno value. */
static int draft_link(struct fxt_draft *draft)
{
	char open_file[32];

	snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", draft->fd);
	do {
		draft_choose_name(draft);
		if (linkat(AT_FDCWD, open_file, draft->directory, draft->temporary, AT_SYMLINK_FOLLOW) == 0)
			return 0;
	} while (errno == EEXIST);
	draft->temporary[0] = '\0';
	return errno;
}

/* A group that the mode does not cover gets the permissions of others. */
static mode_t draft_mode_of_group(mode_t mode, bool is_group)
{
	return is_group ? mode : (mode & ~(mode_t)0070) | (mode & 0007) << 3;
}

/* Gives the draft the owner and the mode of the file it replaces. For a new file, it
 * removes the permissions that do not apply to its group. Returns 0 or an errno value. */
static int draft_settle(struct fxt_draft *draft)
{
	const struct stat *replaced = draft->has_replaced ? &draft->replaced : NULL;
	gid_t group = replaced ? replaced->st_gid : draft->group;
	struct stat now;

	/* Only root can give a file away; otherwise it belongs to the caller. */
	if (replaced && fchown(draft->fd, replaced->st_uid, replaced->st_gid) != 0 && geteuid() == 0)
		return errno;
	if (fstat(draft->fd, &now) != 0)
		return errno;
	mode_t mode =
	        draft_mode_of_group((replaced ? replaced->st_mode : now.st_mode) & 0777, now.st_gid == group);

	return mode == (now.st_mode & 07777) || fchmod(draft->fd, mode) == 0 ? 0 : errno;
}

static int draft_close(struct fxt_draft *draft)
{
	int error = close(draft->fd) == 0 ? 0 : errno;

	if (draft->directory >= 0)
		close(draft->directory);
	return error;
}

int fxt_draft_publish(struct fxt_draft *draft)
{
	int error = 0;

	if (draft->directory >= 0) {
		error = draft_settle(draft);
		if (!error && !draft->temporary[0])
			error = draft_link(draft);
		if (!error &&
		        renameat(draft->directory, draft->temporary, draft->directory, draft->name) != 0)
			error = errno;
		if (!error)
			draft->temporary[0] = '\0';
	}
	if (error) {
		fxt_draft_abandon(draft);
		return error;
	}
	return draft_close(draft);
}

void fxt_draft_abandon(struct fxt_draft *draft)
{
	if (draft->temporary[0])
		unlinkat(draft->directory, draft->temporary, 0);
	draft_close(draft);
}

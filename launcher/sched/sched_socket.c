#include "sched_socket.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0100007F:1F90", an address by its words as they lie in memory, and a port. */
static bool socket_end(const char *text, char *name, size_t bytes)
{
	uint32_t words[4] = {0};
	const char *colon = strchr(text, ':');
	size_t digits = colon ? (size_t)(colon - text) : 0, count = digits / 8;
	char address[INET6_ADDRSTRLEN], digits_of_word[9] = "";

	if (digits != 8 && digits != 32)
		return false;
	for (size_t i = 0; i < count; i++) {
		memcpy(digits_of_word, text + 8 * i, 8);
		words[i] = (uint32_t)strtoul(digits_of_word, NULL, 16);
	}
	if (!inet_ntop(count == 1 ? AF_INET : AF_INET6, words, address, sizeof(address)))
		return false;
	snprintf(name, bytes, count == 1 ? "%s:%lu" : "[%s]:%lu", address, strtoul(colon + 1, NULL, 16));
	return true;
}

/* A line of /proc/PID/net/tcp and its like. Returns false if it is of another socket. */
static bool socket_of_internet(const char *line, const char *kind, uint64_t inode, char *name, size_t bytes)
{
	char local[48], remote[48], from[64], to[64];
	uint64_t found;

	if (sscanf(line, "%*s %47s %47s %*s %*s %*s %*s %*s %*s %" SCNu64, local, remote, &found) != 3 ||
	        found != inode || !socket_end(local, from, sizeof(from)) ||
	        !socket_end(remote, to, sizeof(to)))
		return false;
	if (strstr(remote, ":0000"))
		snprintf(name, bytes, "%s %s", kind, from);
	else
		snprintf(name, bytes, "%s %s to %s", kind, from, to);
	return true;
}

/* The same of /proc/PID/net/unix. */
static bool socket_of_path(const char *line, const char *kind, uint64_t inode, char *name, size_t bytes)
{
	uint64_t found;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &found, &path) != 1 || found != inode ||
	        !line[path] || line[path] == '\n')
		return false;
	snprintf(name, bytes, "%s %.*s", kind, (int)strcspn(line + path, "\n"), line + path);
	return true;
}

static const struct socket_list {
	const char *file, *kind;
	bool (*read)(const char *line, const char *kind, uint64_t inode, char *name, size_t bytes);
} socket_lists[] = {
        {"tcp", "tcp", socket_of_internet},
        {"tcp6", "tcp", socket_of_internet},
        {"udp", "udp", socket_of_internet},
        {"udp6", "udp", socket_of_internet},
        {"unix", "unix", socket_of_path},
};

bool fxt_sched_socket_name(uint32_t pid, uint64_t inode, char *name, size_t bytes)
{
	bool is_found = false;

	for (size_t i = 0; i < sizeof(socket_lists) / sizeof(*socket_lists) && !is_found; i++) {
		const struct socket_list *of = &socket_lists[i];
		char path[64], line[512];
		FILE *list;

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/net/%s", pid, of->file);
		list = fopen(path, "re");
		while (list && !is_found && fgets(line, sizeof(line), list))
			is_found = of->read(line, of->kind, inode, name, bytes);
		if (list)
			fclose(list);
	}
	return is_found;
}

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

/* A line of /proc/net/tcp and its like. Returns false if it is of another socket. */
static bool socket_of_line(const char *line, const char *kind, uint64_t inode, char *name, size_t bytes)
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

static bool socket_of_unix_line(const char *line, uint64_t inode, char *name, size_t bytes)
{
	uint64_t found;
	int path = 0;

	if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &found, &path) != 1 || found != inode ||
	        !line[path] || line[path] == '\n')
		return false;
	snprintf(name, bytes, "unix %.*s", (int)strcspn(line + path, "\n"), line + path);
	return true;
}

bool fxt_sched_socket_name(uint32_t pid, uint64_t inode, char *name, size_t bytes)
{
	static const char *const kinds[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
	bool is_found = false;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !is_found; i++) {
		char path[64], line[512], kind[4];
		FILE *list;

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/net/%s", pid, kinds[i]);
		snprintf(kind, sizeof(kind), "%s", kinds[i]);
		list = fopen(path, "re");
		while (list && !is_found && fgets(line, sizeof(line), list))
			is_found = strcmp(kinds[i], "unix") == 0
			                   ? socket_of_unix_line(line, inode, name, bytes)
			                   : socket_of_line(line, kind, inode, name, bytes);
		if (list)
			fclose(list);
	}
	return is_found;
}

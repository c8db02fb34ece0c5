/*
 * Answers clients and passes signals on while the supervisor waits for the program. Runs on
 * the supervisor's only thread; a silent client may delay it only for the short time of
 * `patience`.
 */
#include "recovery_wait.h"
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "launcher/control/rpc.h"
#include "launcher/runtime_dir.h"
#include "launcher/values.h"
#include "writer/shared/sys.h"

/* Time for a client to send its request, and to take the answer. */
static const struct timeval patience = {.tv_sec = 1};

/* ---- a client ---- */

static void client_send(int client, json_t *message)
{
	char *line = json_dumps(message, JSON_COMPACT);

	if (line && send(client, line, strlen(line), MSG_NOSIGNAL) >= 0)
		send(client, "\n", 1, MSG_NOSIGNAL);
	free(line);
	json_decref(message);
}

/* The state of the session as fxtctl list and status show it. */
static json_t *client_state(const struct fxt_recovery *r)
{
	char name[FXT_SESSION_NAME_BYTES];

	snprintf(name, sizeof(name), "%d", getpid()); /* the same as in run.c */
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:o, s:o, s:[]}", "name",
	        r->options->session ? r->options->session : name, "pid", (int)getpid(), "program_pid",
	        (int)r->program, "state", "RECOVERABLE", "buffering_mode",
	        fxt_buffering_mode_names[r->options->buffering_mode], "program",
	        fxt_rpc_text(r->options->program[0]), "output", fxt_rpc_text(r->output->name),
	        "provider_stats");
}

static void client_answer(struct fxt_recovery *r, int client, json_t *request)
{
	static const char killed[] = "the manager was killed; fxtctl recover makes a trace of what is left "
	                             "now, otherwise that is done once the program has ended";
	const char *method = json_string_value(json_object_get(request, "method"));
	json_t *id = json_object_get(request, "id");

	if (method && id && !strcmp(method, "Recover")) {
		r->client = client;
		r->client_id = json_incref(id);
		return;
	}
	if (method && id && !strcmp(method, "GetState"))
		client_send(client,
		        json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", client_state(r)));
	else if (id)
		client_send(client, json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error",
		                            "code", FXT_RPC_INVALID_REQUEST, "message", killed));
	close(client);
}

/* Takes one request of a client of our own user, and sends one answer. */
static void client_serve(struct fxt_recovery *r)
{
	int client = accept4(r->listener_fd, NULL, NULL, SOCK_CLOEXEC);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	char line[4096];
	ssize_t got;
	json_t *request;

	if (client < 0)
		return;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	got = getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == sys_geteuid()
	              ? recv(client, line, sizeof(line), 0)
	              : -1;
	request = got > 0 ? json_loadb(line, (size_t)got, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
	if (request)
		client_answer(r, client, request);
	else
		close(client);
	json_decref(request);
}

void fxt_recovery_reply(struct fxt_recovery *r, bool is_there)
{
	if (r->client < 0)
		return;
	if (is_there)
		client_send(r->client,
		        json_pack("{s:s, s:o, s:{s:o, s:I, s:I, s:I, s:I, s:I}}", "jsonrpc", "2.0", "id",
		                r->client_id, "result", "output", fxt_rpc_text(r->output->name), "bytes",
		                (json_int_t)r->bytes, "events", (json_int_t)r->totals.events, "lost",
		                (json_int_t)r->totals.losses.lost, "bytes_unwritten",
		                (json_int_t)r->totals.bytes_unwritten, "overwritten",
		                (json_int_t)r->totals.losses.overwritten));
	close(r->client);
}

/* ---- waiting ---- */

static bool wait_program_has_ended(const struct fxt_recovery *r)
{
	struct pollfd process = {r->program_fd, POLLIN, 0};

	return r->program_fd < 0 || poll(&process, 1, 0) != 0;
}

static bool wait_is_over(const struct fxt_recovery *r)
{
	struct pollfd process = {.events = POLLIN};

	/* The attaching process detaches when the manager dies. */
	if (r->options->attach)
		return true;
	if (!r->options->decouple)
		return wait_program_has_ended(r);
	for (size_t i = 0; i < r->heir_count; i++) {
		process.fd = r->heirs[i].entry ? r->heirs[i].process_fd : -1;
		if (process.fd >= 0 && poll(&process, 1, 0) == 0)
			return false;
	}
	return true;
}

/* Passes a signal on to the program, as manager.c does; the program gets signals of the
 * terminal anyway. Returns true if the signal ends the session instead. */
static bool wait_take_signal(const struct fxt_recovery *r, int signals)
{
	struct signalfd_siginfo info;
	bool is_interrupt, is_passed_on;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	is_interrupt = info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT;
	is_passed_on = info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP;
	if ((is_interrupt || is_passed_on) && (r->options->detach || wait_program_has_ended(r)))
		return true;
	if ((is_passed_on || info.ssi_signo == SIGUSR2) && info.ssi_code != SI_KERNEL)
		syscall(SYS_pidfd_send_signal, r->program_fd, (int)info.ssi_signo, NULL, 0);
	return false;
}

void fxt_recovery_wait(struct fxt_recovery *r, int signals)
{
	/* With --decouple there are more processes than the program: check them from time
	 * to time. */
	int timeout = r->options->decouple ? 100 : -1;
	bool is_told = false;

	while (r->client < 0 && !is_told && !wait_is_over(r)) {
		struct pollfd ready[] = {{signals, POLLIN, 0}, {r->listener_fd, POLLIN, 0},
		        {r->options->decouple ? -1 : r->program_fd, POLLIN, 0}};

		if (poll(ready, 3, timeout) <= 0)
			continue;
		if (ready[0].revents)
			is_told = wait_take_signal(r, signals);
		if (ready[1].revents)
			client_serve(r);
	}
}

#include "prompt.h"

#include <editline/readline.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fxt/terminal.h"
#include "statements.h"

static const char help[] = "A statement ends with a semicolon, and may take several lines.\n"
                           "  .tables         what there is\n"
                           "  .columns TABLE  the columns of a table, and what they mean\n"
                           "  .quit           or the end of the input\n"
                           "fxt-sql(1) has examples.\n";

static sqlite3 *running;
static struct fxt_sql_trace *read_trace;

static void prompt_interrupt(int signal)
{
	(void)signal;
	read_trace->is_interrupted = 1;
	sqlite3_interrupt(running);
}

static void prompt_print_names(void)
{
	for (const struct fxt_sql_table *table = fxt_sql_tables; table->name; table++)
		printf("  %-14s %s\n", table->name, table->meaning);
	for (const struct fxt_sql_view *view = fxt_sql_views; view->name; view++)
		printf("  %-14s %s\n", view->name, view->meaning);
}

/* Runs a line that begins with a dot. Returns false if the prompt ends. */
static bool prompt_command(char *line)
{
	char *rest = NULL;
	const char *command = strtok_r(line, " \t", &rest), *name = strtok_r(NULL, " \t", &rest);

	if (strcmp(command, ".quit") == 0 || strcmp(command, ".exit") == 0)
		return false;
	if (strcmp(command, ".tables") == 0)
		prompt_print_names();
	else if (strcmp(command, ".columns") != 0 || !name)
		fputs(help, stdout);
	else if (!fxt_sql_print_tables(name))
		fprintf(stderr, "fxt sql: no table '%s'; .tables has their names\n", name);
	return true;
}

static void prompt_run(sqlite3 *database, struct fxt_sql_trace *trace, const char *text)
{
	const struct sigaction interrupts = {.sa_handler = prompt_interrupt, .sa_flags = SA_RESTART};
	struct sigaction before;

	trace->is_interrupted = 0;
	sigaction(SIGINT, &interrupts, &before);
	fxt_sql_run(database, text);
	sigaction(SIGINT, &before, NULL);
	fflush(stdout);
}

/* Appends a line to an incomplete statement. */
static char *prompt_join(char *text, const char *line)
{
	size_t bytes = text ? strlen(text) : 0, more = strlen(line);

	text = fxt_resize(text, bytes + more + 2, 1);
	memcpy(text + bytes, line, more);
	memcpy(text + bytes + more, "\n", 2);
	return text;
}

void fxt_sql_prompt(sqlite3 *database, struct fxt_sql_trace *trace)
{
	char *text = NULL, *line;
	bool goes_on = true;

	fxt_terminal_end();
	running = database;
	read_trace = trace;
	printf("%s; .help tells more\n", trace->name);
	while (goes_on && (line = readline(text ? "...> " : "fxt> "))) {
		if (*line)
			add_history(line);
		if (!text && line[0] == '.') {
			goes_on = prompt_command(line);
		} else if (text || line[strspn(line, " \t")]) {
			text = prompt_join(text, line);
			if (sqlite3_complete(text)) {
				prompt_run(database, trace, text);
				free(text);
				text = NULL;
			}
		}
		free(line);
	}
	free(text);
}

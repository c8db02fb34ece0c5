/*
 * The screen of fxt tui by ncurses: start and end, colours, texts and keys. Runs on the
 * main thread. It must not write anything except printable text to the terminal.
 */
#include "screen.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "fxt/terminal.h"
#include "fxt/describe.h"

static SCREEN *screen;
static FILE *keyboard; /* opened separately if the standard input is a trace */

/* The attributes of looks, with colours and without. A colour pair has the number of its
 * look. */
static const struct {
	short foreground, background; /* of 256 colours; -1: the terminal's default */
	short few, few_background;    /* of 8 colours */
	attr_t with, without;
} looks[FXT_LOOKS] = {
        [FXT_LOOK_PLAIN] = {-1, -1, -1, -1, 0, 0},
        [FXT_LOOK_BAR] = {252, 237, COLOR_BLACK, COLOR_WHITE, 0, A_REVERSE},
        [FXT_LOOK_CHOSEN] = {231, 25, COLOR_WHITE, COLOR_BLUE, A_BOLD, A_BOLD},
        [FXT_LOOK_TITLE] = {-1, -1, -1, -1, A_BOLD, A_BOLD},
        [FXT_LOOK_SORTED] = {75, -1, COLOR_CYAN, -1, A_BOLD | A_UNDERLINE, A_BOLD | A_UNDERLINE},
        [FXT_LOOK_CURSOR] = {-1, -1, -1, -1, A_REVERSE, A_REVERSE},
        [FXT_LOOK_FAINT] = {245, -1, COLOR_CYAN, -1, 0, 0},
        [FXT_LOOK_FOUND] = {16, 220, COLOR_BLACK, COLOR_YELLOW, 0, A_REVERSE | A_BOLD},
        [FXT_LOOK_MUCH] = {203, -1, COLOR_RED, -1, 0, 0},
        [FXT_LOOK_MORE] = {179, -1, COLOR_YELLOW, -1, 0, 0},
        [FXT_LOOK_RUNNING] = {71, -1, COLOR_GREEN, -1, 0, 0},
        [FXT_LOOK_RUNNABLE] = {178, -1, COLOR_YELLOW, -1, 0, 0},
        [FXT_LOOK_BLOCKED] = {243, -1, COLOR_CYAN, -1, 0, 0},
        [FXT_LOOK_LOST] = {196, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
        [FXT_LOOK_WAIT] = {16, 247, COLOR_BLACK, COLOR_WHITE, 0, A_UNDERLINE},
        [FXT_LOOK_SLICES] = {16, 110, COLOR_BLACK, COLOR_CYAN, 0, A_REVERSE},
        {16, 150, COLOR_BLACK, COLOR_GREEN, 0, A_REVERSE},
        {16, 180, COLOR_BLACK, COLOR_YELLOW, 0, A_REVERSE},
        {16, 182, COLOR_BLACK, COLOR_MAGENTA, 0, A_REVERSE},
        {16, 116, COLOR_BLACK, COLOR_CYAN, 0, A_REVERSE},
        {16, 187, COLOR_BLACK, COLOR_GREEN, 0, A_REVERSE},
        {16, 174, COLOR_BLACK, COLOR_YELLOW, 0, A_REVERSE},
        {16, 147, COLOR_BLACK, COLOR_MAGENTA, 0, A_REVERSE},
};

static bool screen_has_colours(void)
{
	return fxt_terminal()->has_colours && has_colors();
}

static void screen_begin_colours(void)
{
	if (!screen_has_colours())
		return;
	start_color();
	use_default_colors();
	for (short i = 1; i < FXT_LOOKS; i++)
		if (COLORS >= 256)
			init_pair(i, looks[i].foreground, looks[i].background);
		else
			init_pair(i, looks[i].few, looks[i].few_background);
}

int fxt_screen_begin(void)
{
	const char *kind = getenv("TERM");

	keyboard = isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
	if (!isatty(STDOUT_FILENO) || !keyboard) {
		fprintf(stderr,
		        "fxt: tui needs a terminal, and there is none; fxt report and fxt tree print\n");
		return -1;
	}
	fxt_terminal_end();
	screen = newterm(NULL, stdout, keyboard);
	if (!screen) {
		fprintf(stderr, "fxt: tui cannot draw on a terminal of the kind '%s'; set TERM to its name\n",
		        kind ? kind : "");
		return -1;
	}
	atexit(fxt_screen_end);
	set_escdelay(25); /* ms: Esc alone is a key, too */
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	screen_begin_colours();
	return 0;
}

void fxt_screen_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

static void screen_set_look(enum fxt_look look)
{
	if (screen_has_colours())
		attr_set(looks[look].with, (short)look, NULL);
	else
		attr_set(looks[look].without, 0, NULL);
}

void fxt_screen_text(int line, int column, int width, enum fxt_look look, struct fxt_span text)
{
	struct fxt_describer words;

	if (line < 0 || line >= LINES || column >= COLS || width <= 0)
		return;
	width = width < COLS - column ? width : COLS - column;
	fxt_describe_begin(&words);
	unsigned used = fxt_write_cut(words.out, text, (unsigned)width);

	fprintf(words.out, "%*s", width - (int)used, "");
	text = fxt_describe_end(&words);
	screen_set_look(look);
	mvaddnstr(line, column, text.data, (int)text.bytes);
	screen_set_look(FXT_LOOK_PLAIN);
	fxt_describe_free(&words);
}

void fxt_screen_print(int line, int column, int width, enum fxt_look look, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fxt_screen_text(line, column, width, look, fxt_span(text));
}

enum fxt_look fxt_screen_slice_look(uint32_t name)
{
	return FXT_LOOK_SLICES + (name * UINT32_C(2654435761) >> 16) % FXT_LOOK_SLICE_COLOURS;
}

struct fxt_key fxt_screen_key(void)
{
	wint_t key;

	switch (get_wch(&key)) {
	case KEY_CODE_YES:
		return (struct fxt_key){.other = (int)key};
	case OK:
		return (struct fxt_key){.character = key};
	default: /* the terminal is gone */
		return (struct fxt_key){.character = 'q'};
	}
}

bool fxt_screen_stops(void)
{
	enum { ESCAPE = 27 };
	wint_t key;

	nodelay(stdscr, TRUE);
	int got = get_wch(&key);

	nodelay(stdscr, FALSE);
	if (got == OK && (key == ESCAPE || key == 'q'))
		return true;
	if (got == OK)
		unget_wch((wchar_t)key);
	else if (got == KEY_CODE_YES)
		ungetch((int)key);
	return false;
}

/*
 * fxt-cc and fxt-c++: the system's compiler, with the option that makes a program
 * recordable. This program finds the compiler, chooses the option, and becomes the compiler
 * by exec; it prints nothing. A build starts it thousands of times, so it starts no other
 * process and reads no file except response files (@FILE).
 *
 * Its name chooses the compiler: cc and c++ are those of $FXT_CC and $FXT_CXX or the
 * system's; fxt-NAME, and a link NAME in $PATH before the compiler, are the compiler NAME.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arch.h"

enum { WRONG_SETTING = 2, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

enum family { UNKNOWN, GCC, CLANG };

/* The program that the user called, and the compiler. */
static const char *called;
static struct {
	char *words[64]; /* of $FXT_CC: a launcher such as ccache, the compiler, options */
	size_t count;
	char path[PATH_MAX]; /* of the first word */
	enum family family;
	bool has_prepared; /* the target has prepared entries */
} compiler;

/* The contents of the command line and its response files. */
static struct {
	const char *language; /* of -x; NULL: the file's name tells it */
	bool is_x;            /* the next argument is that language */
	bool is_target;       /* the next argument is clang's target */
	bool is_other;        /* the next argument belongs to an option */
	bool has_source;      /* a file to compile */
	bool makes_code;      /* not only -E, -M or -fsyntax-only */
	bool has_choice;      /* the user's own options choose how to instrument */
} line = {.makes_code = true};

__attribute__((noreturn)) static void fail(int status, const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", called, what, why);
	exit(status);
}

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_in(const char *word, const char *const *list)
{
	while (*list && strcmp(word, *list) != 0)
		list++;
	return *list;
}

/* ---- the compiler ---- */

/* True if the file is this program, under whatever name: running it would never end. */
static bool is_wrapper(const char *path)
{
	struct stat self, other;

	return stat("/proc/self/exe", &self) == 0 && stat(path, &other) == 0 && self.st_dev == other.st_dev &&
	       self.st_ino == other.st_ino;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Looks for a program as execvp() does, but never finds this one. */
static bool find(const char *name, char path[PATH_MAX])
{
	const char *folder = getenv("PATH"), *end;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path) &&
		       !is_wrapper(path);
	for (folder = folder ? folder : "/usr/bin:/bin";; folder = end + 1) {
		end = strchrnul(folder, ':');
		int bytes = (int)(end - folder);
		int length = snprintf(path, PATH_MAX, "%.*s%s%s", bytes, folder, bytes ? "/" : "", name);

		if (length < PATH_MAX && is_program(path) && !is_wrapper(path))
			return true;
		if (!*end)
			return false;
	}
}

static enum family family_of(const char *name)
{
	return strstr(name, "clang") ? CLANG : strstr(name, "gcc") || strstr(name, "g++") ? GCC : UNKNOWN;
}

static bool is_for_prepared(const char *target, bool otherwise)
{
	return begins(target, "aarch64") || begins(target, "arm64")  ? false
	       : begins(target, "x86_64") || begins(target, "amd64") ? true
	                                                             : otherwise;
}

/* Splits the value of a setting at blanks. A value that is a file's name may have blanks. */
static void take_words(const char *variable, const char *value)
{
	char *words = strdup(value), *word;

	if (words && is_program(value)) {
		compiler.words[compiler.count++] = words;
		return;
	}
	while (words && (word = strsep(&words, " \t\n")) != NULL) {
		if (compiler.count == sizeof(compiler.words) / sizeof(*compiler.words))
			fail(WRONG_SETTING, variable, "has too many words");
		if (*word)
			compiler.words[compiler.count++] = word;
	}
}

/* The compiler's name tells its family, or the name of the file that it is a link to. */
static void take_family(void)
{
	for (size_t i = 0; i < compiler.count && compiler.family == UNKNOWN; i++) {
		const char *name = base_of(compiler.words[i]);
		char path[PATH_MAX], file[PATH_MAX];

		if (compiler.words[i][0] == '-' || strchr(compiler.words[i], '='))
			continue;
		compiler.has_prepared = is_for_prepared(name, compiler.has_prepared);
		compiler.family = family_of(name);
		if (compiler.family == UNKNOWN && find(compiler.words[i], path) && realpath(path, file))
			compiler.family = family_of(base_of(file));
	}
}

/* A word of the setting that is this program, as in FXT_CC='ccache fxt-cc', has no end. */
static void refuse_loop(const char *variable)
{
	for (size_t i = 0; i < compiler.count; i++)
		if (begins(base_of(compiler.words[i]), "fxt-") || is_wrapper(compiler.words[i]))
			fail(NOT_FOUND, variable, "names this program itself; it must name a compiler");
}

/* The first of the usual compilers that is here, or the first one. */
static const char *usual_compiler(bool is_cxx)
{
	static const char *const usual[2][4] = {{"cc", "gcc", "clang"}, {"c++", "g++", "clang++"}};
	char path[PATH_MAX];

	for (const char *const *name = usual[is_cxx]; *name; name++)
		if (find(*name, path))
			return *name;
	return usual[is_cxx][0];
}

static void find_compiler(void)
{
	const char *name = base_of(called), *variable = NULL, *given = NULL;
	bool is_link = !begins(name, "fxt-"), is_cxx;

	name += is_link ? 0 : strlen("fxt-");
	is_cxx = strcmp(name, "c++") == 0;
	if (is_cxx || strcmp(name, "cc") == 0) {
		variable = is_cxx ? "FXT_CXX" : "FXT_CC";
		given = setting(variable);
		name = usual_compiler(is_cxx);
	}
	if (given) {
		take_words(variable, given);
		refuse_loop(variable);
	} else {
		compiler.words[compiler.count++] = strdup(name);
	}
	if (compiler.count == 0 || !compiler.words[0])
		fail(NOT_FOUND, variable ? variable : name, "names no compiler");
	if (!find(compiler.words[0], compiler.path)) {
		char why[128];

		snprintf(why, sizeof(why), "no such compiler%s%s%s",
		        strchr(compiler.words[0], '/') ? "" : " in $PATH",
		        variable ? "; name another one by " : "", variable ? variable : "");
		fail(NOT_FOUND, compiler.words[0], why);
	}
	compiler.has_prepared = ARCH_HAS_PREPARED;
	take_family();
	/* gcc looks for its other programs beside the file that its name is found as. */
	if (is_link)
		compiler.words[0] = compiler.path;
}

/* ---- the command line ---- */

/* True if a file in this language gets functions of C or C++. */
static bool is_compiled_language(const char *language)
{
	static const char *const languages[] = {"c", "c-header", "cpp-output", "c++", "c++-header",
	        "c++-cpp-output", "c++-system-header", "c++-user-header", "c++-module", "objective-c",
	        "objective-c++", "objective-c-cpp-output", "objective-c++-cpp-output", NULL};

	return is_in(language, languages);
}

static bool is_compiled_file(const char *name)
{
	static const char *const endings[] = {"c", "i", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "ii",
	        "m", "mi", "mm", "M", "mii", "h", "H", "hh", "hp", "hxx", "hpp", "HPP", "h++", "tcc", "cppm",
	        "ixx", NULL};
	const char *dot = strrchr(base_of(name), '.');

	return dot && is_in(dot + 1, endings);
}

static void take_option(const char *option)
{
	static const char *const with_argument[] = {"-o", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z",
	        "-e", "-B", "-F", "-MF", "-MT", "-MQ", "-MJ", "-include", "-imacros", "-iprefix", "-isystem",
	        "-idirafter", "-iquote", "-isysroot", "-iwithprefix", "-iwithprefixbefore", "-imultilib",
	        "-include-pch", "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-wrapper", "--param",
	        "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-gcc-toolchain",
	        "-serialize-diagnostics", "-arch", NULL};
	static const char *const choices[] = {"-finstrument-functions", "-fno-instrument-functions",
	        "-finstrument-functions-after-inlining", "-finstrument-function-entry-bare",
	        "-fxray-instrument", "-fno-xray-instrument", NULL};

	static const char *const codeless[] = {
	        "-E", "-M", "-MM", "-fsyntax-only", "-###", "--precompile", NULL};

	if (is_in(option, codeless))
		line.makes_code = false;
	if (is_in(option, choices) || begins(option, "-fpatchable-function-entry"))
		line.has_choice = true;
	else if (strcmp(option, "-x") == 0 || strcmp(option, "--language") == 0)
		line.is_x = true;
	else if (begins(option, "-x"))
		line.language = option + 2;
	else if (begins(option, "--language="))
		line.language = option + strlen("--language=");
	else if (begins(option, "--target="))
		compiler.has_prepared = is_for_prepared(option + strlen("--target="), ARCH_HAS_PREPARED);
	else if (strcmp(option, "-target") == 0)
		line.is_target = true;
	else
		line.is_other = is_in(option, with_argument);
}

static void take_argument(const char *argument, unsigned nesting);

/* Reads the next argument of a response file in place: blanks separate arguments, quotes
 * and backslashes protect. Returns NULL at the end. */
static char *response_next(char **rest)
{
	char *from = *rest + strspn(*rest, " \t\r\n\f\v"), *to = from, *first = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\r\n\f\v", *from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? 0 : *from;
		else
			*to++ = *from;
	}
	*rest = *from ? from + 1 : from;
	*to = 0;
	return first;
}

/* Takes the arguments in a response file. Returns false if there is no such file: @NAME is
 * an input then. */
static bool take_response(const char *name, unsigned nesting)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t used = 0;
	char *text, *argument;

	if (fd < 0)
		return false;
	/* A pipe could be read once only, and belongs to the compiler. */
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	        (text = malloc((size_t)status.st_size + 1)) == NULL) {
		close(fd);
		return false;
	}
	for (ssize_t got; used < (size_t)status.st_size; used += (size_t)got)
		if ((got = read(fd, text + used, (size_t)status.st_size - used)) <= 0)
			break;
	close(fd);
	text[used] = 0;
	for (char *rest = text; (argument = response_next(&rest)) != NULL;)
		take_argument(argument, nesting + 1);
	return true; /* the text stays: line.language may be in it */
}

static void take_argument(const char *argument, unsigned nesting)
{
	enum { NESTING_MAX = 20 }; /* a file may name itself */

	if (argument[0] == '@' && nesting < NESTING_MAX && take_response(argument + 1, nesting))
		return;
	if (line.is_x) {
		line.language = argument;
		line.is_x = false;
	} else if (line.is_target) {
		compiler.has_prepared = is_for_prepared(argument, ARCH_HAS_PREPARED);
		line.is_target = false;
	} else if (line.is_other) {
		line.is_other = false;
	} else if (argument[0] == '-' && argument[1]) {
		take_option(argument);
	} else {
		bool has_language = line.language && strcmp(line.language, "none") != 0;

		line.has_source |=
		        has_language ? is_compiled_language(line.language) : is_compiled_file(argument);
	}
}

/* ---- fxtrun --build ---- */

/* Tells fxtrun what was done with a compilation: a letter in the file that it named. A
 * compiler of ours below a launcher such as ccache is not counted again. */
static void count(char how)
{
	const char *file = setting("FXT_BUILD_COUNTS");
	int fd = file ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, &how, 1) == 1)
		unsetenv("FXT_BUILD_COUNTS");
	if (fd >= 0)
		close(fd);
}

/* ---- the options that are added ---- */

static const char *const *options_of_kind(void)
{
	static const char *const none[] = {NULL}, *const prepared[] = {"-fpatchable-function-entry=5", NULL};
	static const char *const hooks[] = {"-finstrument-functions", NULL};
	/* The parts of names of the headers of the system, gcc and the C++ library. */
	static const char *const hooks_gcc[] = {"-finstrument-functions",
	        "-finstrument-functions-exclude-file-list=/usr/include,/usr/local/include,/include/c++/,/lib/"
	        "gcc/",
	        NULL};
	static const char *const hooks_clang[] = {"-finstrument-functions-after-inlining", NULL};
	/* By default clang leaves out small functions. */
	static const char *const xray[] = {"-fxray-instrument", "-fxray-instruction-threshold=1", NULL};
	const char *kind = setting("FXT_INSTRUMENT");

	if (!kind)
		kind = compiler.has_prepared ? "prepared" : "hooks";
	if (strcmp(kind, "none") == 0)
		return none;
	if (strcmp(kind, "prepared") == 0)
		return prepared;
	if (strcmp(kind, "hooks") == 0)
		return compiler.family == GCC ? hooks_gcc : compiler.family == CLANG ? hooks_clang : hooks;
	if (strcmp(kind, "xray") != 0)
		fail(WRONG_SETTING, "FXT_INSTRUMENT", "must be prepared, hooks, xray or none");
	if (compiler.family == GCC)
		fail(WRONG_SETTING, "FXT_INSTRUMENT=xray",
		        "gcc has no XRay; set FXT_CC=clang and FXT_CXX=clang++");
	return xray;
}

/*
 * The options that the compiler gets. clang warns of an option for functions in a command
 * that compiles none, and gcc -v with another option is another question. Links of -flto
 * find the option in the objects.
 */
static const char *const *options_of_command(char **argv)
{
	static const char *const none[] = {NULL};
	const char *const *options = none;

	if (!argv[1] || begins(argv[1], "-cc1")) /* clang itself, which has other options */
		return none;
	for (int i = 1; argv[i]; i++)
		take_argument(argv[i], 0);
	if (!line.has_source)
		return none;
	if (!line.has_choice)
		options = options_of_kind();
	if (line.makes_code)
		count(line.has_choice ? 'o' : *options ? 'i' : 'n');
	return options;
}

int main(int argc, char **argv)
{
	called = argc > 0 ? argv[0] : "fxt-cc";
	find_compiler();
	const char *const *options = options_of_command(argv);
	char **words = calloc(compiler.count + (size_t)argc + 8, sizeof(*words)), **word = words;

	if (!words)
		fail(NOT_EXECUTABLE, compiler.path, strerror(errno));
	for (size_t i = 0; i < compiler.count; i++)
		*word++ = compiler.words[i];
	/* The user's options come after ours, so theirs win. */
	while (*options)
		*word++ = (char *)*options++;
	for (int i = 1; i < argc; i++)
		*word++ = argv[i];
	execv(compiler.path, words);
	fail(NOT_EXECUTABLE, compiler.path, strerror(errno));
}

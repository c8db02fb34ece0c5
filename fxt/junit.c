/*
 * Collects test cases and writes them as XML: the number of failures stands before them, so
 * nothing can be written until the last one is known.
 */
#include "junit.h"

#include <stdlib.h>
#include <string.h>
#include "reader/trace/index.h"
#include "reader/trace/text.h"
#include "xml.h"

/* The cases of one trace. */
struct junit_suite {
	char *trace, *cases;
	size_t bytes;
	FILE *file; /* writes to `cases` */
	unsigned tests, failures, errors;
};

struct fxt_junit {
	struct junit_suite *suites;
	size_t count, room;
};

struct fxt_junit *fxt_junit_begin(void)
{
	struct fxt_junit *junit = fxt_allocate(sizeof(*junit));

	*junit = (struct fxt_junit){0};
	return junit;
}

static struct junit_suite *junit_suite_of(struct fxt_junit *junit, const char *trace)
{
	struct junit_suite *suite = junit->count > 0 ? &junit->suites[junit->count - 1] : NULL;

	if (suite && strcmp(suite->trace, trace) == 0)
		return suite;
	fxt_make_room(junit->suites, junit->count, junit->room);
	suite = &junit->suites[junit->count++];
	*suite = (struct junit_suite){.trace = strdup(trace)};
	if (!suite->trace)
		fxt_out_of_memory();
	suite->file = fxt_memory_open(&suite->cases, &suite->bytes);
	return suite;
}

static void junit_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	fxt_xml_write(out, fxt_span(value));
	putc('"', out);
}

void fxt_junit_add(struct fxt_junit *junit, const struct fxt_junit_case *of)
{
	struct junit_suite *suite = junit_suite_of(junit, of->trace);
	const char *element = of->is_failed ? "failure" : of->is_unknown ? "error" : NULL;
	FILE *out = suite->file;

	suite->tests++;
	suite->failures += of->is_failed;
	suite->errors += of->is_unknown;
	fputs("    <testcase", out);
	junit_attribute(out, "classname", of->trace);
	junit_attribute(out, "name", of->rule);
	if (!element) {
		fputs("/>\n", out);
		return;
	}
	fprintf(out, ">\n      <%s", element);
	junit_attribute(out, "message", of->is_unknown && of->reason ? of->reason : of->measured);
	fputs(">", out);
	fxt_xml_write(out, fxt_span(of->rule));
	fputs(": measured ", out);
	fxt_xml_write(out, fxt_span(of->measured));
	fxt_xml_write(out, fxt_span(of->remark));
	fprintf(out, "</%s>\n    </testcase>\n", element);
}

void fxt_junit_end(struct fxt_junit *junit, FILE *out)
{
	unsigned tests = 0, failures = 0, errors = 0;

	for (size_t i = 0; i < junit->count; i++) {
		tests += junit->suites[i].tests;
		failures += junit->suites[i].failures;
		errors += junit->suites[i].errors;
	}
	fprintf(out,
	        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	        "<testsuites name=\"fxt check\" tests=\"%u\" failures=\"%u\" errors=\"%u\">\n",
	        tests, failures, errors);
	for (size_t i = 0; i < junit->count; i++) {
		struct junit_suite *suite = &junit->suites[i];

		fxt_memory_close(suite->file, &suite->cases);
		fputs("  <testsuite", out);
		junit_attribute(out, "name", suite->trace);
		fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\">\n", suite->tests,
		        suite->failures, suite->errors);
		fputs(suite->cases, out);
		fputs("  </testsuite>\n", out);
		free(suite->cases);
		free(suite->trace);
	}
	fputs("</testsuites>\n", out);
	free(junit->suites);
	free(junit);
}

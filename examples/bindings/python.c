/*
 * <fxt/trace.h> for Python, as an extension of one page. The interpreter gives names at run
 * time, so a site is made for each call of these functions, in a dictionary by its names.
 *
 *     gcc -shared -fPIC -O2 $(python3-config --includes) python.c -o fxt_trace.so
 *     fxtrun python3 -c 'import fxt_trace as t; t.begin("job", "load"); t.end("job", "load")'
 *
 *     instant(category, name)      begin(category, name), end(category, name)
 *     counter(category, name, value)
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fxt/trace.h>

/* Sites are never freed: the agent may write to their texts later. */
struct site {
	struct fxt_trace_site site;
	uint16_t texts[4 + 1];
};

static PyObject *sites; /* (category, name) -> capsule of a site */

static struct fxt_trace_site *site_of(PyObject *category, PyObject *name)
{
	PyObject *key = PyTuple_Pack(2, category, name),
	         *found = key ? PyDict_GetItemWithError(sites, key) : NULL;
	const char *category_text = PyUnicode_AsUTF8(category), *name_text = PyUnicode_AsUTF8(name);
	struct site *made = NULL;

	if (!category_text || !name_text)
		found = NULL;
	else if (found)
		made = PyCapsule_GetPointer(found, NULL);
	else if (key && !PyErr_Occurred() && (made = calloc(1, sizeof(*made)))) {
		made->site.category = strdup(category_text);
		made->site.name = strdup(name_text);
		made->site.texts = made->texts;
		made->site.own = 1;
		made->site.on = &made->site.own;
		found = PyCapsule_New(made, NULL, NULL);
		if (!found || PyDict_SetItem(sites, key, found) < 0)
			made = NULL;
		Py_XDECREF(found);
	}
	Py_XDECREF(key);
	return made ? &made->site : NULL;
}

/* type: of the event in the trace format; value: of a counter, or NULL. */
static PyObject *say(PyObject *arguments, uint32_t type)
{
	struct fxt_trace_argument value = {"value", {0}};
	PyObject *category, *name;
	double number = 0;

	if (!PyArg_ParseTuple(arguments, type == 1 ? "UUd" : "UU", &category, &name, &number))
		return NULL;
	value.value = FXT_TA_DOUBLE(number);
	struct fxt_trace_site *site = site_of(category, name);

	if (!site)
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	if (fxt_trace_is_on_(site))
		fxt_trace_agent_()->event(site, type, 0, &value, type == 1);
	Py_RETURN_NONE;
}

#define METHOD(name, type)                                               \
	static PyObject *say_##name(PyObject *self, PyObject *arguments) \
	{                                                                \
		(void)self;                                              \
		return say(arguments, type);                             \
	}
METHOD(instant, 0)
METHOD(counter, 1)
METHOD(begin, 2)
METHOD(end, 3)

static PyMethodDef methods[] = {{"instant", say_instant, METH_VARARGS, "A moment."},
        {"counter", say_counter, METH_VARARGS, "A value."},
        {"begin", say_begin, METH_VARARGS, "A duration begins."}, {"end", say_end, METH_VARARGS, "It ends."},
        {0}};
static struct PyModuleDef module = {
        PyModuleDef_HEAD_INIT, "fxt_trace", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_fxt_trace(void)
{
	sites = PyDict_New();
	return sites ? PyModule_Create(&module) : NULL;
}

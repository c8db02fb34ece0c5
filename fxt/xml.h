/*
 * Text as the contents of an element or of an attribute of XML.
 */
#ifndef FXT_FXT_XML_H
#define FXT_FXT_XML_H

#include <stdio.h>
#include "reader/slices/span.h"

/* Writes a text, whatever is in it, so that it is well-formed: what XML has no character for is shown as
 * fxt_escape() shows it. */
void fxt_xml_write(FILE *out, struct fxt_span text);

#endif

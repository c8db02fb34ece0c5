/*
 * Text as the contents of an element or of an attribute of XML.
 */
#ifndef FXT_FXT_XML_H
#define FXT_FXT_XML_H

#include <stdio.h>
#include "reader/slices/span.h"

/* Writes any text as well-formed XML. Bytes that have no character in XML are shown as
 * by fxt_escape(). */
void fxt_xml_write(FILE *out, struct fxt_span text);

#endif

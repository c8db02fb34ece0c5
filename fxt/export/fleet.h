/*
 * A fleet: a folder with the tables of many traces, which DuckDB and others read as one.
 */
#ifndef FXT_FXT_EXPORT_FLEET_H
#define FXT_FXT_EXPORT_FLEET_H

#include <stdio.h>

#define FXT_FLEET_TABLES "csv.zst" /* the ending of a table's name */

/* Writes the statements that make a view of each table, in DuckDB's SQL. They are for a
 * DuckDB in the fleet's folder. */
void fxt_export_fleet_views(FILE *out);

#endif

#!/usr/bin/env python3
"""rows.py TABLE COLUMN...: the columns of a table, separated by tabs, of what a command of fxt printed with --csv.

The column "of" is empty for a table of the whole trace."""
import csv
import sys

head = []
for row in csv.reader(sys.stdin):
    if row[:1] == ["table"]:
        head = row
    elif row[:1] == sys.argv[1:2]:
        values = dict(zip(head, row))
        print(*(values[column] if column != "of" else values.get("of", "") for column in sys.argv[2:]), sep="\t")

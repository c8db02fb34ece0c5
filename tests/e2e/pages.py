#!/usr/bin/env python3
"""Prints a table of a page of fxt html, as a browser has it: pages.py TABLE FILE

Prints a line for each row of the table with that id, cells separated by tabs: numbers as they are before they are rounded for
the eye, texts whole. `facts` is the table of the summary: each fact, and its text.
"""
import html.parser
import sys


class Page(html.parser.HTMLParser):
    """Rows of cells, where the wanted table is."""

    def __init__(self, table):
        super().__init__()
        self.table, self.is_inside, self.rows, self.cell = table, False, [], None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if self.table in (attributes.get("id"), attributes.get("class")):
            self.is_inside = True
        elif self.is_inside and tag in ("tr", "dt"):
            self.rows.append([])
        if self.is_inside and tag in ("td", "dt", "dd"):
            self.cell = ""
            self.value = attributes.get("data-value")

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("table", "dl"):
            self.is_inside = False
        elif self.cell is not None and tag in ("td", "dt", "dd"):
            self.rows[-1].append(self.cell if self.value is None else self.value)
            self.cell = None


def main():
    page = Page(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        page.feed(file.read())
    for row in filter(None, page.rows):
        print(*row, sep="\t")


main()

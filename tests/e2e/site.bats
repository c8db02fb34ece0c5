#!/usr/bin/env bats
# make site: the manual as pages of HTML.

load helpers

@test "make site: every page is there, every link leads somewhere, and nothing is fetched" {
	"$root/tools/site" "$PWD/site"
	for page in "$root"/doc/*.[1-9]; do
		grep -qF "<h1" "site/${page##*/}.html" || grep -qF 'class="Sh"' "site/${page##*/}.html"
	done
	python3 - <<-'END'
		import glob
		import html.parser
		import os
		class Page(html.parser.HTMLParser):
		    void = {"meta", "link", "img", "br", "hr", "input", "col"}
		    def __init__(self, path):
		        super().__init__()
		        self.open, self.ids, self.links = [], set(), []
		        self.feed(open(path, encoding="utf-8").read())
		        assert not self.open, (path, self.open)
		    def handle_starttag(self, tag, attributes):
		        if tag not in self.void:
		            self.open.append(tag)
		        for key, value in attributes:
		            if key == "id":
		                self.ids.add(value)
		            elif key in ("href", "src"):
		                assert tag == "a" or not value.startswith("http"), value
		                self.links.append(value)
		    def handle_endtag(self, tag):
		        if tag in self.void:
		            return
		        while self.open and self.open[-1] in ("p", "li", "dt", "dd", "td", "th", "tr") and self.open[-1] != tag:
		            self.open.pop()
		        assert self.open and self.open.pop() == tag, (tag, self.open)
		pages = {os.path.basename(path): Page(path) for path in glob.glob("site/*.html")}
		assert len(pages) > 45
		for name, page in pages.items():
		    for link in page.links:
		        file, _, place = link.partition("#")
		        if link.startswith("http"):
		            continue
		        assert os.path.exists("site/" + (file or name)), (name, link)
		        assert not place or place in pages[file or name].ids, (name, link)
		assert set(pages) - {"index.html"} == set(pages["index.html"].links) - {"index.html"}
	END
}

@test "the index finds the pages that have all of the words" {
	command -v chromium >/dev/null || skip "chromium is not here"
	"$root/tools/site" "$PWD/site"
	sed -i 's,</body>,<script>input.value = "convoy LOCK"; input.dispatchEvent(new Event("input"));</script></body>,' site/index.html
	timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --dump-dom "file://$PWD/site/index.html" >dom.html 2>/dev/null
	grep -o '<li><a href="[^"]*">' dom.html | cut -d '"' -f 2 | sort >found
	grep -li convoy site/*.html | xargs grep -li lock | sed 's,site/,,' | grep -vx index.html | sort | diff - found
	[ -s found ]
}

#!/usr/bin/env python3
"""How a page of fxt html behaves in headless Chromium: page.py WHAT PAGE prints one figure.

  open  milliseconds from the navigation to the first picture with everything drawn
  pan   milliseconds a frame while D and A move the timeline, once it is zoomed in a little
  zoom  milliseconds a frame while W zooms in to nanoseconds and S out again
"""
import os
import re
import signal
import subprocess
import sys
import tempfile

SCRIPT = """<script>addEventListener('load', async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const press = key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  async function duration(keys) {
    const start = await frame();
    let now = start;
    for (const key of keys) {
      press(key);
      now = await frame();
    }
    return (now - start) / keys.length;
  }
  const figures = {
    async open() {
      await frame();
      return frame();
    },
    async pan() {
      document.getElementById('timeline').scrollIntoView();
      for (const key of 'wwwww') press(key);
      return duration([...'d'.repeat(60), ...'a'.repeat(60)]);
    },
    async zoom() {
      document.getElementById('timeline').scrollIntoView();
      return duration([...'w'.repeat(90), ...'s'.repeat(90)]);
    },
  };
  console.log(`figure ${await figures.WHAT()}.`);
});</script>"""


def main():
    what, page = sys.argv[1:]
    if what not in ("open", "pan", "zoom"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        driven = os.path.join(directory, "page.html")
        with open(page, encoding="utf-8") as file, open(driven, "w", encoding="utf-8") as out:
            out.write(file.read() + SCRIPT.replace("WHAT", what))
        with subprocess.Popen(
                ["timeout", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
                 f"--user-data-dir={directory}/browser", "--enable-logging=stderr", f"file://{driven}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True) as browser:
            figures = (re.search(r"CONSOLE.*figure ([0-9.]+)\.\"", line) for line in browser.stderr)
            figure = next(filter(None, figures), None)
            os.killpg(browser.pid, signal.SIGKILL)
    if not figure:
        sys.exit(f"{page}: the browser did not come to measure it")
    print(figure[1])


main()

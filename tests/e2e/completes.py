"""Types into an interactive shell and prints what the line became: completes.py SHELL FILE LINE...

The shell is bash or zsh, FILE the completion file. Each line is typed, then the Tab key; a shell reads keys in order, so
nothing is waited for but its prompt. A line that has "print" put before it shows itself.
"""
import os
import pty
import re
import select
import sys

PROMPT = b"ready> "
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'; HISTFILE=; source {file}; PS1='rea''dy> '\n"),
    "zsh": (["zsh", "-f", "-i"],
            "unsetopt prompt_sp; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; PS1='rea''dy> '\n"),
}


def read_until(fd, wanted):
    got = b""
    while not re.search(wanted, got, re.S):
        if not select.select([fd], [], [], 60)[0]:
            sys.exit(f"no {wanted!r} after {got!r}")
        got += os.read(fd, 65536)
    return got


def main():
    shell, file, *lines = sys.argv[1:]
    command, begin = START[shell]
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "vt100"
        os.environ["COLUMNS"] = "1000"
        os.execvp(command[0], command)
    os.write(fd, begin.format(file=file, folder=os.path.dirname(file)).encode())
    read_until(fd, PROMPT)
    for line in lines:
        # Ctrl-A goes to the line's beginning, Ctrl-E to its end. The shell takes the quotes
        # off completed words.
        os.write(fd, line.encode() + b"\t\x01printf '@@%s' \x05 ''\\@end\n")
        text = read_until(fd, b"@@@end.*" + PROMPT)
        text = re.sub(rb"\0|\x1b\[[0-9;?]*[A-Za-z]", b"", text).decode(errors="replace")
        shown = text[text.index("@@" + line.split()[0] + "@@"):]
        print(" ".join(shown.split("@@")[1:-1]))
    os.write(fd, b"\x15exit\n")
    os.close(fd)
    os.waitpid(pid, 0)


main()

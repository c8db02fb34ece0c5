#!/usr/bin/env python3
"""A server under load that is reloaded and whose processes are killed meanwhile: load.py nginx|redis PROGRAM

Prints what must be the same whether the server is traced or not, a line each that begins with "load: ". Its files are
below $TMPDIR.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS, REQUESTS = 4, 500
PATIENCE = 60

NGINX = """daemon off; worker_processes 2; pid {0}/pid; error_log {0}/error;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0}; uwsgi_temp_path {0}; scgi_temp_path {0};
  server {{ listen unix:{0}/socket; root {0}/{1}; }}
}}
"""
NGINX_REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def say(*what):
    print("load:", *what, flush=True)


def await_that(holds, what):
    end = time.monotonic() + PATIENCE
    while not (value := holds()):
        if time.monotonic() > end:
            sys.exit(f"load: nothing came of: {what}")
        time.sleep(0.01)
    return value


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE)
    connection.connect(path)
    return connection


def is_there(path):
    try:
        connect(path).close()
        return True
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


class Load(threading.Thread):
    """Asks until it has REQUESTS answers; a connection that ends is made anew."""

    def __init__(self, path, request, answer):
        super().__init__()
        self.path, self.request, self.answer = path, request, answer
        self.answers, self.others = 0, set()

    def run(self):
        while self.answers < REQUESTS:
            try:
                with connect(self.path) as connection:
                    while self.answers < REQUESTS:
                        connection.sendall(self.request)
                        data = connection.recv(4096)
                        if not data:
                            break
                        if data.startswith(b"-LOADING"):  # redis reads its file again; nothing was done
                            continue
                        if self.answer not in data:
                            self.others.add(data)
                        self.answers += 1
            except OSError:
                time.sleep(0.001)


def under_load(path, request, answer, *steps):
    """Takes the steps while there is load, each a quarter of the requests after the one before at the least."""
    loads = [Load(path, request, answer) for _ in range(CLIENTS)]
    for load in loads:
        load.start()
    for quarter, step in enumerate(steps, 1):
        await_that(lambda: sum(load.answers for load in loads) >= quarter * CLIENTS * REQUESTS // 4, f"quarter {quarter}")
        step()
    for load in loads:
        load.join()
    say(sum(load.answers for load in loads), "answers, others:", *{data for load in loads for data in load.others})


def nginx(program, directory):
    path, configuration = directory + "/socket", directory + "/nginx.conf"

    def configure(word):
        os.makedirs(f"{directory}/{word}")
        with open(f"{directory}/{word}/index.html", "w") as file:
            file.write(f"hello {word}")
        with open(configuration, "w") as file:
            file.write(NGINX.format(directory, word))

    configure("before")
    server = subprocess.Popen([program, "-e", directory + "/error", "-c", configuration])
    await_that(lambda: is_there(path), "start")

    def replaced(act):
        workers = set(children(server.pid))
        act(workers)
        await_that(lambda: len(new := set(children(server.pid))) == 2 and not workers <= new, "new workers")

    def kill_worker():
        replaced(lambda workers: os.kill(int(min(workers)), signal.SIGKILL))
        say("another worker came")

    def reload():
        configure("after")
        workers = set(children(server.pid))
        server.send_signal(signal.SIGHUP)
        await_that(lambda: len(children(server.pid)) == 2 and not workers & set(children(server.pid)), "other workers")
        say("all workers are new")

    under_load(path, NGINX_REQUEST, b"200 OK", kill_worker, reload, kill_worker)
    under_load(path, NGINX_REQUEST, b"Content-Length: 11\r\n")  # "hello after"
    server.send_signal(signal.SIGQUIT)
    say("status", server.wait(PATIENCE))


def redis(program, directory):
    path = directory + "/socket"
    begin = [program, "--port", "0", "--unixsocket", path, "--dir", directory, "--save", "", "--appendonly", "yes",
             "--appendfsync", "always", "--logfile", directory + "/log"]
    server = subprocess.Popen(begin)
    await_that(lambda: is_there(path), "start")

    def ask(*words):
        with connect(path) as connection:
            connection.sendall(b"".join([b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(w), w) for w in words]))
            return connection.recv(4096)

    def has_saved():
        return b"aof_rewrite_in_progress:0" in ask(b"INFO", b"persistence")

    def kill_child():
        ask(b"CONFIG", b"SET", b"rdb-key-save-delay", b"10000000")
        ask(b"BGSAVE")
        os.kill(int(await_that(lambda: children(server.pid), "a child that saves")[0]), signal.SIGKILL)
        await_that(lambda: b"rdb_bgsave_in_progress:0" in ask(b"INFO", b"persistence"), "the child's end")
        ask(b"CONFIG", b"SET", b"rdb-key-save-delay", b"0")
        say("a child that saves is killed:", b"rdb_last_bgsave_status:err" in ask(b"INFO", b"persistence"))

    def rewrite():
        await_that(lambda: ask(b"BGREWRITEAOF").startswith(b"+"), "a rewrite")
        await_that(has_saved, "the rewrite's end")
        say("rewritten:", b"aof_last_bgrewrite_status:ok" in ask(b"INFO", b"persistence"))

    def kill_server():
        nonlocal server
        server.kill()
        say("status", server.wait(PATIENCE))
        os.unlink(path)
        server = subprocess.Popen(begin)
        await_that(lambda: is_there(path) and ask(b"PING") == b"+PONG\r\n", "its data")

    under_load(path, b"*2\r\n$4\r\nINCR\r\n$1\r\na\r\n", b":", kill_child, rewrite, kill_server)
    # An answer may be on its way when the server is killed; it is then in the file, since
    # each is written there first.
    say("all answered are counted:", 0 <= int(ask(b"GET", b"a").split()[1]) - CLIENTS * REQUESTS <= CLIENTS)
    ask(b"SHUTDOWN", b"NOSAVE")
    say("status", server.wait(PATIENCE))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)  # nginx's workers are another user's
        {"nginx": nginx, "redis": redis}[sys.argv[1]](sys.argv[2], place)

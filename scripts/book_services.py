"""What readers of the book have and a test has not: a model that judges, and a PostgreSQL server. Both run on this machine.

A service has `variables`, which the blocks that name it get, and `replaced`, which takes the place of texts of the page.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent


class Judge:
    """Answers as Claude does to those with a key, and as models on this machine; what it says is scripted."""

    def __init__(self, folder):
        self.process = subprocess.Popen([sys.executable, SCRIPTS / "judge_server.py", "0"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        url = self.process.stdout.readline().strip()
        self.variables = {"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": url, "OLLAMA_HOST": url}
        self.replaced = {"http://127.0.0.1:1234": url}

    @staticmethod
    def name_missing():
        return None

    def stop(self):
        self.process.communicate()


class Postgres:
    """A server with the user `jurist` and no other database than those that every server has."""

    def __init__(self, folder):
        self.data = folder / ".home/postgres"
        self.data.mkdir()
        # PostgreSQL refuses to run as root.
        self.user = []
        if os.geteuid() == 0:
            shutil.chown(self.data, "nobody")
            for above in (folder, folder / ".home"):
                above.chmod(0o711)
            self.user = ["runuser", "-u", "nobody", "--"]
        port = find_free_port()
        self.run("initdb", "--auth=trust", "--username=jurist", "--no-sync", "--no-locale", "--encoding=UTF8")
        self.run("pg_ctl", "--wait", "--log", self.data / "log", "--options",
                 f"-p {port} -k {self.data} -c listen_addresses=127.0.0.1 -c fsync=off", "start")
        self.variables = {"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "jurist"}
        self.replaced = {"postgres://jurist@db/": f"postgres://jurist@127.0.0.1:{port}/"}

    @staticmethod
    def name_missing():
        return None if all(find_program(name) for name in ("initdb", "pg_ctl", "pg_dump")) else "PostgreSQL"

    def run(self, name, *arguments):
        command = [*self.user, find_program(name), "--pgdata", self.data, *arguments]
        done = subprocess.run(command, cwd=self.data, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        if done.returncode:
            sys.exit(f"{name} fails:\n{done.stdout}")

    def stop(self):
        self.run("pg_ctl", "--mode", "immediate", "stop")


SERVICES = {"judge": Judge, "postgres": Postgres}


def find_program(name):
    """In the path, or where Debian keeps the newest."""
    kept = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parent.parent.name))
    return shutil.which(name) or (str(kept[-1]) if kept else None)


def find_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])

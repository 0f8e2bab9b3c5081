"""Does what a container tool does with packaging/Containerfile, where there is no tool and no registry of images.

A base image is a folder with what distroless/static has (certificates, accounts, /tmp, a home) and, for a program that
is not static, the libraries that it needs. Instructions are carried out in order, and the program is started there
without rights, with nothing else in reach.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

# Of the images `…:nonroot`.
USER = 65532


def read_instructions(text):
    text = re.sub(r"\\\n", " ", text)
    lines = [line.strip() for line in text.splitlines()]
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


class Image:
    def __init__(self, context, root, architecture):
        self.root = root
        self.user = "0:0"
        self.folder = "/"
        self.entrypoint, self.command, self.health = [], [], []
        self.write_base()
        variables = {"TARGETARCH": architecture}
        for instruction, rest in read_instructions((context / "Containerfile").read_text()):
            rest = re.sub(r"\$\{(\w+)\}", lambda found: variables.get(found[1], found[0]), rest)
            self.apply(instruction, rest, context)
        self.add_libraries()

    def write_base(self):
        for folder in ("etc/ssl/certs", "tmp", "home/nonroot", "usr/bin", "dev", "proc"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "tmp").chmod(0o1777)
        (self.root / "etc/passwd").write_text(f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/home/nonroot:/sbin/nologin\n")
        (self.root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
        certificates = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
        if certificates.exists():
            shutil.copyfile(certificates, self.root / "etc/ssl/certs/ca-certificates.crt")
        if os.geteuid() == 0:
            os.chown(self.root / "home/nonroot", USER, USER)

    def apply(self, instruction, rest, context):
        if instruction == "COPY":
            *options, source, place = rest.split()
            copied, wanted = context / source, self.root / place.lstrip("/")
            wanted.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(copied, wanted) if copied.is_dir() else shutil.copy(copied, wanted)
            for option in options:
                name, _, value = option.partition("=")
                if name != "--chmod":
                    raise SystemExit(f"packaging/Containerfile: container_steps.py does not know COPY {name}")
                wanted.chmod(int(value, 8))
        elif instruction == "USER":
            self.user = rest
        elif instruction == "WORKDIR":
            self.folder = rest
        elif instruction == "ENTRYPOINT":
            self.entrypoint = json.loads(rest)
        elif instruction == "CMD":
            self.command = json.loads(rest)
        elif instruction == "HEALTHCHECK":
            self.health = json.loads(rest.partition("CMD ")[2])
        elif instruction not in ("FROM", "ARG", "VOLUME", "EXPOSE"):
            raise SystemExit(f"packaging/Containerfile: container_steps.py does not know {instruction}")

    def add_libraries(self):
        listed = subprocess.run(["ldd", self.root / self.entrypoint[0].lstrip("/")], capture_output=True, text=True)
        for library in re.findall(r"(/\S+) \(0x", listed.stdout):
            place = self.root / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(library), place)

    def enter(self):
        """Runs in the new process before the program: nothing but the image's files, and the image's user."""
        user, group = map(int, self.user.split(":"))
        os.chroot(self.root)
        os.chdir(self.folder)
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)

    def start(self, *arguments):
        environment = {"HOME": self.folder, "PATH": "/usr/bin", "NO_COLOR": "1"}
        options = {"env": environment, "text": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if os.geteuid() == 0:
            return subprocess.Popen(arguments, preexec_fn=self.enter, **options)
        inside = ["unshare", "--user", f"--root={self.root}", f"--wd={self.folder}"]
        return subprocess.Popen([*inside, *arguments], **{**options, "env": {**environment, "PATH": os.environ["PATH"]}})

    def describe(self):
        return f"{shlex.join([*self.entrypoint, *self.command])} as {self.user} in {self.folder}"

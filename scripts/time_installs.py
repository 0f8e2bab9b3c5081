"""Times the installation of every package of a release, and the quickstart after it, in bare root folders.

usage: time_installs.py FOLDER   (what `make dist` wrote; scripts/time-installs starts this)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import npm_registry

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICKSTART = "docs/quickstart.md"
# A shell, what unpacks a file, and Python, which the quickstart asks for.
BASE = ["bash", "dash", "coreutils", "sed", "grep", "tar", "gzip", "diffutils", "dpkg", "libc-bin", "python3"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NODE_MODULES = "/usr/lib/node_modules"
# Folders of /usr that are linked to from the root.
MERGED = ["bin", "sbin", "lib", "lib64"]
DEVICES = {"null": (1, 3), "zero": (1, 5), "random": (1, 8), "urandom": (1, 9)}
IN_CHROOT = f"""
import pathlib, sys
sys.path.insert(0, "/book/scripts")
import check_book
result = check_book.try_page("{QUICKSTART}", pathlib.Path(sys.argv[1]), sys.argv[2])
if result.faults or result.n_commands <= 10:
    sys.exit("\\n".join(result.faults) or f"{{result.n_commands}} commands")
print(result.n_commands)
"""


@dataclass
class Way:
    """One way to install, as docs/install.md shows it: a script that runs in the root folder, with the files in /release."""

    name: str
    # Of the files that are installed, in the folder of a release; the script says FILE for the first.
    files: list[str]
    script: str
    program: str
    # Packages of Debian that it needs in addition.
    packages: list[str] = field(default_factory=list)


WAYS = [
    Way("archive", ["jurist-*.tar.gz"],
        "tar --extract --gzip --file /release/FILE --directory /opt && cp /opt/*/jurist /usr/local/bin/", "/usr/local/bin/jurist"),
    Way("Debian package", ["jurist_*.deb"], "dpkg --install /release/FILE", "/usr/bin/jurist"),
    Way("wheel, with `pip`", ["jurist-*.whl"],
        "python3 -m venv /opt/venv && /opt/venv/bin/pip install --quiet --no-index --disable-pip-version-check /release/FILE",
        "/opt/venv/bin/jurist", ["python3-venv"]),
    Way("npm", ["jurist-[0-9]*.tgz", "jurist-linux-*.tgz"], "npm install --global --no-audit --no-fund jurist", "/usr/bin/jurist", ["nodejs"]),
]


def list_package_closure(wanted, depends):
    """These packages and all that they need; of alternatives the first that is installed here."""
    found, to_visit = [], list(wanted)
    while to_visit:
        name = to_visit.pop()
        if name in found or name not in depends:
            continue
        found.append(name)
        for clause in depends[name].split(","):
            names = [re.sub(r"[:(\s].*", "", one.strip()) for one in clause.split("|")]
            to_visit += [one for one in names if one in depends][:1]
    return sorted(found)


def read_installed_packages():
    """What each installed package needs, by its name."""
    listed = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status}\t${Package}\t${Depends}, ${Pre-Depends}\n"],
                            capture_output=True, text=True, check=True).stdout
    lines = (line.split("\t") for line in listed.splitlines())
    return {name: depends for status, name, depends in lines if status == "installed"}


class RootFolder:
    """A folder with some packages of Debian, in which programs run as if there were nothing else."""

    def __init__(self, place, packages):
        self.place = place
        for name in MERGED:
            (place / "usr" / name).mkdir(parents=True, exist_ok=True)
            if pathlib.Path("/", name).is_symlink():
                (place / name).symlink_to(f"usr/{name}")
        for name in ("tmp", "root", "opt", "dev", "proc", "etc", "usr/local/bin", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
            (place / name).mkdir(parents=True, exist_ok=True)
        (place / "tmp").chmod(0o1777)
        for name, (major, minor) in DEVICES.items():
            os.mknod(place / "dev" / name, 0o666 | 0o020000, os.makedev(major, minor))
            (place / "dev" / name).chmod(0o666)
        for name in packages:
            self.copy_package(name)
        if "nodejs" in packages and pathlib.Path(NODE_MODULES).exists():
            # npm may have updated itself, which no database of packages knows.
            shutil.copytree(NODE_MODULES, place / NODE_MODULES.lstrip("/"), symlinks=True, dirs_exist_ok=True)
        self.write_package_database(packages)
        subprocess.run(["mount", "-t", "proc", "proc", place / "proc"], check=True)
        # Finds the libraries in folders that only ld.so.conf names.
        self.run("ldconfig")

    def copy_package(self, name):
        files = subprocess.run(["dpkg-query", "--listfiles", name], capture_output=True, text=True, check=True).stdout.splitlines()
        for file in map(pathlib.Path, files):
            target = self.place / file.relative_to("/") if file.is_absolute() else None
            if target is None or os.path.lexists(target) or not os.path.lexists(file):
                continue
            if file.is_dir() and not file.is_symlink():
                target.mkdir(parents=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, target, follow_symlinks=False)

    def write_package_database(self, packages):
        """dpkg knows these packages, so that a dependency that is not there is an error."""
        stanzas = pathlib.Path("/var/lib/dpkg/status").read_text().split("\n\n")
        kept = [stanza for stanza in stanzas if re.sub(r"^Package: ", "", stanza.split("\n", 1)[0]) in packages]
        (self.place / "var/lib/dpkg/status").write_text("\n\n".join(kept) + "\n\n")
        for file in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
            if file.name.removesuffix(".list").partition(":")[0] in packages:
                shutil.copy(file, self.place / "var/lib/dpkg/info")

    def run(self, *command, **environment):
        environment = {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp", "DEBIAN_FRONTEND": "noninteractive", **environment}
        ran = subprocess.run(["chroot", self.place, *command], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if ran.returncode:
            sys.exit(f"FAILED: {' '.join(map(str, command))[:300]}\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    def has_program(self, name):
        return any(os.path.lexists(self.place / folder.lstrip("/") / name) for folder in PATH.split(":"))

    def close(self):
        subprocess.run(["umount", self.place / "proc"], check=True)


def copy_book(place):
    """The quickstart and the scripts that do it, which have no dependencies."""
    (place / "book/docs").mkdir(parents=True)
    shutil.copy(ROOT / QUICKSTART, place / "book/docs")
    shutil.copytree(ROOT / "scripts", place / "book/scripts", ignore=lambda folder, names: [name for name in names if not name.endswith(".py")])


@dataclass
class InstallTimes:
    install: float
    quickstart: float
    n_commands: int


def time_way(way, file, place, depends):
    root = RootFolder(place, list_package_closure(BASE + way.packages, depends))
    try:
        for foreign in ("cargo", "rustc", *(["node"] if "nodejs" not in way.packages else [])):
            if root.has_program(foreign):
                sys.exit(f"FAILED: {way.name}: {foreign} is in the root folder")
        (place / "release").mkdir()
        shutil.copy(file, place / "release")
        copy_book(place)
        registry = npm_registry.NpmRegistry(file.parent) if way.name == "npm" else None
        begun = time.monotonic()
        try:
            environment = {"npm_config_registry": registry.url, "npm_config_update_notifier": "false"} if registry else {}
            root.run("sh", "-ec", way.script.replace("FILE", file.name), **environment)
            root.run(way.program, "--version")
        finally:
            if registry:
                registry.close()
        installed = time.monotonic()
        path = f"{pathlib.Path(way.program).parent}:{PATH}"
        n_commands = int(root.run("/usr/bin/python3", "-c", IN_CHROOT, way.program, path))
        return InstallTimes(installed - begun, time.monotonic() - installed, n_commands), root.run(way.program, "--version", "--verbose")
    finally:
        root.close()


def find_files(folder, way):
    """The files of this way; none if one is not there."""
    found = [next(iter(sorted(folder.glob(pattern))), None) for pattern in way.files]
    return found if all(found) else []


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    depends = read_installed_packages()
    print("| way | download | install | quickstart |\n| --- | ---: | ---: | ---: |", flush=True)
    about = ""
    for way in WAYS:
        files = find_files(folder, way)
        missing = [name for name in BASE + way.packages if name not in depends]
        if not files or missing:
            reason = f"the package {missing[0]} is not installed here" if missing else f"there is no {' or '.join(way.files)}"
            print(f"SKIPPED time-installs, {way.name}: {reason}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="jurist-root-") as place:
            times, about = time_way(way, files[0], pathlib.Path(place), depends)
        size = sum(file.stat().st_size for file in files) / 1e6
        print(f"| {way.name} | {size:.1f} MB | {times.install:.1f} s | {times.n_commands} commands in {times.quickstart:.1f} s |", flush=True)
    lines = dict(line.split(None, 1) for line in about.splitlines())
    print(f"\n{lines.get('target', '')}, profile {lines.get('profile', '')}; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

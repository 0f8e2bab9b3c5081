"""Packs a program as everything that a release has for its platform: archive, Debian package, npm packages, container.

usage: pack.py --binary PROGRAM --target TRIPLE [--describer PROGRAM] FOLDER

The describer writes completions and manual pages; it is the program itself unless that runs on another machine.
The same input gives the same bytes: times come from SOURCE_DATE_EPOCH. JURIST_GZIP_LEVEL=1 packs fast, for tests.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
DESCRIPTION = "One rubric, every judge: grades what AI agents and language models produce"
LICENCE = "MIT OR Apache-2.0"
COMPLETIONS = {"bash": "jurist.bash", "zsh": "_jurist", "fish": "jurist.fish"}
# As `npm pack` does: a time that every file system and archive format has.
NPM_TIME = 499162500


@dataclass(frozen=True)
class Platform:
    """A target of the compiler, as package managers name it."""

    npm: str
    os: str
    cpu: str
    libc: str | None = None
    debian: str | None = None

    @property
    def program(self):
        return "jurist.exe" if self.os == "win32" else "jurist"

    @property
    def archive_ending(self):
        return "zip" if self.os == "win32" else "tar.gz"


PLATFORMS = {
    "x86_64-unknown-linux-gnu": Platform("linux-x64", "linux", "x64", "glibc", "amd64"),
    "x86_64-unknown-linux-musl": Platform("linux-x64-musl", "linux", "x64", "musl", "amd64"),
    "aarch64-unknown-linux-gnu": Platform("linux-arm64", "linux", "arm64", "glibc", "arm64"),
    "aarch64-unknown-linux-musl": Platform("linux-arm64-musl", "linux", "arm64", "musl", "arm64"),
    "x86_64-apple-darwin": Platform("darwin-x64", "darwin", "x64"),
    "aarch64-apple-darwin": Platform("darwin-arm64", "darwin", "arm64"),
    "x86_64-pc-windows-msvc": Platform("win32-x64", "win32", "x64"),
}


@dataclass(frozen=True)
class Release:
    """What is packed, and where to."""

    version: str
    target: str
    platform: Platform
    # The program with its companions, as the archive has them.
    tree: pathlib.Path
    folder: pathlib.Path
    # Seconds since 1970, of every file in every package.
    moment: int
    gzip_level: int

    @property
    def program(self):
        return self.tree / self.platform.program

    @property
    def debian_version(self):
        """A version before a release sorts before it: 0.2.0-rc.1 is 0.2.0~rc.1."""
        return self.version.replace("-", "~", 1)

    @property
    def documents(self):
        return sorted(path for path in self.tree.iterdir() if path.is_file() and path != self.program)


def run_text(*command):
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def write_text(file, text):
    """The same bytes on every system."""
    file.write_text(text, encoding="utf-8", newline="\n")


def write_tree(tree, program, binary, describer):
    """The program, its licences, completions, manual pages and the list of its components."""
    (tree / "completions").mkdir(parents=True)
    shutil.copyfile(binary, tree / program)
    for page in [*ROOT.glob("LICENSE-*"), *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))]:
        shutil.copyfile(page, tree / page.name)
    for shell, name in COMPLETIONS.items():
        write_text(tree / "completions" / name, run_text(describer, "completions", shell))
    run_text(describer, "man", tree / "man")
    run_text(sys.executable, ROOT / "scripts/write_sbom.py", tree / "jurist.cdx.json", tree / "LICENSES-THIRD-PARTY.txt")
    set_modes(tree)


def find_mode(path):
    is_program = path.name in ("jurist", "jurist.exe", "launcher.js") and path.parent.name != "completions"
    return 0o755 if path.is_dir() or is_program else 0o644


def set_modes(tree):
    for path in [tree, *tree.rglob("*")]:
        path.chmod(find_mode(path))


def list_members(tree, prefix):
    """Paths below a folder and their names in an archive, in the same order on every system."""
    paths = sorted(tree.rglob("*"), key=lambda path: path.relative_to(tree).parts)
    return [(path, f"{prefix}/{path.relative_to(tree).as_posix()}") for path in paths]


def write_tar(file, tree, prefix, moment, level):
    """A packed tar of a folder, whose bytes depend on names and contents alone."""
    with open(file, "wb") as raw, gzip.GzipFile("", "wb", level, raw, 0) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, name in list_members(tree, prefix):
            member = tar.gettarinfo(path, name)
            # A file system of Windows has no modes.
            member.mode = find_mode(path)
            member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
            with path.open("rb") if path.is_file() else io.BytesIO() as content:
                tar.addfile(member, content if path.is_file() else None)


def write_zip(file, tree, prefix, moment, level):
    """The same as a zip, which Windows unpacks by itself."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for path, name in list_members(tree, prefix):
            if path.is_file():
                member = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
                member.compress_type = zipfile.ZIP_DEFLATED
                # As on Unix, wherever it is packed: 3 is Unix, and its mode is in the upper half.
                member.create_system, member.external_attr = 3, (stat.S_IFREG | find_mode(path)) << 16
                archive.writestr(member, path.read_bytes(), compresslevel=level)


def pack_archive(release):
    name = f"jurist-{release.version}-{release.target}"
    shutil.copyfile(release.tree / "jurist.cdx.json", release.folder / f"{name}.cdx.json")
    ending = release.platform.archive_ending
    write = write_zip if ending == "zip" else write_tar
    write(release.folder / f"{name}.{ending}", release.tree, name, release.moment, release.gzip_level)


def list_debian_dependencies(program):
    """The C library that the program was linked with, and no older one."""
    content = program.read_bytes()
    versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"\0GLIBC_([0-9]+(?:\.[0-9]+)+)(?=\0)", content)}
    dependencies = [f"libc6 (>= {'.'.join(map(str, max(versions)))})"] if versions else []
    return dependencies + (["libgcc-s1"] if b"\0libgcc_s.so.1\0" in content else [])


def write_debian_control(release, root):
    n_bytes = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    fields = {
        "Package": "jurist",
        "Version": release.debian_version,
        "Architecture": release.platform.debian,
        "Maintainer": os.environ.get("JURIST_MAINTAINER", "Jurist maintainers <maintainers@jurist.invalid>"),
        "Installed-Size": str((n_bytes + 1023) // 1024),
        "Depends": ", ".join(list_debian_dependencies(release.program)),
        "Recommends": "ca-certificates",
        "Section": "devel",
        "Priority": "optional",
        "Description": f"{DESCRIPTION[0].lower()}{DESCRIPTION[1:]}\n"
                       " Code checks, language-model judges and people grade against one rubric.\n"
                       " The package holds one program: a command for terminals and CI, a server\n"
                       " that monitors agents in production, and web pages for annotation.",
    }
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text("".join(f"{name}: {value}\n" for name, value in fields.items() if value))


def write_packed(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, 9, mtime=0))


def pack_debian(release):
    if not release.platform.debian:
        return
    if not shutil.which("dpkg-deb"):
        print("SKIPPED the Debian package: dpkg-deb is missing", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        places = {"completions/jurist.bash": "usr/share/bash-completion/completions/jurist",
                  "completions/_jurist": "usr/share/zsh/vendor-completions/_jurist",
                  "completions/jurist.fish": "usr/share/fish/vendor_completions.d/jurist.fish",
                  "jurist": "usr/bin/jurist", "jurist.cdx.json": "usr/share/doc/jurist/jurist.cdx.json",
                  "README.md": "usr/share/doc/jurist/README.md", "SECURITY.md": "usr/share/doc/jurist/SECURITY.md"}
        for source, place in places.items():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release.tree / source, root / place)
        for page in (release.tree / "man").iterdir():
            write_packed(root / "usr/share/man/man1" / f"{page.name}.gz", page.read_bytes())
        write_packed(root / "usr/share/doc/jurist/changelog.gz", (release.tree / "CHANGELOG.md").read_bytes())
        write_packed(root / "usr/share/doc/jurist/LICENSES-THIRD-PARTY.txt.gz", (release.tree / "LICENSES-THIRD-PARTY.txt").read_bytes())
        licences = "\n\n".join(f"{page.name}\n\n{page.read_text()}" for page in sorted(release.tree.glob("LICENSE-*")))
        (root / "usr/share/doc/jurist/copyright").write_text(f"Licence: {LICENCE}\n\n{licences}")
        write_debian_control(release, root)
        set_modes(root)
        compression = ["-Zgzip", "-z1"] if release.gzip_level == 1 else ["-Zxz"]
        name = f"jurist_{release.debian_version}_{release.platform.debian}.deb"
        if release.target.endswith("-musl"):
            name = name.replace(".deb", "-static.deb")
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(release.moment)}
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", *compression, root, release.folder / name],
                       check=True, stdout=subprocess.DEVNULL, env=environment)


def describe_npm_package(name, version, **further):
    described = {"name": name, "version": version, "description": DESCRIPTION, "license": LICENCE, **further}
    if os.environ.get("GITHUB_REPOSITORY"):
        described["repository"] = {"type": "git", "url": f"git+https://github.com/{os.environ['GITHUB_REPOSITORY']}.git"}
    return json.dumps(described, indent=2) + "\n"


def pack_npm_program(release):
    """The package with the program of one platform; npm installs it where `os`, `cpu` and `libc` are those."""
    platform = release.platform
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        (tree / "bin").mkdir()
        shutil.copyfile(release.program, tree / "bin" / platform.program)
        for page in release.documents:
            if page.name.startswith("LICENSE"):
                shutil.copyfile(page, tree / page.name)
        name = f"@jurist/{platform.npm}"
        write_text(tree / "README.md", f"# {name}\n\nThe program of the package `jurist` for {platform.os} on {platform.cpu}. Install `jurist` instead.\n")
        only = {"os": [platform.os], "cpu": [platform.cpu], **({"libc": [platform.libc]} if platform.libc else {})}
        # Yarn would leave it packed, and a packed program cannot be started.
        write_text(tree / "package.json", describe_npm_package(name, release.version, preferUnplugged=True, **only))
        set_modes(tree)
        write_tar(release.folder / f"jurist-{platform.npm}-{release.version}.tgz", tree, "package", NPM_TIME, release.gzip_level)


def pack_npm_command(release):
    """The package that people install; it is the same for every platform."""
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        (tree / "bin").mkdir()
        shutil.copyfile(ROOT / "packaging/npm/launcher.js", tree / "bin/launcher.js")
        shutil.copyfile(ROOT / "packaging/npm/README.md", tree / "README.md")
        for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
            shutil.copyfile(ROOT / licence, tree / licence)
        programs = {f"@jurist/{platform.npm}": release.version for platform in PLATFORMS.values()}
        write_text(tree / "package.json", describe_npm_package(
            "jurist", release.version, bin={"jurist": "bin/launcher.js"}, engines={"node": ">=18"}, optionalDependencies=programs))
        set_modes(tree)
        write_tar(release.folder / f"jurist-{release.version}.tgz", tree, "package", NPM_TIME, release.gzip_level)


def write_container_context(release):
    """What packaging/Containerfile copies. An image has the static program where both are packed."""
    if not release.platform.debian:
        return
    context = release.folder / "container"
    folder = context / release.platform.debian
    if folder.exists() and not release.target.endswith("-musl"):
        return
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "licenses").mkdir(parents=True)
    shutil.copyfile(release.program, folder / "jurist")
    for page in release.documents:
        if page.name.startswith("LICENSE") or page.name == "jurist.cdx.json":
            shutil.copyfile(page, folder / "licenses" / page.name)
    set_modes(folder)
    shutil.copyfile(ROOT / "packaging/Containerfile", context / "Containerfile")


def write_checksums(folder):
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    write_text(folder / "SHA256SUMS", "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    return files


def main():
    parser = argparse.ArgumentParser(description="Packs a program as everything that a release has for its platform.")
    parser.add_argument("--binary", type=pathlib.Path)
    parser.add_argument("--target", choices=PLATFORMS)
    parser.add_argument("--describer", type=pathlib.Path)
    parser.add_argument("--checksums", action="store_true", help="only write SHA256SUMS of what the folder holds")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if not arguments.checksums:
        if not arguments.binary or not arguments.target:
            parser.error("--binary and --target are needed")
        pack(arguments)
    for file in write_checksums(arguments.folder):
        print(f"{file.stat().st_size / 1e6:7.1f} MB  {file.name}")


def pack(arguments):
    describer = (arguments.describer or arguments.binary).resolve()
    moment = int(os.environ["SOURCE_DATE_EPOCH"])
    level = int(os.environ.get("JURIST_GZIP_LEVEL", "9"))
    version = run_text(describer, "--version").split()[1]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        platform = PLATFORMS[arguments.target]
        write_tree(tree, platform.program, arguments.binary, describer)
        release = Release(version, arguments.target, platform, tree, arguments.folder, moment, level)
        for step in (pack_archive, pack_debian, pack_npm_program, pack_npm_command, write_container_context):
            step(release)


if __name__ == "__main__":
    main()

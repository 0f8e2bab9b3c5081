"""Checks what scripts/dist packed: installs every package in a fresh folder and does the quickstart with it.

usage: check_dist.py FOLDER FOLDER FOLDER   (a program, and twice one that is small)

A program of a package is found on a path that has no Rust, and Node.js only where it came from npm. Prints how long each
way takes. JURIST_WHEEL names a wheel; without one, that way is skipped, and says so.
"""

import gzip
import json
import os
import pathlib
import platform
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass

import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import check_book
import container_steps
import npm_registry
import pack
import supply

FILES = {"jurist", "LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY.txt", "README.md", "SECURITY.md", "CHANGELOG.md",
         "jurist.cdx.json", "completions/jurist.bash", "completions/_jurist", "completions/jurist.fish",
         "man/jurist.1", "man/jurist-eval.1", "man/jurist-runs-list.1"}
# What the quickstart uses besides jurist, and what bash needs.
TOOLS = ["bash", "sh", "env", "sed", "cat", "mkdir", "rm", "python3"]
QUICKSTART = "docs/quickstart.md"


def need(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def skip(way, reason):
    print(f"SKIPPED check-dist, {way}: {reason}", file=sys.stderr)


@dataclass
class Installed:
    """A program that was installed from a package, and what may be on the path beside it."""

    way: str
    program: pathlib.Path
    tools: list[str]


def check_archive(folder):
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    archive = next(folder.glob("jurist-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked", filter="data")
    unpacked = folder / "unpacked" / archive.name.removesuffix(".tar.gz")
    version = subprocess.run([unpacked / "jurist", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    named = subprocess.run([sys.executable, "-c", "import sys, github; print(github.release_name(sys.argv[1]))", version],
                           cwd=supply.ROOT / "ci", capture_output=True, text=True, check=True).stdout.strip()
    need(named == archive.name or os.environ.get("JURIST_TARGET"), f"the action downloads {named}, and the archive is {archive.name}")
    there = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file() and path.stat().st_size}
    need(there >= FILES, f"the archive lacks {sorted(FILES - there)}")
    licences = (unpacked / "LICENSES-THIRD-PARTY.txt").read_text()
    need("serde 1." in licences and "react 19." in licences, "licences of crates and of web packages")
    return unpacked


def check_sbom(text):
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    need(fault is None, f"the list of what is inside is not valid CycloneDX 1.6: {fault}")
    sbom = json.loads(text)
    components = {component["purl"]: component for component in sbom["components"]}
    need(len(components) == len(sbom["components"]), "each part is named once")
    ours = {package["name"] for package in supply.read_metadata()["packages"] if package["source"] is None}
    for purl, component in components.items():
        need(component.get("licenses"), f"{purl} has no licence")
        need(component.get("hashes") or component["name"] in ours | {"SQLite"}, f"{purl} has no hash")
    for kind in ["pkg:cargo/serde@", "pkg:cargo/libsqlite3-sys@", "pkg:generic/sqlite@", "pkg:npm/react@", "pkg:npm/%40tanstack/"]:
        need(any(purl.startswith(kind) for purl in components), f"{kind} is not there")
    for test_only in ["pkg:cargo/proptest@", "pkg:npm/vite@", "pkg:cargo/syn@"]:
        need(not any(purl.startswith(test_only) for purl in components), f"{test_only} is no part of a release")
    reached, to_visit = set(), [sbom["metadata"]["component"]["bom-ref"]]
    needs = {entry["ref"]: entry["dependsOn"] for entry in sbom["dependencies"]}
    while to_visit:
        for ref in needs.get(to_visit.pop(), []):
            if ref not in reached:
                reached.add(ref)
                to_visit.append(ref)
    lost = sorted(components.keys() - reached)
    need(not lost, f"nothing needs {lost}")
    return len(components)


def check_details(program, sbom):
    """`--version --verbose` agrees with the list of components."""
    text = subprocess.run([program, "--version", "--verbose"], capture_output=True, text=True, check=True).stdout
    details = dict(line.split(None, 1) for line in text.splitlines())
    sqlite = next(component["version"] for component in sbom["components"] if component["name"] == "SQLite")
    need(details["SQLite"] == sqlite, f"the program has SQLite {details['SQLite']}, and the list of components {sqlite}")
    need(details["jurist"] == sbom["metadata"]["component"]["version"], f"the program says {details['jurist']!r}")
    need("-" in details["target"] and details["features"] == "parquet", f"the program says {text}")


def check_manual(unpacked):
    """Pages name the command, and `man` finds nothing wrong with them, where there is one."""
    pages = sorted((unpacked / "man").glob("*.1"))
    need(len(pages) > 40, f"there are {len(pages)} manual pages")
    for page in pages:
        text = page.read_text()
        need(".TH " in text and ".SH NAME" in text, f"{page.name} is not a manual page")
    if shutil.which("man"):
        shown = subprocess.run(["man", "--warnings=w", "--local-file", unpacked / "man/jurist-eval.1"], capture_output=True, text=True,
                               env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "PAGER": "cat", "MANPAGER": "cat"})
        need(shown.returncode == 0 and "--max-cost" in shown.stdout and not shown.stderr, f"man shows {shown.stderr or shown.stdout[:400]}")
    return len(pages)


def install_debian(folder, place):
    """With a database of packages that knows nothing else."""
    if not shutil.which("dpkg"):
        return skip("Debian package", "dpkg is missing")
    package = next(folder.glob("*.deb"))
    for name in ("updates", "info"):
        (place / "var/lib/dpkg" / name).mkdir(parents=True)
    (place / "var/lib/dpkg/status").touch()
    fields = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout
    is_static = "-static" in package.name
    need("Depends: libc6 (>= 2." in fields or is_static, f"the Debian package does not name its C library:\n{fields}")
    # libc6 is not in that database; that the program starts shows that it is on the machine.
    installed = subprocess.run(["dpkg", f"--root={place}", "--force-depends", "--force-not-root", "--log=/dev/null", "--install", package],
                               capture_output=True, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    need(installed.returncode == 0, f"dpkg does not install it:\n{installed.stdout}{installed.stderr}")
    manual = place / "usr/share/man/man1/jurist-eval.1.gz"
    need(b".TH " in gzip.decompress(manual.read_bytes()), "the Debian package has no manual pages")
    for name in ("bash-completion/completions/jurist", "zsh/vendor-completions/_jurist", "fish/vendor_completions.d/jurist.fish", "doc/jurist/copyright"):
        need((place / "usr/share" / name).stat().st_size, f"the Debian package lacks /usr/share/{name}")
    return Installed("Debian package", place / "usr/bin/jurist", TOOLS)


def install_npm(folder, place):
    """As a user does: `npx jurist` asks a registry, gets the launcher and the program of this platform, and no other."""
    if not shutil.which("npm"):
        return skip("npm", "npm is missing")
    registry = npm_registry.NpmRegistry(folder)
    try:
        is_musl = any(package["manifest"].get("libc") == ["musl"] for package in registry.packages.values())
        if is_musl and platform.libc_ver()[0] == "glibc":
            return skip("npm", "it holds a program for musl, which npm does not install on a machine with glibc")
        version = registry.packages["jurist"]["manifest"]["version"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), "npm_config_registry": registry.url, "npm_config_cache": str(place / "cache"),
                       "npm_config_update_notifier": "false", "npm_config_audit": "false", "npm_config_fund": "false"}
        options = {"cwd": place, "env": environment, "capture_output": True, "text": True}
        ran = subprocess.run(["npx", "--yes", f"jurist@{version}", "--version"], **options)
        need(ran.stdout == f"jurist {version}\n", f"npx jurist --version: {ran.stdout}{ran.stderr}")
    finally:
        registry.close()
    packages = next((place / "cache/_npx").glob("*/node_modules"))
    programs = [path.name for path in (packages / "@jurist").iterdir()]
    need(len(programs) == 1 and programs[0].startswith(f"{sys.platform}-"), f"npm installed {programs}")
    command = packages / ".bin/jurist"
    ended = subprocess.run([command, "check", "never-was.yaml"], **options)
    need(ended.returncode == 2, f"the launcher ends with {ended.returncode} instead of 2: {ended.stderr}")
    other = subprocess.run([command, "--version"], **{**options, "env": {**environment, "JURIST_BINARY": str(place / "never-was")}})
    need(other.returncode == 2 and "cannot start" in other.stderr, f"the launcher says {other.stderr}")
    return Installed("npm", command, [*TOOLS, "node"])


def install_wheel(_, place):
    wheel = os.environ.get("JURIST_WHEEL")
    if not wheel:
        return skip("wheel", "libjurist_python.so is not built")
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", place], check=True)
    subprocess.run([sys.executable, "-m", "pip", "--python", place / "bin/python", "install", "--quiet", "--no-index", "--no-deps",
                    "--disable-pip-version-check", wheel], check=True)
    return Installed("wheel", place / "bin/jurist", [tool for tool in TOOLS if tool != "python3"])


def find_free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def try_container(folder, place):
    """The image's own command becomes healthy, as its own user, and what it writes is in its home."""
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
    context = folder / "container"
    if sys.platform != "linux" or not (context / architecture).exists():
        return skip("container", "it holds a Linux program")
    # Artefacts of a workflow lose their modes.
    (context / architecture / "jurist").chmod(0o644)
    image = container_steps.Image(context, place, architecture)
    need(image.user.partition(":")[0] not in ("0", "root"), "the image runs as root")
    try:
        asked = image.start(*image.entrypoint, "--version")
    except (OSError, subprocess.SubprocessError) as error:
        return skip("container", f"this machine does not allow another root folder: {error}")
    said = asked.communicate(timeout=30)[0]
    if asked.returncode and os.geteuid() != 0:
        return skip("container", f"this machine does not allow another root folder: {said}")
    need(said.startswith("jurist "), f"in the image the program says {said!r}")
    port = str(find_free_port())
    command = [argument.replace("8000", port) for argument in image.command]
    need(command != image.command and image.health[-1] == "health", f"the image listens on port 8000 and checks it: {image.describe()}")
    server = image.start(*image.entrypoint, *command)
    try:
        checks = []
        for _ in range(120):
            checked = image.start(*image.health, f"http://127.0.0.1:{port}")
            checks.append(checked.communicate(timeout=30)[0])
            if checked.returncode == 0 or server.poll() is not None:
                break
            time.sleep(0.25)
        need(server.poll() is None and checked.returncode == 0, f"the image is not healthy: {checks[-1]}{server.stdout.read() if server.poll() is not None else ''}")
    finally:
        server.terminate()
        server.communicate(timeout=30)
    checked = image.start(*image.health, f"http://127.0.0.1:{port}")
    checked.communicate(timeout=30)
    need(checked.returncode != 0, "the health check passes without a server")
    owners = {path.stat().st_uid for path in (place / "home/nonroot").rglob("*")}
    need(owners and (os.geteuid() != 0 or owners == {container_steps.USER}), f"the server writes as {owners}")
    return True


def try_quickstart(installed, place):
    """On a path with nothing but the tools that the page uses."""
    tools = place / "tools"
    tools.mkdir(parents=True)
    for tool in installed.tools:
        found = shutil.which(tool)
        need(found, f"{tool} is missing")
        # A shim of a version manager looks for itself on the path.
        (tools / tool).symlink_to(os.path.realpath(getattr(sys, "_base_executable", sys.executable)) if tool == "python3" else found)
    path = f"{installed.program.parent}{os.pathsep}{tools}"
    for foreign in ("cargo", "rustc", *(["node"] if "node" not in installed.tools else [])):
        need(not shutil.which(foreign, path=path), f"{foreign} is on the path")
    result = check_book.try_page(QUICKSTART, installed.program, path)
    need(not result.faults, f"{installed.way}: the quickstart fails:\n" + "\n".join(result.faults))
    need(result.n_commands > 10, f"the quickstart has {result.n_commands} commands")
    return result.n_commands


def check_workflow():
    """The release workflow builds what can be packed, starts scripts that exist, and has no more rights than it needs."""
    text = (supply.ROOT / ".github/workflows/release.yml").read_text()
    workflow = yaml.safe_load(text)
    targets = {entry["target"] for entry in workflow["jobs"]["build"]["strategy"]["matrix"]["include"]}
    known = set(pack.PLATFORMS)
    need(targets == known, f"the workflow builds {sorted(targets - known)}, which pack.py does not know, and lacks {sorted(known - targets)}, which the npm package names")
    for system in sorted({platform.os for platform in pack.PLATFORMS.values()}):
        need(f"dist/jurist-{system}-*.tgz" in text, f"the workflow does not publish the npm packages for {system}")
    need(workflow["permissions"] == {"contents": "read"}, "the workflow's rights are to read, unless a job says more")
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            need("@" in step.get("uses", "@"), f"{step} names no version")
            for word in step.get("run", "").split():
                need(not word.startswith("scripts/") or (supply.ROOT / word).exists(), f"{word} does not exist")
    return len(targets)


def main():
    first, small, again = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    n_targets = check_workflow()
    unpacked = check_archive(first)
    sbom = (unpacked / "jurist.cdx.json").read_text()
    n_components = check_sbom(sbom)
    check_details(unpacked / "jurist", json.loads(sbom))
    n_pages = check_manual(unpacked)
    need((small / "SHA256SUMS").read_text() == (again / "SHA256SUMS").read_text(), "packing twice gives the same bytes")
    print(f"ok: the archive is whole, {n_components} components are valid CycloneDX 1.6, {n_pages} manual pages, packing twice gives the same bytes, "
          f"{n_targets} targets in the workflow")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ways = {"archive": lambda _, __: Installed("archive", unpacked / "jurist", TOOLS), "deb": install_debian, "npm": install_npm, "wheel": install_wheel}
        for way, install in ways.items():
            (folder / way).mkdir()
            begun = time.monotonic()
            installed = install(first, folder / way)
            if not installed:
                continue
            installed_at = time.monotonic()
            n_commands = try_quickstart(installed, folder / f"{way}-quickstart")
            print(f"ok: {installed.way}: installed in {installed_at - begun:.1f} s, {n_commands} commands of the quickstart in {time.monotonic() - installed_at:.1f} s")
        (folder / "container").mkdir()
        begun = time.monotonic()
        if try_container(first, folder / "container"):
            print(f"ok: container: healthy without rights in {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    main()

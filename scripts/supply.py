"""What the product is made of: crates as cargo resolves them and web packages as the lock file names them."""

import dataclasses
import json
import pathlib
import re
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Crates that only a build script uses, which packs their data into the program.
PACKED_CRATES = {"dejavu"}


@dataclasses.dataclass(frozen=True)
class Crate:
    name: str
    version: str
    # None: a crate of this workspace.
    source: str | None
    licence: str | None
    checksum: str | None
    repository: str | None
    description: str
    folder: pathlib.Path
    # Part of the program on this platform, and not only of its tests, its build or its macros.
    is_shipped: bool
    # Name and version of what it is built from.
    dependencies: tuple[tuple[str, str], ...]

    @property
    def is_ours(self):
        return self.source is None


@dataclasses.dataclass(frozen=True)
class WebPackage:
    path: str
    name: str
    version: str
    licence: str | None
    integrity: str | None
    resolved: str | None
    # Part of the pages, and not only of the tools that build and test them.
    is_shipped: bool
    # Paths of what it needs.
    dependencies: tuple[str, ...]
    has_install_script: bool


def run_cargo(*args):
    ran = subprocess.run(["cargo", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(f"cargo {' '.join(args)} failed:\n{ran.stderr}")
    return ran.stdout


def read_metadata():
    """Crates of every platform: licences stand in the crates themselves, so cargo fetches those that it has not yet."""
    return json.loads(run_cargo("metadata", "--format-version", "1", "--locked"))


def list_built_crates(*args):
    """Names and versions of what cargo really builds; `cargo metadata` also names what no feature switches on."""
    tree = run_cargo("tree", "--locked", "--prefix", "none", "--format", "{p}", *args)
    return {tuple(line.split()[:2]) for line in tree.replace(" v", " ").splitlines()}


def read_crates(metadata):
    built = list_built_crates("--workspace", "--target", "all", "--edges", "normal,build,dev")
    shipped = list_built_crates("--package", "jurist", "--edges", "normal,no-proc-macro")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock["package"]}
    keys = {package["id"]: (package["name"], package["version"]) for package in metadata["packages"]}
    resolved = {
        keys[node["id"]]: tuple(sorted({keys[dep["pkg"]] for dep in node["deps"] if is_shipped_kind(dep)} & built))
        for node in metadata["resolve"]["nodes"]
    }
    return [
        Crate(
            name=package["name"],
            version=package["version"],
            source=package["source"],
            licence=package["license"],
            checksum=checksums.get((package["name"], package["version"])),
            repository=package["repository"],
            description=" ".join((package["description"] or "").split()),
            folder=pathlib.Path(package["manifest_path"]).parent,
            is_shipped=(package["name"], package["version"]) in shipped or package["name"] in PACKED_CRATES,
            dependencies=resolved[package["name"], package["version"]],
        )
        for package in metadata["packages"]
        if (package["name"], package["version"]) in built
    ]


def is_shipped_kind(dependency):
    """`dependency` as `cargo metadata` resolves it."""
    return dependency["name"] in PACKED_CRATES or any(kind["kind"] is None for kind in dependency["dep_kinds"])


def read_web_packages(lock):
    entries = lock["packages"]
    return [
        WebPackage(
            path=path,
            name=path.rpartition("node_modules/")[2],
            version=entry.get("version", ""),
            licence=entry.get("license"),
            integrity=entry.get("integrity"),
            resolved=entry.get("resolved"),
            is_shipped=not (entry.get("dev") or entry.get("optional") or entry.get("devOptional") or entry.get("peer")),
            dependencies=tuple(sorted(find_web_paths(path, entry, entries))),
            has_install_script=entry.get("hasInstallScript", False),
        )
        for path, entry in entries.items()
        if path
    ]


def find_web_paths(path, entry, entries):
    """Where Node finds what a package needs: in its own folder first, then in each above it."""
    for name in entry.get("dependencies", {}):
        place = path
        while True:
            found = f"{place}/node_modules/{name}".lstrip("/")
            if found in entries:
                yield found
            if found in entries or not place:
                break
            place = place.rpartition("/node_modules/")[0] if "/node_modules/" in place else ""


def is_licence_allowed(expression, allowed):
    """Whether an SPDX expression can be met with these licences. `/` is how old crates write OR."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    words.reverse()

    def read_either():
        met = read_both()
        while words and words[-1] == "OR":
            words.pop()
            met = read_both() or met
        return met

    def read_both():
        met = read_term()
        while words and words[-1] == "AND":
            words.pop()
            met = read_term() and met
        return met

    def read_term():
        if not words:
            raise ValueError(f"`{expression}` is not an SPDX expression")
        term = words.pop()
        if term == "(":
            met = read_either()
            if not words or words.pop() != ")":
                raise ValueError(f"`{expression}` lacks a closing bracket")
            return met
        if words and words[-1] == "WITH":
            words.pop()
            term += f" WITH {words.pop()}"
        return term in allowed

    met = read_either()
    if words:
        raise ValueError(f"`{expression}` is not an SPDX expression")
    return met

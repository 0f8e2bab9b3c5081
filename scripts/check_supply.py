"""Checks what cargo-deny does not: web packages by their lock file, and that docs/dependencies.md says of every direct
dependency what it is for. JURIST_BLESS=1 writes the generated columns of that table anew."""

import json
import os
import sys
import tomllib

import dependency_table
import supply

# Licences of web packages beyond those that deny.toml allows for crates.
WEB_LICENCES = {
    "OFL-1.1": "fonts, which the pages carry with their licence",
    "MPL-2.0": "axe-core and lightningcss: tools that build and test, no part of the pages",
    "Python-2.0": "argparse: a tool that writes types, no part of the pages",
    "Unlicense": "isbot, which the router of the pages uses",
}


def check_web_pins(package, npmrc):
    for kind in ("dependencies", "devDependencies", "overrides"):
        for name, version in package.get(kind, {}).items():
            if not isinstance(version, str) or not all(part.isdigit() for part in version.split(".")):
                yield f"web/package.json: `{name}` is not pinned to one version: `{version}`"
    for name in ("preinstall", "install", "postinstall", "prepare"):
        if name in package.get("scripts", {}):
            yield f"web/package.json: `{name}` would run when packages are installed"
    if "ignore-scripts=true" not in npmrc.splitlines():
        yield "web/.npmrc: `ignore-scripts=true` is missing, so packages may run programs when they are installed"


def check_web_lock(package, lock):
    root = lock["packages"][""]
    for kind in ("dependencies", "devDependencies"):
        if root.get(kind, {}) != package.get(kind, {}):
            yield f"web/package-lock.json: its {kind} are not those of package.json"
    for found in supply.read_web_packages(lock):
        name = f"web/package-lock.json: {found.name} {found.version}"
        if not (found.integrity or "").startswith("sha512-"):
            yield f"{name} has no SHA-512 integrity hash"
        if found.resolved and not found.resolved.startswith("https://registry.npmjs.org/"):
            yield f"{name} comes from {found.resolved}, not from the registry"
        if found.has_install_script and found.name != "fsevents":
            yield f"{name} wants to run a program when it is installed"


def check_platform_packages(lock):
    """A package names its program for every platform; `npm ci` needs all of them in the lock file."""
    locked = {found.name for found in supply.read_web_packages(lock)}
    for path, entry in lock["packages"].items():
        for name in entry.get("optionalDependencies", {}).keys() - locked:
            # Unlike the others it is fetched only where nothing else fits, and npm leaves it out by itself.
            if not name.endswith("-wasm32-wasi"):
                yield f"web/package-lock.json: {path} has an optional package `{name}` that is not locked"


def check_web_licences(packages, crate_licences):
    allowed = crate_licences | WEB_LICENCES.keys()
    for found in packages:
        if not found.licence or not supply.is_licence_allowed(found.licence, allowed):
            yield f"{found.name} {found.version} (web) has the licence `{found.licence}`, which is not allowed"
        elif found.is_shipped and not supply.is_licence_allowed(found.licence, allowed - {"MPL-2.0", "Python-2.0"}):
            yield f"{found.name} {found.version} is part of the pages and has the licence `{found.licence}`"


def list_faults():
    policy = tomllib.loads((supply.ROOT / "deny.toml").read_text())
    metadata = supply.read_metadata()
    crates = supply.read_crates(metadata)
    web = supply.ROOT / "web"
    package, lock = (json.loads((web / name).read_text()) for name in ("package.json", "package-lock.json"))
    packages = supply.read_web_packages(lock)
    yield from check_web_pins(package, (web / ".npmrc").read_text())
    yield from check_web_lock(package, lock)
    yield from check_platform_packages(lock)
    yield from check_web_licences(packages, set(policy["licenses"]["allow"]))
    yield from dependency_table.check_table(metadata, crates, package, packages, "JURIST_BLESS" in os.environ)
    print(f"{len(packages)} web packages are pinned, and docs/dependencies.md names every direct dependency")


if __name__ == "__main__":
    faults = list(list_faults())
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)

"""Writes what a release is made of as CycloneDX 1.6: crates of the program and web packages of the pages.

usage: write_sbom.py SBOM.JSON [THIRD-PARTY-LICENCES.TXT]
"""

import base64
import datetime
import hashlib
import json
import os
import pathlib
import re
import sys
import urllib.parse
import uuid

import supply

LICENCE_NAMES = re.compile(r"^(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


def read_moment():
    """The time that SOURCE_DATE_EPOCH says, which scripts/dist sets to that of the commit: one commit gives one file."""
    told = os.environ.get("SOURCE_DATE_EPOCH") or (supply.ROOT / "Cargo.lock").stat().st_mtime
    return datetime.datetime.fromtimestamp(int(told), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def name_crate(name, version):
    return f"pkg:cargo/{name}@{version}"


def name_package(package):
    return f"pkg:npm/{urllib.parse.quote(package.name, safe='/')}@{package.version}"


def describe_component(purl, name, version, licence, algorithm, digest):
    component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "scope": "required", "purl": purl}
    if digest:
        component["hashes"] = [{"alg": algorithm, "content": digest}]
    if licence:
        component["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    return component


def describe_crate(crate):
    purl = name_crate(crate.name, crate.version)
    component = describe_component(purl, crate.name, crate.version, crate.licence, "SHA-256", crate.checksum)
    if crate.repository:
        component["externalReferences"] = [{"type": "vcs", "url": crate.repository}]
    return component


def describe_package(package):
    digest = base64.b64decode(package.integrity.removeprefix("sha512-")).hex()
    return describe_component(name_package(package), package.name, package.version, package.licence, "SHA-512", digest)


def find_sqlite(crates):
    """SQLite itself, which a crate compiles in: advisories are about its version."""
    for crate in crates:
        if crate.name == "libsqlite3-sys":
            header = (crate.folder / "sqlite3/sqlite3.h").read_text()
            version = re.search(r'#define SQLITE_VERSION\s+"([\d.]+)"', header)[1]
            purl = f"pkg:generic/sqlite@{version}"
            sqlite = {"type": "library", "bom-ref": purl, "name": "SQLite", "version": version, "scope": "required",
                      "purl": purl, "licenses": [{"license": {"id": "blessing"}}]}
            return sqlite, name_crate(crate.name, crate.version)
    raise SystemExit("libsqlite3-sys is not part of the program any more")


def write_sbom(crates, packages):
    program = next(crate for crate in crates if crate.name == "jurist")
    root = name_crate(program.name, program.version)
    shipped = {(crate.name, crate.version) for crate in crates}
    components = [describe_crate(crate) for crate in crates if crate is not program]
    components += [describe_package(package) for package in packages]
    depends = {name_crate(crate.name, crate.version): [name_crate(*key) for key in crate.dependencies if key in shipped] for crate in crates}
    names = {package.path: name_package(package) for package in packages}
    for package in packages:
        depends[name_package(package)] = [names[path] for path in package.dependencies if path in names]
    needed = {name for package in packages for name in depends[name_package(package)]}
    depends[root] += sorted(set(names.values()) - needed)
    sqlite, binding = find_sqlite(crates)
    components.append(sqlite)
    depends[binding].append(sqlite["bom-ref"])
    components.sort(key=lambda component: component["bom-ref"])
    application = {**describe_crate(program), "type": "application"}
    text = json.dumps([application, components], sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)}",
        "version": 1,
        "metadata": {"timestamp": read_moment(), "component": application},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(refs))} for ref, refs in sorted(depends.items())],
    }


def list_licence_files(folder):
    return sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_NAMES.match(path.name)) if folder.is_dir() else []


def write_licences(crates, packages):
    """Every licence text once, below the names of those that carry it."""
    if not (supply.ROOT / "web/node_modules").is_dir():
        raise SystemExit("the licences of web packages are missing: `make web` installs the packages")
    bearers, without = {}, []
    found = [(f"{crate.name} {crate.version}", crate.folder, crate.licence) for crate in crates if not crate.is_ours]
    found += [(f"{package.name} {package.version}", supply.ROOT / "web" / package.path, package.licence) for package in packages]
    for name, folder, licence in found:
        files = list_licence_files(folder)
        for file in files:
            bearers.setdefault(file.read_text(errors="replace").strip(), []).append(name)
        if not files:
            without.append(f"{name}: {licence}")
    parts = ["Licences of what Jurist is made of.\n"]
    parts += [f"{'=' * 80}\n{', '.join(sorted(set(names)))}\n{'-' * 80}\n{text}\n" for text, names in sorted(bearers.items(), key=lambda pair: sorted(pair[1])[0])]
    parts.append(f"{'=' * 80}\nWithout a text of their own, by the licence that they name:\n" + "\n".join(sorted(without)) + "\n")
    return "\n".join(parts)


def main():
    crates = [crate for crate in supply.read_crates(supply.read_metadata()) if crate.is_shipped]
    lock = json.loads((supply.ROOT / "web/package-lock.json").read_text())
    packages = [package for package in supply.read_web_packages(lock) if package.is_shipped]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(write_sbom(crates, packages), indent=2) + "\n", newline="\n")
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(write_licences(crates, packages), newline="\n")
    print(f"{len(crates)} crates and {len(packages)} web packages in {sys.argv[1]}")


if __name__ == "__main__":
    main()

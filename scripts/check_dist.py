"""Checks archives that scripts/dist packed twice: check_dist.py FOLDER FOLDER"""

import json
import pathlib
import subprocess
import sys
import tarfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import supply

FILES = {"jurist", "LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY.txt", "README.md", "SECURITY.md", "CHANGELOG.md",
         "jurist.cdx.json", "completions/jurist.bash", "completions/_jurist", "completions/jurist.fish"}


def need(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def check_archive(folder):
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked", filter="data")
    unpacked = folder / "unpacked" / archive.name.removesuffix(".tar.gz")
    there = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.stat().st_size and path.is_file()}
    need(there >= FILES, f"the archive lacks {sorted(FILES - there)}")
    said = subprocess.run([unpacked / "jurist", "--version"], capture_output=True, text=True, check=True).stdout
    need(said.startswith("jurist "), f"the packed binary says {said!r}")
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


def main():
    first, second = (pathlib.Path(path) for path in sys.argv[1:3])
    n_components = check_sbom((check_archive(first) / "jurist.cdx.json").read_text())
    need((first / "SHA256SUMS").read_text() == (second / "SHA256SUMS").read_text(), "packing twice gives the same bytes")
    print(f"ok: the archive is whole, {n_components} components are valid CycloneDX 1.6, packing twice gives the same bytes")


main()

"""Packs the Python package and an extension module that cargo has built into a wheel, for tests.

`make wheel` builds the wheel that is published, with maturin. Maturin asks cargo for one package by itself, which has
other features than the whole workspace, so everything would be compiled again; this packs what is there.
usage: build_debug_wheel.py EXTENSION FOLDER   (prints the path of the wheel)
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "crates/python"


def entry_points(project: dict) -> str:
    sections = {"console_scripts": project["scripts"], **project["entry-points"]}
    lines = []
    for section, entries in sections.items():
        lines += [f"[{section}]", *(f"{name} = {target}" for name, target in entries.items()), ""]
    return "\n".join(lines)


def build_wheel(extension: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    info = f"jurist-{version}.dist-info"
    tag = "cp310-abi3-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    files = {f"jurist/{path.relative_to(PACKAGE / 'jurist')}": path.read_bytes()
             for path in sorted((PACKAGE / "jurist").rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}
    files["jurist/_native.abi3.so"] = extension.read_bytes()
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: jurist\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = entry_points(project).encode()
    record = []
    wheel = folder / f"jurist-{version}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    # Stored, not packed: it is installed once and thrown away.
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    return wheel


if __name__ == "__main__":
    print(build_wheel(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))

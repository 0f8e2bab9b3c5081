"""The tables of docs/dependencies.md: what the workspace and the pages depend on directly.

Versions, licences, unsafe code and maintainers are generated; what a dependency is for and why it is not our own code
is written by hand, and kept when the rest is written anew.
"""

import re

import supply

PAGE = supply.ROOT / "docs/dependencies.md"
CRATE_COLUMNS = ["crate", "version", "licence", "unsafe, native", "maintained by", "for", "why not our own"]
WEB_COLUMNS = ["package", "version", "licence", "for", "why not our own"]
NATIVE_ENDINGS = {".c", ".cc", ".cpp", ".S", ".s", ".asm"}


def check_table(metadata, crates, package, web_packages, is_blessing):
    text = PAGE.read_text()
    faults = []
    wanted = replace_table(text, "crates", CRATE_COLUMNS, describe_crates(metadata, crates), faults)
    wanted = replace_table(wanted, "packages", WEB_COLUMNS, describe_packages(package, web_packages), faults)
    if wanted != text:
        if is_blessing:
            PAGE.write_text(wanted)
        advice = "JURIST_BLESS=1 scripts/check-supply writes it anew"
        faults.append(f"docs/dependencies.md {'was out of date' if is_blessing else f'is out of date; {advice}'}")
    return faults


def replace_table(text, name, columns, generated, faults):
    """The page with generated columns as they should be; rows without hand-written cells become faults."""
    before, begin, rest = text.partition(f"<!-- begin {name} -->\n")
    old, end, after = rest.partition(f"<!-- end {name} -->\n")
    if not begin or not end:
        faults.append(f"docs/dependencies.md lacks the marks of its table of {name}")
        return text
    written = read_written_columns(old)
    for key in sorted(generated):
        if not all(written.get(key, ("",))):
            faults.append(f"docs/dependencies.md does not say what `{key}` is for and why it is not our own")
    return before + begin + render_table(columns, generated, written) + end + after


def read_written_columns(table):
    """The last two cells of each row, by the name in its first."""
    rows = [line.strip().strip("|").split("|") for line in table.splitlines()[2:]]
    return {cells[0].strip().strip("`"): tuple(cell.strip() for cell in cells[-2:]) for cells in rows}


def render_table(columns, generated, written):
    lines = [columns, ["---"] * len(columns)]
    for name, cells in sorted(generated.items()):
        lines.append([f"`{name}`", *cells, *written.get(name, ("", ""))])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def describe_crates(metadata, crates):
    ours = [entry for entry in metadata["packages"] if entry["source"] is None]
    direct = {dep["name"] for entry in ours for dep in entry["dependencies"] if not dep.get("path")}
    shipped = {dep["name"] for entry in ours for dep in entry["dependencies"] if dep["kind"] is None or dep["name"] in supply.PACKED_CRATES}
    resolved = {key for crate in crates if crate.is_ours for key in list_direct_keys(metadata, crate)}
    described = {}
    for crate in crates:
        if crate.name in direct and (crate.name, crate.version) in resolved:
            licence = crate.licence + ("" if crate.name in shipped else " (tests only)")
            described[crate.name] = [crate.version, licence, describe_code(crate), describe_maintainer(crate)]
    return described


def list_direct_keys(metadata, crate):
    keys = {entry["id"]: (entry["name"], entry["version"]) for entry in metadata["packages"]}
    for node in metadata["resolve"]["nodes"]:
        if keys[node["id"]] == (crate.name, crate.version):
            yield from (keys[dependency["pkg"]] for dependency in node["deps"])


def describe_code(crate):
    """How many lines say `unsafe`, comments aside, and what else than Rust is compiled or run when it is built."""
    sources = list((crate.folder / "src").rglob("*.rs"))
    lines = (line for source in sources for line in source.read_text(errors="replace").splitlines())
    code = (line.partition("//")[0] for line in lines)
    n_unsafe = sum(1 for line in code if re.search(r"\bunsafe\s*(\{|fn|impl|trait|extern)", line))
    manifest = (crate.folder / "Cargo.toml").read_text()
    said = [f"{n_unsafe} unsafe" if n_unsafe else "no unsafe"]
    parts = (path.relative_to(crate.folder) for path in crate.folder.rglob("*") if path.suffix in NATIVE_ENDINGS)
    if any(part.parts[0] not in ("tests", "benches", "examples") for part in parts):
        said.append("C or assembly inside")
    if re.search(r'^build = "', manifest, re.MULTILINE):
        said.append("build script")
    if "proc-macro = true" in manifest:
        said.append("macro")
    return ", ".join(said)


def describe_maintainer(crate):
    found = re.match(r"https?://([^/]+)/([^/]+)", crate.repository or "")
    if not found:
        return "unknown"
    host, owner = found.groups()
    return owner if host == "github.com" else f"{owner} ({host})"


def describe_packages(package, web_packages):
    described = {}
    for found in web_packages:
        is_top = found.path == f"node_modules/{found.name}"
        if is_top and found.name in {**package["dependencies"], **package["devDependencies"]}:
            note = "" if found.name in package["dependencies"] else " (tool)"
            described[found.name] = [found.version, f"{found.licence}{note}"]
    return described

"""The steps of the GitHub Action: each is a subcommand, so that `action.yml` only wires them together.

Everything comes from the environment that GitHub sets and from `INPUT_*`; nothing but Python's own library is needed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile

# A run of 10,000 cases with their answers is about 100 MB; more is not read into memory.
MAX_DOWNLOAD = 512 * 1024 * 1024
FOLDER = pathlib.Path(".jurist-ci")


def main() -> None:
    steps = {"install": install, "baseline": find_baseline, "evaluate": evaluate, "comment": comment, "decide": decide}
    if len(sys.argv) != 2 or sys.argv[1] not in steps:
        sys.exit(f"usage: github.py {'|'.join(steps)}")
    steps[sys.argv[1]]()


# Environment.


def read_input(name: str) -> str:
    return os.environ.get("INPUT_" + name.upper().replace("-", "_"), "").strip()


def read_event() -> dict:
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    return json.loads(pathlib.Path(path).read_text("utf-8")) if path and os.path.exists(path) else {}


def append_line(variable: str, line: str) -> None:
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(line + "\n")


def set_output(name: str, value: str) -> None:
    if "\n" in value:
        sys.exit(f"the output `{name}` must be one line")
    append_line("GITHUB_OUTPUT", f"{name}={value}")


def print_warning(text: str) -> None:
    print("::warning title=Jurist::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def suite_label() -> str:
    """The suite as a part of an artefact's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", read_input("suite")).strip("-.") or "suite"


# Requests.


class KeepTokenHome(urllib.request.HTTPRedirectHandler):
    """GitHub redirects downloads to a storage host, which must not get the token."""

    def redirect_request(self, request, body, code, message, headers, url):  # noqa: D102
        redirected = super().redirect_request(request, body, code, message, headers, url)
        if redirected and urllib.parse.urlsplit(url).netloc != urllib.parse.urlsplit(request.full_url).netloc:
            redirected.remove_header("Authorization")
        return redirected


def download(url: str, method: str = "GET", body: dict | None = None, token: bool = True) -> bytes:
    request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body is not None else None)
    request.add_header("Accept", "application/vnd.github+json")
    request.add_header("Content-Type", "application/json")
    request.add_header("User-Agent", "jurist-action")
    if token and read_input("token"):
        request.add_header("Authorization", "Bearer " + read_input("token"))
    with urllib.request.build_opener(KeepTokenHome).open(request, timeout=60) as response:
        data = response.read(MAX_DOWNLOAD + 1)
    if MAX_DOWNLOAD < len(data):
        raise OSError(f"{url} is larger than {MAX_DOWNLOAD} bytes")
    return data


def call_api(path: str, method: str = "GET", body: dict | None = None):
    base = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    return json.loads(download(f"{base}/repos/{os.environ['GITHUB_REPOSITORY']}{path}", method, body) or b"null")


# Steps.


def install() -> None:
    """Puts `jurist` on the path: a binary that is there already, or a release archive whose checksum holds."""
    binary = read_input("binary")
    if binary:
        path = shutil.which(binary)
        if not path:
            sys.exit(f"the input `binary` names `{binary}`, which is not a program")
        folder = pathlib.Path(path).resolve().parent
    else:
        folder = download_release()
    append_line("GITHUB_PATH", str(folder))
    subprocess.run([folder / "jurist", "--version"], check=True)


def release_name(version: str) -> str:
    # Windows calls itself ARM64 on such a machine, for which there is no release.
    machine = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}.get(platform.machine())
    # Where the interpreter has no glibc, as on Alpine, only the static program runs.
    linux = "unknown-linux-gnu" if platform.libc_ver()[0] == "glibc" else "unknown-linux-musl"
    system = {"Linux": linux, "Darwin": "apple-darwin", "Windows": "pc-windows-msvc"}.get(platform.system())
    if not machine or not system:
        sys.exit(f"there is no release for {platform.system()} on {platform.machine()}; give the input `binary`")
    return f"jurist-{version}-{machine}-{system}.{'zip' if system == 'pc-windows-msvc' else 'tar.gz'}"


def unpack_program(name: str, archive: bytes) -> tuple[str, bytes]:
    """The file name of the program in a release archive, and its content."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            member = next(member for member in packed.namelist() if member.endswith("/jurist.exe"))
            return "jurist.exe", packed.read(member)
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        member = next(member for member in packed if member.isfile() and member.name.endswith("/jurist"))
        return "jurist", packed.extractfile(member).read()


def download_release() -> pathlib.Path:
    repository, version = os.environ.get("ACTION_REPOSITORY", ""), read_input("version").removeprefix("v")
    if not repository or not version:
        sys.exit("give the input `binary`, or `version` where the action is used from its own repository")
    name = release_name(version)
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    base = f"{server}/{repository}/releases/download/v{version}"
    try:
        sums = download(f"{base}/SHA256SUMS", token=False).decode()
        archive = download(f"{base}/{name}", token=False)
    except urllib.error.URLError as error:
        sys.exit(f"cannot download {name} of {base}: {error}")
    wanted = next((line.split()[0] for line in sums.splitlines() if line.split()[1:] == [name]), None)
    found = hashlib.sha256(archive).hexdigest()
    if wanted != found:
        sys.exit(f"the checksum of {name} is {found}, and SHA256SUMS says {wanted}")
    folder = pathlib.Path(os.environ.get("RUNNER_TEMP", ".")).resolve() / f"jurist-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    program, content = unpack_program(name, archive)
    (folder / program).write_bytes(content)
    (folder / program).chmod(0o755)
    return folder


def find_baseline() -> None:
    """The last run of the baseline branch, from the artefact that this action uploaded there."""
    FOLDER.mkdir(exist_ok=True)
    event = read_event()
    branch = read_input("baseline-branch") or event.get("repository", {}).get("default_branch", "main")
    is_baseline = os.environ.get("GITHUB_EVENT_NAME") != "pull_request" and os.environ.get("GITHUB_REF_NAME") == branch
    kind = "baseline" if is_baseline else "run"
    set_output("artifact", f"jurist-{kind}-{suite_label()}")
    given = read_input("baseline")
    if given:
        set_output("baseline", given)
        return
    try:
        data = download_baseline(branch)
    except (urllib.error.URLError, OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        print_warning(f"the baseline of `{branch}` cannot be read: {error}")
        data = None
    if data is None:
        print(f"there is no baseline of `{branch}` yet; every case has to pass")
        set_output("baseline", "")
        return
    (FOLDER / "baseline.json").write_bytes(data)
    set_output("baseline", str(FOLDER / "baseline.json"))


def download_baseline(branch: str) -> bytes | None:
    name = urllib.parse.quote(f"jurist-baseline-{suite_label()}")
    found = call_api(f"/actions/artifacts?per_page=100&name={name}")["artifacts"]

    def is_ours(artifact: dict) -> bool:
        # A fork may have a branch of the same name, and its runs must not decide what is good.
        run = artifact.get("workflow_run") or {}
        same = run.get("head_repository_id") is not None and run["head_repository_id"] == run.get("repository_id")
        return same and run.get("head_branch") == branch and not artifact.get("expired")

    ours = sorted(filter(is_ours, found), key=lambda artifact: artifact["created_at"])
    if not ours:
        return None
    packed = zipfile.ZipFile(io.BytesIO(download(ours[-1]["archive_download_url"])))
    member = packed.getinfo("run.json")
    if MAX_DOWNLOAD < member.file_size:
        raise OSError("the baseline is too large")
    return packed.read(member)


def evaluate() -> None:
    """Grades the suite. How it ended is decided by a later step, so that the comment is written either way."""
    FOLDER.mkdir(exist_ok=True)
    baseline = os.environ.get("JURIST_BASELINE", "")
    command = ["jurist", "eval", read_input("suite"), "--no-defer", *shlex.split(read_input("args"))]
    if baseline:
        command += ["--baseline", baseline, *shlex.split(read_input("gate"))]
    reports = {"json": FOLDER / "run.json", "pr-comment": FOLDER / "comment.md", "sarif": FOLDER / "jurist.sarif", "junit": FOLDER / "junit.xml"}
    command += ["--reporter", "github"]
    for name, file in reports.items():
        # Another suite of this job may have left one, and a suite that cannot be read writes none.
        file.unlink(missing_ok=True)
        command += ["--reporter", f"{name}={file}"]
    environment = {"JURIST_CACHE": str((FOLDER / "cache").resolve()), **os.environ}
    code = subprocess.run(command, check=False, env=environment).returncode
    set_output("exit-code", str(code))
    for output, name in (("run", "json"), ("sarif", "sarif")):
        set_output(output, str(reports[name]) if reports[name].exists() else "")


def comment() -> None:
    """Writes the comment on the pull request, or updates the one that is there."""
    event, path = read_event(), FOLDER / "comment.md"
    number = event.get("pull_request", {}).get("number")
    if number is None or not path.exists() or read_input("comment") == "false":
        return
    body = path.read_text("utf-8")
    marker = body.splitlines()[0]
    try:
        known = find_comment(number, marker)
        if known is None:
            call_api(f"/issues/{number}/comments", "POST", {"body": body})
        else:
            call_api(f"/issues/comments/{known}", "PATCH", {"body": body})
    except (OSError, ValueError) as error:
        # The token of a pull request from a fork may only read. The summary of the job says the same.
        reason = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else error
        print_warning(f"the comment cannot be written ({reason}); the summary of this job has its text")
        with open(os.environ.get("GITHUB_STEP_SUMMARY", os.devnull), "a", encoding="utf-8") as summary:
            summary.write(body)


def find_comment(number: int, marker: str) -> int | None:
    for page in range(1, 31):
        comments = call_api(f"/issues/{number}/comments?per_page=100&page={page}")
        for known in comments:
            # Anybody can write the marker; only what the action wrote itself is replaced.
            is_bot = known.get("user", {}).get("type") == "Bot"
            if is_bot and known.get("body", "").startswith(marker):
                return known["id"]
        if len(comments) < 100:
            return None
    return None


def decide() -> None:
    """Ends as `jurist eval` did."""
    code = os.environ.get("JURIST_EXIT_CODE", "")
    if not code.isdigit():
        sys.exit("the suite was not graded, so that nothing is decided")
    meaning = {0: "passed", 1: "a case failed or a gate does not hold", 2: "the file or an argument is wrong",
               3: "a grader failed, or cases were not graded", 5: "stopped by a budget"}
    print(f"jurist eval ended with {code}: {meaning.get(int(code), 'see its output')}")
    sys.exit(int(code))


if __name__ == "__main__":
    main()

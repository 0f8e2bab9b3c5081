"""Tests of what pack.py decides by itself; scripts/check-dist installs the packages."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import container_steps
import pack


class Packing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def list_dependencies(self, content):
        program = self.folder / "program"
        program.write_bytes(content)
        return pack.list_debian_dependencies(program)

    def test_a_debian_package_needs_the_newest_c_library_that_the_program_names(self):
        names = b"\0libgcc_s.so.1\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0"
        self.assertEqual(self.list_dependencies(names), ["libc6 (>= 2.34)", "libgcc-s1"])

    def test_a_static_program_needs_nothing(self):
        self.assertEqual(self.list_dependencies(b"\0a text about GLIBC_2.34 in a message\0"), [])

    def test_an_archive_does_not_depend_on_times_owners_or_order(self):
        archives = []
        for order in (["a", "b/c"], ["b/c", "a"]):
            tree = self.folder / f"tree-{len(archives)}"
            for name in order:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(name)
            pack.set_modes(tree)
            archives.append(self.folder / f"{len(archives)}.tar.gz")
            pack.write_tar(archives[-1], tree, "jurist", 1, 1)
        self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())
        with tarfile.open(archives[0]) as tar:
            self.assertEqual(tar.getnames(), ["jurist/a", "jurist/b", "jurist/b/c"])

    def test_modes_in_an_archive_do_not_depend_on_the_file_system(self):
        tree = self.folder / "tree"
        (tree / "bin").mkdir(parents=True)
        for name in ("bin/jurist", "README.md"):
            (tree / name).touch(0o600)
        pack.write_tar(self.folder / "a.tar.gz", tree, "jurist", 1, 1)
        with tarfile.open(self.folder / "a.tar.gz") as tar:
            self.assertEqual([oct(member.mode) for member in tar], ["0o644", "0o755", "0o755"])

    def test_the_archive_for_windows_is_a_zip_with_a_program_that_windows_starts(self):
        archives = []
        for n in range(2):
            release = self.make_windows_release(f"release-{n}")
            (release.tree / "jurist.cdx.json").touch()
            release.program.write_bytes(b"MZ")
            release.program.touch()
            pack.pack_archive(release)
            archives.append(release.folder / "jurist-1.0.0-x86_64-pc-windows-msvc.zip")
        self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())
        with zipfile.ZipFile(archives[0]) as packed:
            names = ["jurist.cdx.json", "jurist.exe"]
            self.assertEqual(packed.namelist(), [f"jurist-1.0.0-x86_64-pc-windows-msvc/{name}" for name in names])

    def test_the_npm_package_for_windows_has_the_name_that_the_launcher_looks_for(self):
        release = self.make_windows_release("release")
        release.program.write_bytes(b"MZ")
        pack.pack_npm_program(release)
        with tarfile.open(release.folder / "jurist-win32-x64-1.0.0.tgz") as packed:
            self.assertIn("package/bin/jurist.exe", packed.getnames())
            described = json.load(packed.extractfile("package/package.json"))
        self.assertEqual((described["name"], described["os"], described["cpu"]), ("@jurist/win32-x64", ["win32"], ["x64"]))

    @unittest.skipUnless(shutil.which("node"), "Node.js is not installed")
    def test_the_npm_launcher_sends_no_signal_on_windows(self):
        script = """
            const processes = require("node:child_process");
            const sent = [];
            processes.spawn = () => ({ on() {}, kill: (signal) => sent.push(signal) });
            Object.defineProperty(process, "platform", { value: process.argv[1] });
            require(process.argv[2]);
            for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.emit(signal);
            console.log(sent.join(" "));
        """
        launcher = pack.ROOT / "packaging/npm/launcher.js"
        for platform, sent in (("win32", ""), ("linux", "SIGINT SIGTERM SIGHUP")):
            command = ["node", "-e", script, platform, launcher]
            environment = {**os.environ, "JURIST_BINARY": "jurist"}
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual((done.stdout.strip(), done.stderr), (sent, ""))

    def make_windows_release(self, name):
        tree = self.folder / name / "tree"
        tree.mkdir(parents=True)
        target = "x86_64-pc-windows-msvc"
        return pack.Release("1.0.0", target, pack.PLATFORMS[target], tree, self.folder / name, 1_700_000_000, 1)

    def test_a_version_before_a_release_sorts_before_it_in_debian(self):
        release = pack.Release("0.2.0-rc.1", "", None, self.folder, self.folder, 0, 1)
        self.assertEqual(release.debian_version, "0.2.0~rc.1")

    def test_completions_are_no_programs(self):
        for name in ("bin/jurist", "completions/jurist"):
            (self.folder / name).parent.mkdir()
            (self.folder / name).touch()
        pack.set_modes(self.folder)
        self.assertEqual((self.folder / "bin/jurist").stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.folder / "completions/jurist").stat().st_mode & 0o777, 0o644)

    def test_checksums_are_of_files_and_leave_themselves_out(self):
        (self.folder / "container").mkdir()
        (self.folder / "a.tgz").touch()
        for _ in range(2):
            pack.write_checksums(self.folder)
        empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        self.assertEqual((self.folder / "SHA256SUMS").read_text(), f"{empty}  a.tgz\n")


class ContainerFile(unittest.TestCase):
    def test_instructions_are_read_without_comments_and_with_continued_lines(self):
        text = "# a comment\nFROM base\nCMD [\"a\", \\\n  \"b\"]\n"
        self.assertEqual(container_steps.read_instructions(text), [("FROM", "base"), ("CMD", '["a",    "b"]')])


if __name__ == "__main__":
    unittest.main()

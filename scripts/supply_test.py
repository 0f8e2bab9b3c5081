"""Each rule of scripts/check_supply.py, broken on purpose."""

import unittest

import check_supply
import dependency_table
import supply

PACKAGE = {"dependencies": {"react": "19.3.1"}, "devDependencies": {"vite": "8.3.5"}}
NPMRC = "ignore-scripts=true\n"


def lock(**changes):
    react = {"version": "19.3.1", "license": "MIT", "integrity": "sha512-AA==", **changes}
    return {"packages": {"": PACKAGE, "node_modules/react": react}}


class Crates(unittest.TestCase):
    def test_data_that_a_build_script_packs_is_part_of_the_program(self):
        for name, kind, expected in [("serde", None, True), ("serde", "dev", False), ("flate2", "build", False), ("dejavu", "build", True)]:
            dependency = {"name": name, "dep_kinds": [{"kind": kind}]}
            self.assertEqual(supply.is_shipped_kind(dependency), expected, name)


class Licences(unittest.TestCase):
    def test_expressions_are_read_as_spdx_says(self):
        for expression, expected in {
            "MIT": True,
            "GPL-3.0": False,
            "GPL-3.0 OR MIT": True,
            "GPL-3.0/MIT": True,
            "MIT AND GPL-3.0": False,
            "(MIT OR GPL-3.0) AND Apache-2.0": True,
            "(MIT OR Apache-2.0) AND Unicode-3.0": False,
            "MIT OR Apache-2.0 AND GPL-3.0": True,
            "Apache-2.0 WITH LLVM-exception": False,
        }.items():
            self.assertEqual(supply.is_licence_allowed(expression, {"MIT", "Apache-2.0"}), expected, expression)
        for broken in ["", "MIT OR", "(MIT", "MIT Apache-2.0"]:
            with self.assertRaises(ValueError):
                supply.is_licence_allowed(broken, {"MIT"})

    def test_tools_may_have_licences_that_pages_may_not(self):
        tool = supply.read_web_packages(lock(license="MPL-2.0", dev=True))
        self.assertEqual(list(check_supply.check_web_licences(tool, {"MIT"})), [])
        for changes in [{"license": "MPL-2.0"}, {"license": "GPL-3.0", "dev": True}, {"license": None}]:
            self.assertEqual(len(list(check_supply.check_web_licences(supply.read_web_packages(lock(**changes)), {"MIT"}))), 1)


class WebPackages(unittest.TestCase):
    def test_a_range_is_a_fault(self):
        self.assertEqual(list(check_supply.check_web_pins(PACKAGE, NPMRC)), [])
        for version in ["^19.3.1", "~19.3.1", ">=19", "latest", "*", "19.x", "github:facebook/react", ""]:
            package = {**PACKAGE, "dependencies": {"react": version}}
            self.assertEqual(len(list(check_supply.check_web_pins(package, NPMRC))), 1, version)

    def test_what_runs_at_installation_is_a_fault(self):
        self.assertEqual(len(list(check_supply.check_web_pins(PACKAGE, ""))), 1)
        package = {**PACKAGE, "scripts": {"postinstall": "node x.js"}}
        self.assertEqual(len(list(check_supply.check_web_pins(package, NPMRC))), 1)
        self.assertEqual(len(list(check_supply.check_web_lock(PACKAGE, lock(hasInstallScript=True)))), 1)

    def test_a_lock_file_without_hashes_or_from_elsewhere_is_a_fault(self):
        self.assertEqual(list(check_supply.check_web_lock(PACKAGE, lock())), [])
        self.assertEqual(list(check_supply.check_web_lock(PACKAGE, lock(resolved="https://registry.npmjs.org/r.tgz"))), [])
        for changes in [{"integrity": None}, {"integrity": "sha1-AA="}, {"resolved": "https://example.com/r.tgz"}]:
            self.assertEqual(len(list(check_supply.check_web_lock(PACKAGE, lock(**changes)))), 1)
        other = {**PACKAGE, "dependencies": {"react": "19.3.2"}}
        self.assertEqual(len(list(check_supply.check_web_lock(other, lock()))), 1)

    def test_programs_of_every_platform_are_locked(self):
        self.assertEqual(list(check_supply.check_platform_packages(lock())), [])
        found = list(check_supply.check_platform_packages(lock(optionalDependencies={"react-win32": "19.3.1"})))
        self.assertEqual(len(found), 1)


class Table(unittest.TestCase):
    PAGE = "<!-- begin crates -->\n| crate | version | for | why |\n| --- | --- | --- | --- |\n{rows}<!-- end crates -->\n"

    def replace(self, rows, generated):
        faults = []
        page = self.PAGE.format(rows=rows)
        text = dependency_table.replace_table(page, "crates", ["crate", "version", "for", "why"], generated, faults)
        return text, faults

    def test_hand_written_cells_stay_when_the_rest_is_written_anew(self):
        text, faults = self.replace("| `serde` | 1.0 | JSON | large |\n| `old` | 1 | a | b |\n", {"serde": ["1.1"]})
        self.assertEqual((text, faults), (self.PAGE.format(rows="| `serde` | 1.1 | JSON | large |\n"), []))

    def test_a_dependency_without_a_row_or_a_reason_is_a_fault(self):
        for rows in ["", "| `serde` | 1.0 | JSON |  |\n", "| `serde` | 1.0 |  | large |\n"]:
            self.assertEqual(len(self.replace(rows, {"serde": ["1.0"]})[1]), 1, rows)


if __name__ == "__main__":
    unittest.main()

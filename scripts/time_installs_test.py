"""Tests of which packages of Debian time_installs.py copies; the rest needs root and the packages of a release."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import time_installs


class PackageClosure(unittest.TestCase):
    def test_a_package_comes_with_all_that_it_needs(self):
        depends = {
            "python3": "python3.11 (>= 3.11.2-1~), missing | libc6 (>= 2.36), ",
            "python3.11": "python3:any, mailer | zlib1g",
            "libc6": ", ",
            "zlib1g": "libc6 (>= 2.14), virtual-package, ",
            "rustc": "libc6, ",
        }
        self.assertEqual(time_installs.list_package_closure(["python3"], depends), ["libc6", "python3", "python3.11", "zlib1g"])
        self.assertEqual(time_installs.list_package_closure(["not-here", "libc6"], depends), ["libc6"])

    def test_a_way_is_left_out_if_one_of_its_files_is_not_there(self):
        npm = next(way for way in time_installs.WAYS if way.name == "npm")
        self.assertEqual(time_installs.find_files(pathlib.Path("/never/was"), npm), [])


if __name__ == "__main__":
    unittest.main()

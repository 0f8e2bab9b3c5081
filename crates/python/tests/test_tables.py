from __future__ import annotations

from typing import Any

import pytest

import jurist

ROWS = [{"id": "a", "answer": "Paris"}, {"id": "b", "answer": "Paris is the capital of France"}, {"id": "c", "answer": None}]
RUBRIC = jurist.Rubric.from_dict({"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]})


def make_table(kind: str) -> Any:
    if kind == "dicts":
        return ROWS
    if kind == "generator":
        return (row for row in ROWS)
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(ROWS)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(ROWS)
    if kind == "polars lazy":
        return pytest.importorskip("polars").LazyFrame(ROWS)
    if kind == "arrow":
        return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)

    class ArrowStream:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pytest.importorskip("pyarrow").Table.from_pylist(ROWS).__arrow_c_stream__(schema)

    return ArrowStream()


@pytest.mark.parametrize("kind", ["dicts", "generator", "pandas", "polars", "polars lazy", "arrow", "arrow stream"])
def test_every_kind_of_table_gives_the_same_verdicts(kind: str) -> None:
    verdicts = RUBRIC.grade_many(make_table(kind), columns={"output": "answer"})
    assert [verdict.status for verdict in verdicts] == ["pass", "fail", "error"]
    assert [verdict.id for verdict in verdicts] == ["a", "b", "c"]


def test_verdicts_become_tables() -> None:
    verdicts = RUBRIC.grade_many(ROWS, columns={"output": "answer"})
    frame = verdicts.to_pandas()
    assert list(frame.columns) == ["id", "status", "score", "cost", "error", "short.score", "short.reason"]
    assert list(frame["short.score"])[:2] == [1.0, 0.0]
    assert verdicts.to_polars()["status"].to_list() == ["pass", "fail", "error"]
    assert verdicts.to_arrow().column("score").to_pylist() == [1.0, 0.0, None]
    assert "<table>" in verdicts._repr_html_() and repr(verdicts) == "<Verdicts: 1 pass, 1 fail, 1 error>"


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(jurist.MissingPackage, match=r"pip install 'jurist\[pandas\]'"):
        RUBRIC.grade_many([{"output": "a"}]).to_pandas()

from __future__ import annotations

from typing import Any

import pytest

import jurist

ROWS = [{"id": "a", "answer": "Paris"}, {"id": "b", "answer": "Paris is the capital of France"}, {"id": "c", "answer": None}]
RUBRIC = jurist.Rubric.from_dict({"criteria": [{"name": "short", "check": {"type": "length", "max": 10}}]})


def import_datasets() -> Any:
    datasets = pytest.importorskip("datasets", reason="the package `datasets` is not installed")
    datasets.disable_progress_bars()
    return datasets


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
    if kind == "record batch":
        return pytest.importorskip("pyarrow").RecordBatch.from_pylist(ROWS)
    if kind == "data set":
        return import_datasets().Dataset.from_list(ROWS)
    if kind == "filtered data set":
        extra = {"id": "x", "answer": "not wanted"}
        listed = import_datasets().Dataset.from_list([ROWS[2], extra, ROWS[0], ROWS[1]])
        return listed.select([2, 3, 0])
    if kind == "streamed data set":
        return import_datasets().Dataset.from_list(ROWS).to_iterable_dataset()
    if kind == "arrow":
        return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)

    class ArrowStream:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pytest.importorskip("pyarrow").Table.from_pylist(ROWS).__arrow_c_stream__(schema)

    return ArrowStream()


KINDS = [
    "dicts",
    "generator",
    "pandas",
    "polars",
    "polars lazy",
    "arrow",
    "arrow stream",
    "record batch",
    "data set",
    "filtered data set",
    "streamed data set",
]


@pytest.mark.parametrize("kind", KINDS)
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


def test_verdicts_become_a_data_set_and_an_arrow_stream() -> None:
    verdicts = RUBRIC.grade_many(import_datasets().Dataset.from_list(ROWS), columns={"output": "answer"})
    data = verdicts.to_dataset()
    assert data["status"][:] == ["pass", "fail", "error"] and data.column_names[-1] == "short.reason"
    assert data.features["score"].dtype == "float64"
    assert pytest.importorskip("pyarrow").table(verdicts).column("score").to_pylist() == [1.0, 0.0, None]


def test_columns_have_their_types_although_they_are_empty() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    failed = RUBRIC.grade_many([{"id": 1}])
    passed = RUBRIC.grade_many([{"id": 1, "output": "Paris"}])
    assert failed.to_arrow().schema.field("score").type == pyarrow.float64()
    assert passed.to_arrow().schema.field("error").type == pyarrow.string()
    both = pyarrow.concat_tables([passed.to_arrow(), failed.to_arrow()], promote_options="default")
    assert both.column("status").to_pylist() == ["pass", "error"]
    with pytest.warns(jurist.JuristWarning, match="no records"):
        empty = RUBRIC.grade_many([])
    assert empty.to_arrow().num_rows == 0 == len(empty.to_pandas()) == empty.to_polars().height


def test_arrow_columns_are_renamed_and_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from jurist import tables

    table = pyarrow.Table.from_pylist([{"answer": "Paris", "output": "old", "gold": "Paris", "id": "a"}])
    renamed = tables._rename_columns(table, {"output": "answer", "reference": "answer", "input": "gold"})
    assert renamed.to_pylist() == [{"reference": "Paris", "input": "Paris", "id": "a", "output": "Paris"}]
    place = table.column("answer").chunk(0).buffers()[2].address
    assert renamed.column("output").chunk(0).buffers()[2].address == place
    dicts = tables.read_rows(table.to_pylist(), {"output": "answer", "reference": "answer", "input": "gold"})
    assert dicts == tables.read_rows(table, {"output": "answer", "reference": "answer", "input": "gold"})


def test_a_data_set_with_several_splits_is_refused() -> None:
    datasets = import_datasets()
    splits = datasets.DatasetDict({"train": datasets.Dataset.from_list(ROWS), "test": datasets.Dataset.from_list(ROWS)})
    with pytest.raises(jurist.InputError, match="choose one of its splits: `train`, `test`"):
        RUBRIC.grade_many(splits)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_one_column_is_no_table(package: str) -> None:
    with pytest.raises(jurist.InputTypeError, match="not a `Series`"):
        RUBRIC.grade_many(pytest.importorskip(package).Series(["a"]))


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(jurist.MissingPackage, match=r"pip install 'jurist\[pandas\]'"):
        RUBRIC.grade_many([{"output": "a"}]).to_pandas()

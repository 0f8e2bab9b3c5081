from __future__ import annotations

import json
import pathlib

import pytest
from conftest import SHARED, run_jurist

import jurist
from jurist import stats


def test_every_statistic_is_that_of_the_command(tmp_path: pathlib.Path) -> None:
    problems = [
        {"id": 1, "family": "proportion_ci", "input": {"k": 84, "n": 200}},
        {"id": 2, "family": "krippendorff_alpha", "input": {"ratings": [[1, 2, None], [1, 2, 3]], "level": "ordinal"}},
        {"id": 3, "family": "paired_permutation", "input": {"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "seed": 0}},
    ]
    reference = SHARED / "conformance" / "stats_reference.jsonl"
    if reference.exists():
        lines = [json.loads(line) for line in reference.read_text().splitlines()]
        problems += [line for line in lines if "same_input_as" not in line["input"]]
    (tmp_path / "problems.jsonl").write_text("\n".join(map(json.dumps, problems)))
    printed = [json.loads(line) for line in run_jurist("stats", "compute", "problems.jsonl").stdout.splitlines()]
    assert len(printed) == len(problems)
    for problem, line in zip(problems, printed, strict=True):
        try:
            found: object = {"result": stats.compute(problem["family"], **problem["input"])}
        except stats.Undefined as error:
            found = {"undefined": str(error)}
        except jurist.InputError as error:
            found = {"error": str(error)}
        line.pop("id")
        assert found == line, problem


def test_arrays_of_numpy_are_taken() -> None:
    numpy = pytest.importorskip("numpy")
    a, b = numpy.array([1, 2, 3, 3, 1]), numpy.array([1, 2, 3, 2, 1])
    assert 0 < stats.cohen_kappa(a, b, weights="quadratic")["kappa"] < 1
    assert stats.krippendorff_alpha(numpy.stack([a, b]))["alpha"] > 0.5
    assert stats.correlation(a, b)["pearson"] == pytest.approx(numpy.corrcoef(a, b)[0, 1])
    assert set(stats.compare_paired(a, b)) == {"permutation", "bootstrap"}


def test_what_the_data_do_not_say_is_no_number() -> None:
    with pytest.raises(stats.Undefined):
        stats.cohen_kappa([1, 1, 1], [1, 1, 1])
    with pytest.raises(jurist.InputError, match="no statistic is called"):
        stats.compute("kapa", x=1)
    with pytest.raises(jurist.InputError, match="^`x.0.` is not a finite number"):
        stats.mean_interval([float("inf")])
    with pytest.raises(jurist.InputTypeError, match="`name` is a `int`"):
        stats.compute(3)  # type: ignore[arg-type]
    with pytest.raises(jurist.InputError, match="knows no `z`"):
        stats.compute("correlation", x=[1, 2], y=[1, 2], z=3)
    assert stats.compute("percent_agreement", ["a", "b"], ["a", "a"]) == 0.5


def test_named_functions_give_figures() -> None:
    assert stats.rogan_gladen(tp=80, fn=20, tn=170, fp=30, judge_pass=300, n_judged=1000)["corrected"] == pytest.approx(0.2308, abs=1e-3)
    assert stats.pass_k([{"n": 10, "c": 3}, {"n": 10, "c": 10}], [1])["pass@k"] == pytest.approx([0.65])
    assert stats.power(p1=0.7, p2=0.75, alpha=0.05, power=0.8, unpaired=True)
    assert stats.mcnemar([[30, 12], [5, 53]])["exact_p"] == pytest.approx(0.1434631)
    assert stats.rank([[0, 7], [3, 0]])
    assert stats.alignment([1, 1, 0, 0], [1, 0, 0, 0])
    assert stats.ppi_mean([0, 1, 1, 0, 1], [0, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1])
    assert stats.mean_interval([1, 2, 3])
    assert stats.drift([1, 0, 1, 1, 0, 1])
    assert stats.fleiss_kappa([[0, 3], [3, 0], [1, 2]]) and stats.gwet_ac([[1, 2, 1], [1, 2, 2]])
    assert stats.calibration([0.9, 0.1, 0.8, 0.3], [1, 0, 1, 0])


def test_columns_of_tables_are_taken_and_a_table_is_its_columns() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    a, b = [1, 2, 3, 3, 1, 2], [1, 2, 3, 2, 1, 2]
    kappa, alpha = stats.cohen_kappa(a, b), stats.krippendorff_alpha([a, b])
    for make in (pandas.Series, polars.Series, lambda values: pyarrow.chunked_array([values]), pyarrow.array):
        assert stats.cohen_kappa(make(a), make(b)) == kappa, make
        assert stats.krippendorff_alpha([make(a), make(b)]) == alpha, make
    tables = (pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.table)
    for table in tables:
        assert stats.krippendorff_alpha(table({"a": a, "b": b})) == alpha, table
    counts, wins, passes = [[0, 3], [3, 0], [1, 2]], [[0, 7], [3, 0]], [[30, 12], [5, 53]]
    for table in tables:
        by_rows = [table({f"c{n}": column for n, column in enumerate(zip(*rows))}) for rows in (counts, wins, passes)]
        assert stats.fleiss_kappa(by_rows[0]) == stats.fleiss_kappa(counts), table
        assert stats.rank(by_rows[1]) == stats.rank(wins), table
        assert stats.mcnemar(by_rows[2]) == stats.mcnemar(passes), table
    missing = pandas.Series([1, None, 3], dtype="Int64")
    assert stats.krippendorff_alpha([missing, [1, 2, 3]]) == stats.krippendorff_alpha([[1, None, 3], [1, 2, 3]])
    assert stats.compute("percent_agreement", pandas.Series(["a", "b"]), polars.Series(["a", "a"])) == 0.5

"""Tables in and out: lists of dicts, pandas, Polars, Arrow, Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jurist.errors import InputError, missing_package

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def read_rows(rows: Any, columns: Mapping[str, str] | None) -> list[Any]:
    """Rows of any table as dicts. `columns` gives fields the names that the rows have for them."""
    listed = _list_rows(rows)
    if not columns:
        return listed
    names = {name for row in listed if isinstance(row, Mapping) for name in row}
    for field, column in columns.items():
        if listed and column not in names:
            known = ", ".join(sorted(str(name) for name in names))
            raise InputError(f"the rows have no column `{column}` for `{field}`; they have {known}")
    return [_rename(row, columns) if isinstance(row, Mapping) else row for row in listed]


def _rename(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    taken = set(columns.values())
    renamed = {name: value for name, value in row.items() if name not in taken}
    for field, column in columns.items():
        if row.get(column) is not None:
            renamed[field] = row[column]
    return renamed


def _list_rows(rows: Any) -> list[Any]:
    if isinstance(rows, list):
        return _ensure_rows(rows)
    if isinstance(rows, (str, bytes, Mapping)):
        raise InputError(f"rows are a list of dicts or a table, not a `{type(rows).__name__}`")
    package = type(rows).__module__.partition(".")[0]
    if package == "pandas":
        return [_without_missing(row) for row in rows.to_dict(orient="records")]
    if package == "polars":
        if hasattr(rows, "collect"):
            rows = rows.collect()
        return list(rows.iter_rows(named=True))
    if package == "pyarrow" and hasattr(rows, "to_pylist"):
        return list(rows.to_pylist())
    if package != "datasets" and hasattr(rows, "__arrow_c_stream__"):
        return _read_arrow_stream(rows)
    if isinstance(rows, Iterable):
        return _ensure_rows(list(rows))
    raise InputError(f"rows are a list of dicts or a table, not a `{type(rows).__name__}`")


def _ensure_rows(rows: list[Any]) -> list[Any]:
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"rows[{index}] is a `{type(row).__name__}`; a row is a dict with `output` and so on")
    return rows


def _without_missing(row: dict[Any, Any]) -> dict[str, Any]:
    """pandas writes missing values as NaN, NaT or NA, of which only None equals itself."""
    kept: dict[str, Any] = {}
    for name, value in row.items():
        is_missing = value is None or type(value).__name__ in ("NAType", "NaTType")
        if not is_missing and not (isinstance(value, float) and value != value):
            kept[str(name)] = value
    return kept


def _read_arrow_stream(rows: Any) -> list[Any]:
    try:
        import pyarrow
    except ImportError:
        raise missing_package("pyarrow", "arrow") from None
    return list(pyarrow.table(rows).to_pylist())


def to_pandas(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise missing_package("pandas", "pandas") from None
    return pandas.DataFrame.from_records(rows)


def to_polars(rows: list[dict[str, Any]]) -> polars.DataFrame:
    try:
        import polars
    except ImportError:
        raise missing_package("polars", "polars") from None
    return polars.DataFrame(rows, infer_schema_length=None)


def to_arrow(rows: list[dict[str, Any]]) -> pyarrow.Table:
    try:
        import pyarrow
    except ImportError:
        raise missing_package("pyarrow", "arrow") from None
    return pyarrow.Table.from_pylist(rows)

"""Tables in and out: lists of dicts, pandas, Polars, Arrow, Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jurist.errors import InputError, InputTypeError, missing_package, take_mapping

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars
    import pyarrow

    from jurist.results import Verdicts


#: Columns that a table of verdicts has in addition to those of criteria, with their types.
VERDICT_COLUMNS = {"id": str, "status": str, "score": float, "cost": float, "error": str}

#: Columns that clusters add to the rows which they grade, with their types.
ADDED_COLUMNS = {"status": str, "score": float, "cost": float, "error": str, "verdict": str}


def read_rows(rows: Any, columns: Mapping[str, str] | None) -> list[Any]:
    """Rows of any table as dicts. `columns` gives fields the names that the rows have for them.

    >>> read_rows([{"id": 1, "answer": "Paris"}], {"output": "answer"})
    [{'id': 1, 'output': 'Paris'}]
    """
    columns = None if columns is None else take_mapping(columns, "columns")
    if isinstance(rows, list):
        return _rename_rows(_ensure_rows(rows), columns)
    if isinstance(rows, (str, bytes, Mapping)) or _is_column(rows):
        raise InputTypeError(_describe_wrong_rows(rows))
    table = _find_arrow_table(rows)
    if table is not None:
        # Columns are renamed before they become rows, so that no row is made twice.
        return [_without_nulls(row) for row in _rename_columns(table, columns).to_pylist()]
    package = type(rows).__module__.partition(".")[0]
    if package == "pandas":
        listed = [_without_missing(row) for row in rows.to_dict(orient="records")]
    elif package == "polars":
        frame = rows.collect() if hasattr(rows, "collect") else rows
        listed = [_without_nulls(row) for row in frame.iter_rows(named=True)]
    elif isinstance(rows, Iterable):
        listed = _ensure_rows(list(rows))
    else:
        raise InputTypeError(_describe_wrong_rows(rows))
    return _rename_rows(listed, columns)


def _is_column(value: Any) -> bool:
    """Whether this is one column of a table: a Series of pandas or Polars, or an Arrow array."""
    package = type(value).__module__.partition(".")[0]
    if package in ("pandas", "polars"):
        return not hasattr(type(value), "columns")
    return package == "pyarrow" and hasattr(value, "to_pylist") and not hasattr(value, "schema")


def to_plain(value: Any) -> Any:
    """A column of a table or an array as a list, and a table as the list of its columns; anything else as it is.

    >>> import array
    >>> to_plain(array.array("d", [1.0, 0.5])), to_plain("text")
    ([1.0, 0.5], 'text')
    """
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, (str, bytes, int, float, Mapping)):
        return value
    if _is_table(value):
        return _list_columns(value)
    for name in ("tolist", "to_list", "to_pylist"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            listed = method()
            return [_none_if_missing(item) for item in listed] if isinstance(listed, list) else listed
    return value


def to_plain_rows(value: Any) -> Any:
    """The same as `to_plain`, with a table as the list of its rows."""
    plain = to_plain(value)
    return [list(row) for row in zip(*plain, strict=True)] if _is_table(value) else plain


def _is_table(value: Any) -> bool:
    package = type(value).__module__.partition(".")[0]
    if package in ("pandas", "polars"):
        return hasattr(type(value), "columns")
    return package == "pyarrow" and hasattr(value, "schema") and hasattr(value, "columns")


def _list_columns(table: Any) -> list[Any]:
    package = type(table).__module__.partition(".")[0]
    if package == "pandas":
        return [to_plain(table.iloc[:, index]) for index in range(table.shape[1])]
    if package == "polars":
        frame = table.collect() if hasattr(table, "collect") else table
        return [column.to_list() for column in frame.get_columns()]
    return [column.to_pylist() for column in table.columns]


def _none_if_missing(value: Any) -> Any:
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def _describe_wrong_rows(rows: Any) -> str:
    splits = ", ".join(f"`{name}`" for name in rows) if type(rows).__name__.endswith("DatasetDict") else ""
    hint = f"; choose one of its splits: {splits}" if splits else ""
    return f"rows are a list of dicts or a table, not a `{type(rows).__name__}`{hint}"


def _find_arrow_table(rows: Any) -> Any:
    """The Arrow table behind these rows, without a copy of its values; None where there is none."""
    package = type(rows).__module__.partition(".")[0]
    if package == "datasets" and hasattr(rows, "with_format"):
        # A data set that is read as it comes has no table; a filtered or shuffled one is gathered here.
        return rows.with_format("arrow")[:] if hasattr(rows, "num_rows") else None
    if package == "pyarrow" and hasattr(rows, "schema") and hasattr(rows, "to_pylist"):
        return rows
    # pandas offers its frames as Arrow streams too, but only some of its columns without a copy.
    if package not in ("pandas", "polars") and hasattr(rows, "__arrow_c_stream__"):
        return _import_pyarrow().table(rows)
    return None


def _rename_columns(table: Any, columns: Mapping[str, str] | None) -> Any:
    """An Arrow table whose columns have the names of fields; unmapped columns with such a name are left out."""
    if not columns:
        return table
    names = list(table.schema.names)
    ensure_columns(columns, names)
    fields = {column: field for field, column in columns.items()}
    kept = [name for name in names if name in fields or name not in columns]
    arrays = [table.column(name) for name in kept]
    extra = [field for field, column in columns.items() if fields[column] != field]
    arrays += [table.column(columns[field]) for field in extra]
    return type(table).from_arrays(arrays, names=[*(fields.get(name, name) for name in kept), *extra])


def _rename_rows(rows: list[Any], columns: Mapping[str, str] | None) -> list[Any]:
    if not columns:
        return rows
    names = {name: None for row in rows if isinstance(row, Mapping) for name in row}
    if rows:
        ensure_columns(columns, names)
    return [_rename(row, columns) if isinstance(row, Mapping) else row for row in rows]


def ensure_columns(columns: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise an error where the rows lack a column that `columns` names."""
    known = list(names)
    for field, column in take_mapping(columns, "columns").items():
        if column not in known:
            listed = ", ".join(sorted(str(name) for name in known))
            raise InputError(f"the rows have no column `{column}` for `{field}`; they have {listed}")


def _rename(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    taken = {*columns, *columns.values()}
    renamed = {name: value for name, value in row.items() if name not in taken}
    for field, column in columns.items():
        if row.get(column) is not None:
            renamed[field] = row[column]
    return renamed


def _ensure_rows(rows: list[Any]) -> list[Any]:
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"rows[{index}] is a `{type(row).__name__}`; a row is a dict with `output` and so on")
    return rows


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    """A null in a table is a missing value, and no empty one."""
    return {name: value for name, value in row.items() if value is not None}


def _without_missing(row: dict[Any, Any]) -> dict[str, Any]:
    """pandas writes missing values as NaN, NaT or NA, of which only None equals itself."""
    kept: dict[str, Any] = {}
    for name, value in row.items():
        is_missing = value is None or type(value).__name__ in ("NAType", "NaTType")
        if not is_missing and not (isinstance(value, float) and value != value):
            kept[str(name)] = value
    return kept


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise missing_package("pyarrow", "arrow") from None
    return pyarrow


def _list_types(rows: list[dict[str, Any]]) -> dict[str, type]:
    """The type of each column; those that are not named here are scores or reasons of criteria."""
    names = {name: None for row in rows for name in row} if rows else dict.fromkeys(VERDICT_COLUMNS)
    return {name: VERDICT_COLUMNS.get(name, float if name.endswith(".score") else str) for name in names}


def to_pandas(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    """Rows of verdicts as a pandas frame; missing scores are NaN."""
    try:
        import pandas
    except ImportError:
        raise missing_package("pandas", "pandas") from None
    types = {name: "float64" if kind is float else "object" for name, kind in _list_types(rows).items()}
    return pandas.DataFrame.from_records(rows, columns=list(types)).astype(types)


def to_polars(rows: list[dict[str, Any]]) -> polars.DataFrame:
    """Rows of verdicts as a Polars frame."""
    try:
        import polars
    except ImportError:
        raise missing_package("polars", "polars") from None
    types = {name: polars.Float64 if kind is float else polars.String for name, kind in _list_types(rows).items()}
    return polars.DataFrame(rows, schema=types)


def to_arrow(rows: list[dict[str, Any]]) -> pyarrow.Table:
    """Rows of verdicts as an Arrow table."""
    arrow = _import_pyarrow()
    types = _list_types(rows)
    fields = [arrow.field(name, arrow.float64() if kind is float else arrow.string()) for name, kind in types.items()]
    table: pyarrow.Table = arrow.Table.from_pylist(rows, schema=arrow.schema(fields))
    return table


def to_dataset(rows: list[dict[str, Any]]) -> datasets.Dataset:
    """Rows of verdicts as a Hugging Face dataset."""
    try:
        import datasets
    except ImportError:
        raise missing_package("datasets", "datasets") from None
    return datasets.Dataset(to_arrow(rows))


def add_verdict_columns(table: pyarrow.Table, verdicts: Verdicts, prefix: str = "") -> pyarrow.Table:
    """An Arrow table with the columns of `ADDED_COLUMNS`, one row for each verdict; `verdict` is its JSON."""
    arrow = _import_pyarrow()
    ensure_free_names(table.schema.names, prefix)
    values: dict[str, list[Any]] = {
        "status": [verdict.status for verdict in verdicts],
        "score": [verdict.score for verdict in verdicts],
        "cost": [verdict.cost for verdict in verdicts],
        "error": [verdict.error for verdict in verdicts],
        "verdict": [verdict.to_json() for verdict in verdicts],
    }
    for name, kind in ADDED_COLUMNS.items():
        array = arrow.array(values[name], type=arrow.float64() if kind is float else arrow.string())
        table = table.append_column(prefix + name, array)
    return table


def ensure_free_names(names: Iterable[str], prefix: str) -> None:
    """Raise an error where a table has a column of ours already."""
    for name in names:
        if name.startswith(prefix) and name.removeprefix(prefix) in ADDED_COLUMNS:
            raise InputError(f"the rows have a column `{name}` already; give another `prefix`"" for the columns of verdicts")

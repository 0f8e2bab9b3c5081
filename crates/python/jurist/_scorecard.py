"""Verdicts as text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jurist.results import Grade, Verdict, Verdicts

def escape(text: str) -> str:
    """A text that is no HTML."""
    # `html` takes as long to import as everything else together.
    from html import escape as escape_html

    return escape_html(text)


_COLOURS = {"pass": "#1a7f37", "fail": "#cf222e", "error": "#9a6700", "deferred": "#9a6700"}

#: More of a text of a candidate is not shown in a notebook.
_MAX_BYTES = 20_000

#: More rows of a table are not shown in a notebook.
_MAX_ROWS = 50


def render_text(verdict: Verdict) -> str:
    lines = [f"{verdict.status}{_score_text(verdict.score)}"]
    lines.extend(f"  gate failed: {gate.get('criterion') or 'the rubric'}" for gate in verdict.failed_gates)
    for grade in verdict.grades:
        answer = "" if grade.value is None else f" {grade.value}"
        lines.append(f"  {grade.criterion}: {grade.status}{answer}{_score_text(grade.score)}")
        if grade.reason:
            lines.append(f"      {grade.reason}")
        for evidence in grade.evidence:
            where = "" if evidence.found else " (not found in the candidate)"
            lines.append(f"      “{evidence.quote}”{where}")
    if verdict.error and not verdict.grades:
        lines.append(f"  {verdict.error}")
    return "\n".join(lines)


def _score_text(score: float | None) -> str:
    return "" if score is None else f" ({score:.2f})"


def render_html(verdict: Verdict, record: Mapping[str, Any] | None) -> str:
    colour = _COLOURS[verdict.status]
    shown = _find_shown_parts(record)
    rows = "".join(_grade_row(grade, shown) for grade in verdict.grades)
    error = f"<p>{escape(verdict.error)}</p>" if verdict.error else ""
    gates = [str(gate.get("criterion") or "the rubric") for gate in verdict.failed_gates]
    failed = f"<p>gates failed: {escape(', '.join(gates))}</p>" if gates else ""
    return (
        f'<div><p><b style="color:{colour}">{escape(verdict.status)}</b>'
        f"{escape(_score_text(verdict.score))}</p>{failed}{error}"
        f"{_grade_table(rows)}{''.join(_marked_part(verdict, *part) for part in shown.items())}</div>"
    )


def render_grade(grade: Grade) -> str:
    """A grade by itself, with the quotes of its judge."""
    return _grade_table(_grade_row(grade, {}))


def _grade_table(rows: str) -> str:
    head = "<thead><tr><th>criterion</th><th>answer</th><th>score</th><th>reason</th></tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _find_shown_parts(record: Mapping[str, Any] | None) -> dict[str, str]:
    """Texts of the candidate that are shown, by the part that evidence names: the response and the diff."""
    keys = {"response": ("output", "outputs", "response", "answer"), "diff": ("diff",)}
    shown: dict[str, str] = {}
    for part, names in keys.items():
        texts = [record[name] for name in names if isinstance(record.get(name), str)] if record is not None else []
        if texts and texts[0]:
            shown[part] = texts[0]
    return shown


def _grade_row(grade: Grade, shown: Mapping[str, str]) -> str:
    score = "" if grade.score is None else f"{grade.score:.2f}"
    answer = grade.status if grade.value is None else str(grade.value)
    cells = [escape(cell) for cell in (grade.criterion, answer, score, grade.reason)]
    for evidence in grade.evidence:
        # Other quotes are marked in the text below the table.
        if evidence.part not in shown:
            place = evidence.part or "not found in the candidate"
            quote = escape(evidence.quote)
            cells[-1] += f"<br>{f'<mark>{quote}</mark>' if evidence.found else quote} ({escape(place)})"
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _marked_part(verdict: Verdict, part: str, text: str) -> str:
    """A text of the candidate, with the quotes of the judges marked."""
    whole = text.encode()
    data = whole[:_MAX_BYTES]
    inside = [False] * (len(data) + 1)
    for grade in verdict.grades:
        for evidence in grade.evidence:
            if evidence.part == part and evidence.start is not None and evidence.end is not None:
                for index in range(max(evidence.start, 0), min(evidence.end, len(data))):
                    inside[index] = True
    pieces: list[str] = []
    start = 0
    for index in range(1, len(data) + 1):
        if index == len(data) or inside[index] != inside[start]:
            piece = escape(data[start:index].decode(errors="replace"))
            pieces.append(f"<mark>{piece}</mark>" if inside[start] else piece)
            start = index
    if len(data) < len(whole):
        pieces.append(" …")
    return f'<pre style="white-space:pre-wrap">{"".join(pieces)}</pre>'


def render_table(verdicts: Verdicts) -> str:
    rows = "".join(
        f"<tr><td>{escape(str(verdict.id))}</td>"
        f'<td style="color:{_COLOURS[verdict.status]}">{escape(verdict.status)}</td>'
        f"<td>{'' if verdict.score is None else f'{verdict.score:.3f}'}</td></tr>"
        for verdict in list(verdicts)[:_MAX_ROWS]
    )
    more = f"<p>… and {len(verdicts) - _MAX_ROWS} more</p>" if _MAX_ROWS < len(verdicts) else ""
    head = "<thead><tr><th>id</th><th>status</th><th>score</th></tr></thead>"
    return f"<div><p>{escape(repr(verdicts))}</p><table>{head}<tbody>{rows}</tbody></table>{more}</div>"

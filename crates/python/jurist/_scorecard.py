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

#: More of a candidate is not shown in a notebook.
_MAX_CHARS = 20_000

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
    rows = "".join(_grade_row(grade) for grade in verdict.grades)
    error = f"<p>{escape(verdict.error)}</p>" if verdict.error else ""
    return (
        f'<div><p><b style="color:{colour}">{escape(verdict.status)}</b>'
        f"{escape(_score_text(verdict.score))}</p>{error}"
        f"<table><thead><tr><th>criterion</th><th>answer</th><th>score</th><th>reason</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{_marked_candidate(verdict, record)}</div>"
    )


def _grade_row(grade: Grade) -> str:
    score = "" if grade.score is None else f"{grade.score:.2f}"
    answer = grade.status if grade.value is None else str(grade.value)
    cells = (grade.criterion, answer, score, grade.reason)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _marked_candidate(verdict: Verdict, record: Mapping[str, Any] | None) -> str:
    """The candidate's text, with the quotes of the judges marked."""
    output = None if record is None else next(
        (record[key] for key in ("output", "outputs", "response", "answer") if isinstance(record.get(key), str)),
        None,
    )
    if not isinstance(output, str):
        return ""
    data = output.encode()
    inside = [False] * (len(data) + 1)
    for grade in verdict.grades:
        for evidence in grade.evidence:
            if evidence.part == "response" and evidence.start is not None and evidence.end is not None:
                for index in range(max(evidence.start, 0), min(evidence.end, len(data))):
                    inside[index] = True
    pieces: list[str] = []
    start = 0
    for index in range(1, len(data) + 1):
        if index == len(data) or inside[index] != inside[start]:
            text = escape(data[start:index].decode(errors="replace"))
            pieces.append(f"<mark>{text}</mark>" if inside[start] else text)
            start = index
            if _MAX_CHARS < index:
                pieces.append(" …")
                break
    return f'<pre style="white-space:pre-wrap">{"".join(pieces)}</pre>' if data else ""


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

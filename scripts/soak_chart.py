"""Draws samples.csv of a soak as an SVG, readable on light and dark pages: soak_chart.py SAMPLES.CSV CHART.SVG"""

import math
import pathlib
import sys
from dataclasses import dataclass
from xml.sax.saxutils import escape

import soak_verdict

WIDTH, PANEL_HEIGHT, LEFT, RIGHT, TOP, GAP = 860, 96, 64, 150, 46, 44
# The colours of Jurist's charts: crates/core/src/chart/palette.rs.
STYLE = """
.soak{--card:#ffffff;--ink:#1d1c1a;--soft:#66625b;--line:#e4e0d8;--a:#3b6ea5;--b:#d25712;--c:#8a7be8;--kill:#9a1a12;
font:11px system-ui,-apple-system,"Segoe UI",sans-serif;font-variant-numeric:tabular-nums}
@media(prefers-color-scheme:dark){.soak{--card:#1c1e22;--ink:#e9e8e5;--soft:#a3a098;--line:#32353b;--a:#79b0ea;
--b:#eb9464;--c:#b9b0f5;--kill:#f2645a}}
.soak .card{fill:var(--card)}.soak text{fill:var(--soft)}.soak .head{fill:var(--ink);font-weight:600}
.soak .grid{stroke:var(--line)}.soak polyline{fill:none;stroke-width:1.5}
.soak .a{stroke:var(--a)}.soak .b{stroke:var(--b);stroke-dasharray:5 2}.soak .c{stroke:var(--c);stroke-dasharray:1.5 2}
.soak .kill{stroke:var(--kill)}
"""


@dataclass
class Panel:
    title: str
    unit: str
    factor: float
    # Label and column of each line.
    lines: list[tuple[str, str]]


def list_panels():
    latencies = [Panel(f"Latency of {name}", "ms", 1e3, [(f"p{share}", f"{kind}_p{share}") for share in (50, 95, 99)])
                 for kind, name in (("ingest", "traces that are sent"), ("pages", "pages"), ("annotate", "answers of people"))]
    return [
        Panel("Memory", "MiB", 1 / soak_verdict.MIB,
              [("server", "server_rss"), ("worker", "worker_rss"), ("killed worker", "killed_worker_rss")]),
        Panel("File handles", "", 1,
              [("server", "server_handles"), ("worker", "worker_handles"), ("killed worker", "killed_worker_handles")]),
        *latencies,
        Panel("Jobs", "", 1, [("waiting", "jobs_waiting"), ("at work", "jobs_leased")]),
        Panel("Database", "MiB", 1 / soak_verdict.MIB, [("file", "database_bytes"), ("log", "log_bytes")]),
    ]


def draw_chart(samples):
    panels = list_panels()
    height = TOP + len(panels) * (PANEL_HEIGHT + GAP)
    end = max((sample["seconds"] for sample in samples), default=1)
    kills = [sample["seconds"] for sample in samples for _ in filter(None, sample["killed"].split("+"))]
    n_traces = int(max((sample["traces"] or 0 for sample in samples), default=0))
    told = (f"{end / 60:.0f} minutes of steady load: {n_traces:,} traces, {len(kills)} kills (red marks). "
            "The second half is without kills of the server and of one worker.")
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" class="soak" viewBox="0 0 {WIDTH} {height}" role="img">',
             f"<title>Soak</title><desc>{escape(told)}</desc><style>{STYLE}</style>",
             f'<rect class="card" width="{WIDTH}" height="{height}"/>', f'<text x="12" y="20">{escape(told)}</text>']
    for at, panel in enumerate(panels):
        parts += draw_panel(panel, samples, end, kills, TOP + at * (PANEL_HEIGHT + GAP))
    return "\n".join([*parts, "</svg>\n"])


def draw_panel(panel, samples, end, kills, top):
    values = [sample[column] * panel.factor for sample in samples for _, column in panel.lines if sample[column] is not None]
    step = choose_step(max(values, default=1))
    highest = step * math.ceil(max(values, default=1) / step) or step
    right, bottom = WIDTH - RIGHT, top + 12 + PANEL_HEIGHT

    def place(seconds, value):
        return f"{LEFT + (right - LEFT) * seconds / end:.1f},{bottom - PANEL_HEIGHT * value / highest:.1f}"

    title = f"{panel.title}, {panel.unit}" if panel.unit else panel.title
    yield f'<text class="head" x="12" y="{top + 4}">{escape(title)}</text>'
    for n in range(round(highest / step) + 1):
        y = bottom - PANEL_HEIGHT * n * step / highest
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{n * step:g}</text>'
    for seconds in kills:
        x = LEFT + (right - LEFT) * seconds / end
        yield f'<line class="kill" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}"/>'
    minutes = choose_step(end / 60)
    for n in range(int(end / 60 / minutes) + 1):
        x = LEFT + (right - LEFT) * n * minutes * 60 / end
        yield f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{n * minutes:g} min</text>'
    for at, (label, column) in enumerate(panel.lines):
        tone = "abc"[at]
        points = [(sample["seconds"], sample[column] * panel.factor) for sample in samples if sample[column] is not None]
        yield f'<polyline class="{tone}" points="{" ".join(place(*point) for point in points)}"/>'
        y = top + 24 + 17 * at
        yield f'<polyline class="{tone}" points="{right + 12},{y} {right + 32},{y}"/>'
        yield f'<text x="{right + 38}" y="{y + 4}">{escape(label)}</text>'


def choose_step(highest):
    """Two to five lines of a grid, at 1, 2 or 5 of some power of ten."""
    rough = max(highest, 1e-9) / 4
    power = 10 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if rough <= factor * power)


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(draw_chart(soak_verdict.read_samples(sys.argv[1])))

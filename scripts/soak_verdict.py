"""Whether memory, file handles, latencies and the queue stayed flat over the second half of a soak."""

import csv
import statistics
from dataclasses import dataclass

PROCESSES = ["server", "worker", "killed_worker"]
LATENCIES = ["ingest", "pages", "annotate"]
COLUMNS = [
    "seconds",
    "killed",
    *[f"{name}_{what}" for name in PROCESSES for what in ("rss", "handles")],
    "database_bytes",
    "log_bytes",
    "jobs_waiting",
    "jobs_leased",
    "jobs_dead",
    "traces",
    "answers",
    "retries",
    *[f"{kind}_p{share}" for kind in LATENCIES for share in (50, 95, 99)],
]
MIB = 2**20
# Below this, caches still fill, and a slope says nothing of what comes later.
MINUTES_TO_JUDGE = 20
# Over half an hour at five traces a second, 8 MiB are a leak of less than a kilobyte for each trace.
MOST_GROWTH_BYTES, MOST_GROWTH_SHARE = 8 * MIB, 0.05
MOST_GROWTH_HANDLES = 3
# The slowest of the last three quarters against the fastest, so that a slow quarter in the middle cannot hide a slow
# end. A shared machine moves a percentile by some milliseconds.
MOST_LATENCY_RATIO, LATENCY_SLACK = 1.5, 0.005
MOST_QUEUE_RATIO, QUEUE_SLACK = 2, 20


@dataclass
class Count:
    """A count after the run, and what it must be."""

    what: str
    counted: int
    wanted: int | None


@dataclass
class Trend:
    """How a measure moved over the second half."""

    what: str
    before: str
    after: str
    allowed: str
    is_flat: bool


def quantile(values, share):
    """The nearest rank, or None of nothing."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 6) if ordered else None


def read_samples(path):
    with open(path, newline="") as file:
        return [{key: read_cell(key, text) for key, text in row.items()} for row in csv.DictReader(file)]


def read_cell(key, text):
    if key == "killed":
        return text
    return float(text) if text else None


def theil_sen(points):
    """The median of the slopes between any two points: a single spike does not move it."""
    slopes = [(second[1] - first[1]) / (second[0] - first[0])
              for at, first in enumerate(points) for second in points[at + 1 :]]
    return statistics.median(slopes) if slopes else 0.0


def measure_trends(samples, steady):
    end = max((sample["seconds"] for sample in samples), default=0)
    second_half = [sample for sample in samples if sample["seconds"] > end / 2]
    second, third, last = ([sample for sample in samples if at / 4 < sample["seconds"] / end <= (at + 1) / 4]
                           for at in (1, 2, 3))
    trends = []
    for name in steady:
        trends.append(measure_growth(second_half, f"{name}_rss", f"memory of the {name}", MOST_GROWTH_BYTES, MIB, "MiB"))
        trends.append(measure_growth(second_half, f"{name}_handles", f"file handles of the {name}", MOST_GROWTH_HANDLES, 1, ""))
    for kind in LATENCIES:
        trends.append(compare_fastest_and_slowest([second, third, last], f"{kind}_p95", f"p95 of {kind}"))
    trends.append(compare_quarters(third, last, "jobs_waiting", "jobs that wait", MOST_QUEUE_RATIO, QUEUE_SLACK, 1, ""))
    return [trend for trend in trends if trend]


def measure_growth(samples, column, what, most, unit, name):
    points = [(sample["seconds"], sample[column]) for sample in samples if sample[column] is not None]
    if len(points) < 2:
        return None
    middle = statistics.median(value for _, value in points)
    growth = theil_sen(points) * (points[-1][0] - points[0][0])
    if name == "MiB":
        most = max(most, MOST_GROWTH_SHARE * middle)
    shown = (f"{value / unit:.1f} {name}".strip() for value in (middle, growth, most))
    before, after, allowed = shown
    return Trend(what, f"median {before}", f"slope over the half {after}", f"at most {allowed}", growth <= most)


def compare_quarters(third, last, column, what, ratio, slack, unit, name):
    before, after = ([sample[column] for sample in quarter if sample[column] is not None] for quarter in (third, last))
    if not before or not after:
        return None
    before, after = statistics.median(before), statistics.median(after)
    most = ratio * before + slack
    shown = (f"{value / unit:.1f} {name}".strip() for value in (before, after, most))
    first, second, allowed = shown
    return Trend(what, f"third quarter {first}", f"last quarter {second}", f"at most {allowed}", after <= most)


def compare_fastest_and_slowest(quarters, column, what):
    values = [[sample[column] for sample in quarter if sample[column] is not None] for quarter in quarters]
    if not all(values):
        return None
    medians = sorted(statistics.median(quarter) for quarter in values)
    most = MOST_LATENCY_RATIO * medians[0] + LATENCY_SLACK
    fastest, slowest, allowed = (f"{value * 1000:.1f} ms" for value in (medians[0], medians[-1], most))
    return Trend(what, f"fastest quarter {fastest}", f"slowest quarter {slowest}", f"at most {allowed}", medians[-1] <= most)


def find_faults(counts, trends, minutes):
    faults = [f"{count.what}: {count.counted}, must be {count.wanted}"
              for count in counts if count.wanted is not None and count.counted != count.wanted]
    if minutes >= MINUTES_TO_JUDGE:
        faults += [f"{trend.what} grew: {trend.before}, {trend.after}, {trend.allowed}" for trend in trends if not trend.is_flat]
    return faults


def write_report(options, counts, trends):
    lines = [f"{options.minutes:g} minutes, {options.rate:g} traces and up to {options.annotators} answers a second, "
             f"a kill every {options.kill_every:g} s, seed {options.seed}", "",
             "| after the run | counted | must be |", "| --- | --- | --- |"]
    lines += [f"| {count.what} | {count.counted:,} | {'' if count.wanted is None else count.wanted} |" for count in counts]
    lines += ["", "| over the second half; latencies: second to last quarter | before | after | allowed | flat |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| {trend.what} | {trend.before} | {trend.after} | {trend.allowed} | {'yes' if trend.is_flat else 'NO'} |"
              for trend in trends]
    if options.minutes < MINUTES_TO_JUDGE:
        lines += ["", f"Under {MINUTES_TO_JUDGE} minutes nothing is judged flat or not: caches still fill."]
    return "\n".join(lines) + "\n"

"""Whether a soak would notice what it is for."""

import unittest

import soak_chart
import soak_verdict

MIB = soak_verdict.MIB


def make_samples(**change):
    """An hour that is flat, but for what `change` makes of the seconds, by column."""
    samples = []
    for seconds in range(10, 3610, 10):
        sample = {column: 1.0 for column in soak_verdict.COLUMNS} | {"seconds": float(seconds), "killed": ""}
        for name in ("server", "worker"):
            sample |= {f"{name}_rss": 60.0 * MIB, f"{name}_handles": 40.0}
        for kind in soak_verdict.LATENCIES:
            sample[f"{kind}_p95"] = 0.02
        samples.append(sample | {column: value(seconds) for column, value in change.items()})
    return samples


def list_faults(counts=(), minutes=60, **change):
    trends = soak_verdict.measure_trends(make_samples(**change), ["server", "worker"])
    return soak_verdict.find_faults(counts, trends, minutes)


class Verdict(unittest.TestCase):
    def test_a_flat_hour_is_flat(self):
        self.assertEqual(list_faults(), [])

    def test_a_leak_is_noticed(self):
        self.assertEqual(len(list_faults(server_rss=lambda seconds: 60 * MIB + 9 * MIB * seconds / 1800)), 1)
        self.assertEqual(len(list_faults(worker_handles=lambda seconds: 40 + seconds // 400)), 1)

    def test_growth_of_the_first_half_and_a_spike_are_no_leak(self):
        self.assertEqual(list_faults(server_rss=lambda seconds: MIB * min(60, seconds / 30)), [])
        self.assertEqual(list_faults(server_rss=lambda seconds: MIB * (900 if seconds in (2000, 3500) else 60)), [])

    def test_latencies_and_a_queue_that_grow_are_noticed(self):
        self.assertEqual(len(list_faults(ingest_p95=lambda seconds: seconds / 3600 if seconds > 2700 else 0.02)), 1)
        slow_middle = lambda seconds: 1.2 if 1800 < seconds <= 2700 else 0.036
        self.assertEqual(len(list_faults(ingest_p95=slow_middle)), 1)
        self.assertEqual(len(list_faults(jobs_waiting=lambda seconds: 50.0 if seconds > 2700 else 5.0)), 1)

    def test_a_short_run_is_not_judged_by_its_slope_but_by_its_counts(self):
        self.assertEqual(list_faults(minutes=3, server_rss=lambda seconds: MIB * seconds), [])
        lost = [soak_verdict.Count("answers lost", 1, 0), soak_verdict.Count("traces acknowledged", 5, None)]
        self.assertEqual(list_faults(lost, minutes=3), ["answers lost: 1, must be 0"])

    def test_samples_that_are_missing_while_a_process_is_down_are_left_out(self):
        self.assertEqual(list_faults(jobs_waiting=lambda seconds: None if seconds % 60 == 0 else 5.0), [])
        self.assertIn("</svg>", soak_chart.draw_chart(make_samples(server_rss=lambda _: None)))


if __name__ == "__main__":
    unittest.main()

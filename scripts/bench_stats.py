"""Statistics of Python packages, timed on the very data Jurist was timed on.

usage: bench_stats.py FOLDER STATISTICS_SPEED, the program that wrote FOLDER. With a case as third argument:
one package alone, in a process of its own, so that its peak memory is its own.
"""
import json, resource, statistics, subprocess, sys, time, warnings

warnings.simplefilter("ignore")
N_DRAWS = 10_000

def ratings(folder, case, raters):
    import numpy
    # Packages take one row a rater; turning it is not timed.
    table = numpy.fromfile(f"{folder}/{case}", dtype=numpy.uint8).reshape(-1, raters).T.astype(float).copy()
    table[table == 0] = numpy.nan
    return table

def alpha(folder, case, raters):
    import krippendorff
    table = ratings(folder, case, raters)
    return lambda: krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")

def kappa(folder, case, raters):
    from sklearn.metrics import cohen_kappa_score
    a, b = ratings(folder, case, raters).astype(int)
    return lambda: cohen_kappa_score(a, b, weights="quadratic")

def bootstrap(folder, case, _):
    import numpy
    from scipy import stats
    values = numpy.fromfile(f"{folder}/{case}")
    def drawn():
        # In batches, which is faster for scipy than all at once, and needs a tenth of the memory.
        found = stats.bootstrap((values,), numpy.mean, n_resamples=N_DRAWS, batch=100, rng=1, method="BCa")
        return found.confidence_interval.low
    return drawn

CASES = [
    ("alpha_1000x5", "ordinal alpha, 1,000 x 5", "krippendorff", alpha, 5),
    ("alpha_1000000x3", "ordinal alpha, 1,000,000 x 3", "krippendorff", alpha, 3),
    ("kappa_1000000x2", "quadratic kappa, 1,000,000 x 2", "scikit-learn", kappa, 2),
    ("bootstrap_10000", "bootstrap of 10,000 pairs, 10,000 draws", "scipy", bootstrap, 1),
]

def alone(folder, case):
    _, _, _, prepare, raters = next(it for it in CASES if it[0] == case)
    work, times, begin = prepare(folder, case, raters), [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < 1:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": statistics.median(times), "result": float(result), "peak_mb": round(peak)}))

def told(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"

def asked(command):
    ran = subprocess.run(command, capture_output=True, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1:]

def main(folder, jurist):
    print(f"{'':<42}{'Jurist':>10}{'MB':>6}   {'package':<14}{'time':>10}{'MB':>7}{'ratio':>8}")
    for case, name, package, _, _ in CASES:
        ours, theirs = asked([jurist, folder, case]), asked([sys.executable, __file__, folder, jurist, case])
        if not isinstance(ours, dict):
            sys.exit(f"{case}: {ours}")
        line = f"{name:<42}{told(ours['seconds']):>10}{ours['peak_mb']:>6.0f}   {package:<14}"
        if not isinstance(theirs, dict):
            print(f"{line} SKIPPED: {' '.join(theirs)}")
            continue
        # Draws are random; the other figures are the same.
        near = 2e-3 if case.startswith("bootstrap") else 1e-9
        if abs(ours["result"] - theirs["result"]) > near:
            sys.exit(f"{case}: {ours['result']} is not {theirs['result']}")
        print(f"{line}{told(theirs['seconds']):>10}{theirs['peak_mb']:>7.0f}{theirs['seconds'] / ours['seconds']:>7.1f}x")

if len(sys.argv) == 4:
    alone(sys.argv[1], sys.argv[3])
else:
    main(sys.argv[1], sys.argv[2])

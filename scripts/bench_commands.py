"""Whole commands beside Python packages that read the same file and compute the same, each in a process of its own.

usage: bench_commands.py FOLDER JURIST. With a case as third argument: one package alone.
"""
import csv, json, random, subprocess, sys, time

def write_grades(path):
    draw = random.Random(1)
    with open(path, "w") as file:
        for at in range(1_000_000):
            criterion, grader = ("clear", "correct", "brief", "polite")[at % 4], f"grader-{at // 4 % 3}"
            file.write(f'{{"candidate": "case-{at // 12}", "criterion": "{criterion}", "grader": "{grader}", '
                       f'"value": {draw.randint(0, 4) / 4}}}\n')

def write_ratings(path):
    draw = random.Random(2)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", *(f"r{it}" for it in range(123))])
        for item in range(350):
            truth = draw.randint(1, 5)
            rows.writerow([item, *(truth if draw.random() < 0.6 else draw.randint(1, 5) for _ in range(123))])

def write_votes(path):
    draw = random.Random(3)
    with open(path, "w") as file:
        for at in range(10_000):
            first, second = draw.sample(range(60), 2)
            winner = first if draw.random() < 1 / (1 + 2 ** ((first - second) / 10)) else second
            file.write(f'{{"case": "{at}", "first": "p{first}", "second": "p{second}", "winner": "p{winner}"}}\n')

def describe(path):
    import polars
    table = polars.scan_ndjson(path).group_by("criterion").agg(
        polars.col("value").mean().alias("mean"), polars.col("value").std().alias("sd"), polars.len())
    return dict(table.select("criterion", "mean").collect().iter_rows())["clear"]

def agree(path):
    import krippendorff, numpy
    table = numpy.loadtxt(path, delimiter=",", skiprows=1)[:, 1:].T
    return krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")

def rank(path):
    import evalica
    rows = [json.loads(line) for line in open(path)]
    winner = lambda it: evalica.Winner.X if it["winner"] == it["first"] else evalica.Winner.Y
    found = evalica.bradley_terry([it["first"] for it in rows], [it["second"] for it in rows], [winner(it) for it in rows])
    return float(found.scores["p0"])

CASES = {
    "stats": ("grades.jsonl", write_grades, ["stats", "--json"], "stats, 1,000,000 grades", "polars", describe),
    "agree": ("ratings.csv", write_ratings, ["agree", "--json"], "agree, 123 raters x 350 items", "krippendorff", agree),
    "rank": ("votes.jsonl", write_votes, ["rank", "--json"], "rank, 10,000 votes of 60 players", "evalica", rank),
}

def timed(command):
    start = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True)
    return time.perf_counter() - start, ran

def main(folder, jurist):
    print(f"{'':<36}{'Jurist':>9}   package, without intervals")
    for case, (file, write, arguments, name, package, _) in CASES.items():
        path = f"{folder}/{file}"
        write(path)
        ours, ran = min((timed([jurist, *arguments, path]) for _ in range(3)), key=lambda it: it[0])
        if ran.returncode != 0:
            sys.exit(f"{case}: {ran.stderr}")
        theirs, other = min((timed([sys.executable, __file__, folder, jurist, case]) for _ in range(3)), key=lambda it: it[0])
        line = f"{name:<36}{ours:>7.2f} s   {package}"
        if other.returncode != 0:
            print(f"{line} SKIPPED: {' '.join(other.stderr.strip().splitlines()[-1:])}")
            continue
        result, found = float(other.stdout), json.loads(ran.stdout)
        if case == "stats" and abs(found["groups"]["clear"]["mean"] - result) > 1e-9:
            sys.exit(f"{case}: {found['groups']['clear']['mean']} is not {result}")
        if case == "agree" and abs(found["rating"]["krippendorff_alpha"]["value"] - result) > 1e-9:
            sys.exit(f"{case}: {found['rating']['krippendorff_alpha']['value']} is not {result}")
        print(f"{line} {theirs:.2f} s")

if len(sys.argv) == 4:
    print(CASES[sys.argv[3]][5](f"{sys.argv[1]}/{CASES[sys.argv[3]][0]}"))
else:
    main(sys.argv[1], sys.argv[2])

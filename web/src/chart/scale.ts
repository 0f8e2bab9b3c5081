// Positions of values in a chart.

/** Round numbers that cover `low` to `high`, in about `about` steps. */
export function ticks(low: number, high: number, about = 4): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((it) => it * power >= rough * 0.999) ?? 10) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** Maps one range linearly onto another. */
export const linear =
  ([a, b]: [number, number], [from, to]: [number, number]) =>
  (value: number): number =>
    b === a ? (from + to) / 2 : from + ((value - a) / (b - a)) * (to - from);

/** The range of scores to draw, with a margin, within 0 to 1. */
export function scoreDomain(values: number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.02, (high - low) * 0.08);
  const marks = ticks(Math.max(0, low - room), Math.min(1, high + room), 6);
  return [Math.max(0, marks[0] ?? 0), Math.min(1, marks.at(-1) ?? 1)];
}

export const DAY_MS = 86_400_000;

/** Runs of neighbours that all have a value; gaps are not drawn. */
export function stretches<T>(all: T[], has: (it: T) => boolean): T[][] {
  const found: T[][] = [];
  let open = false;
  for (const it of all) {
    if (!has(it)) open = false;
    else if (open) found.at(-1)?.push(it);
    else {
      found.push([it]);
      open = true;
    }
  }
  return found;
}

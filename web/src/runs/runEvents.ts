// Progress of a run by server-sent events.
import { useEffect, useState } from "react";
import type { CaseOutcome } from "./CaseStrip";

export type RunProgress = {
  outcomes: CaseOutcome[];
  nUnits: number | null;
  nResults: number;
  ended: boolean;
  /** The stream broke and is opened again. */
  broken: boolean;
};

const NOTHING: RunProgress = { outcomes: [], nUnits: null, nResults: 0, ended: false, broken: false };

/** Milliseconds between redraws: drawing each of a thousand results separately would take longer than grading them. */
const PAUSE = 80;

/** Browsers reconnect after a broken connection, but not after an error status; then this many milliseconds pass. */
const AGAIN = 2000;

export function useRunEvents(project: string, run: string): RunProgress {
  const [followed, setFollowed] = useState<RunProgress>(NOTHING);
  useEffect(() => {
    setFollowed(NOTHING);
    // Added to in place and copied when drawn: a copy for each result would be quadratic. By place, as a stream that
    // begins anew tells all of them again.
    const outcomes = new Map<number, CaseOutcome>();
    let source: EventSource;
    let now: RunProgress = NOTHING;
    let drawing: ReturnType<typeof setTimeout> | undefined;
    let opening: ReturnType<typeof setTimeout> | undefined;
    const change = (it: Partial<RunProgress>) => {
      now = { ...now, broken: false, ...it };
      drawing ??= setTimeout(() => {
        drawing = undefined;
        setFollowed({ ...now, outcomes: [...outcomes.values()] });
      }, PAUSE);
    };
    const open = () => {
      source = new EventSource(`/api/v1/runs/${run}/events?project=${project}`);
      source.addEventListener("graded", (event) => {
        const it: CaseOutcome = JSON.parse(event.data);
        outcomes.set(it.place, it);
        change({});
      });
      source.addEventListener("progress", (event) => {
        const it = JSON.parse(event.data);
        change({ nUnits: it.n_units, nResults: it.n_results });
      });
      source.addEventListener("ended", () => {
        source.close();
        change({ ended: true });
      });
      source.onerror = () => {
        change({ broken: true });
        if (source.readyState === EventSource.CLOSED) opening = setTimeout(open, AGAIN);
      };
    };
    open();
    return () => {
      source.close();
      clearTimeout(drawing);
      clearTimeout(opening);
    };
  }, [project, run]);
  return followed;
}

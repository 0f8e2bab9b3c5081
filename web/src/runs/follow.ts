// A run as it goes: every result in a line, told by the server as it happens.
import { useEffect, useState } from "react";
import type { Outcome } from "./Strip";

export type Followed = {
  outcomes: Outcome[];
  nUnits: number | null;
  nResults: number;
  ended: boolean;
  /** The stream broke; the browser tries again by itself. */
  broken: boolean;
};

const NOTHING: Followed = { outcomes: [], nUnits: null, nResults: 0, ended: false, broken: false };

/** Drawing each of a thousand results by itself would take longer than grading them. */
const PAUSE = 80;

export function useFollowed(project: string, run: string): Followed {
  const [followed, setFollowed] = useState<Followed>(NOTHING);
  useEffect(() => {
    setFollowed(NOTHING);
    const source = new EventSource(`/api/v1/runs/${run}/events?project=${project}`);
    // Added to in place and copied when drawn: a copy for each result would be quadratic.
    const outcomes: Outcome[] = [];
    let now: Followed = NOTHING;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const change = (it: Partial<Followed>) => {
      now = { ...now, broken: false, ...it };
      timer ??= setTimeout(() => {
        timer = undefined;
        setFollowed({ ...now, outcomes: [...outcomes] });
      }, PAUSE);
    };
    source.addEventListener("graded", (event) => {
      outcomes.push(JSON.parse(event.data));
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
    source.onerror = () => change({ broken: true });
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [project, run]);
  return followed;
}

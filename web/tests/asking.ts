// Two runs of the suite of the demo that asks two agents in two ways, three times each: before and after a release.
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Place } from "./place";

const FILES = ["asking.yaml", "orders.jsonl", "agent.sh"];

/** Both runs are executed here and sent to the server of the place. */
export async function askTwice(place: Place) {
  for (const name of FILES) {
    const file = fileURLToPath(new URL(`../../examples/demo/${name}`, import.meta.url));
    copyFileSync(file, join(place.folder, name));
  }
  for (const release of [1, 2]) {
    writeFileSync(join(place.folder, "release"), `${release}\n`);
    const file = `release-${release}.run.json`;
    await place.jurist("eval", "asking.yaml", "--allow-commands", "--quiet", "--reporter", `json=${file}`);
    await place.jurist("runs", "push", file, "--server", place.url);
  }
}

// The command that runs one case of a suite again.
import type { Contract } from "../api/client";

/** A word of a shell command, as it is. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The suite of a case, where it is known: a row of a data file does not say it. */
function suiteOf(origin: Contract["CaseOrigin"] | null | undefined): string {
  return origin && /\.(ya?ml|json)$/i.test(origin.file) ? quoteForShell(origin.file) : "SUITE.yaml";
}

export const rerunCommand = (name: string, origin: Contract["CaseOrigin"] | null | undefined): string =>
  `jurist eval ${suiteOf(origin)} --only ${quoteForShell(name)}`;
